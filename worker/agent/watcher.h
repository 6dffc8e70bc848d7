#ifndef ORDO_WORKER_AGENT_WATCHER_H_
#define ORDO_WORKER_AGENT_WATCHER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace ordo::worker::agent {

// Tells at once when files of this machine change (inotify(7)). Changes that
// another machine makes to shared storage are not seen. Not thread-safe.
class Watcher {
 public:
  static absl::StatusOr<std::unique_ptr<Watcher>> Create();
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Ready to read when something has changed.
  int file() const { return file_; }

  // Entries that appear in a folder; writes to a file. The result names the
  // watch; NOT_FOUND when there is nothing at `path`. Watching the same thing
  // again gives the same name.
  absl::StatusOr<int> WatchFolder(const std::string& path);
  absl::StatusOr<int> WatchFile(const std::string& path);
  // Ends a watch, if it is not over already because its file is gone.
  void Unwatch(int watch);

  // The watches with changes since the last call; does not wait. When the
  // kernel had to drop some, `lost_some` is set: look at everything.
  std::set<int> Take(bool* lost_some);

 private:
  explicit Watcher(int file) : file_(file) {}
  absl::StatusOr<int> Watch(const std::string& path, uint32_t events);

  const int file_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_WATCHER_H_
