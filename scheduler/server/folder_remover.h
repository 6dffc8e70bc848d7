#ifndef ORDO_SCHEDULER_SERVER_FOLDER_REMOVER_H_
#define ORDO_SCHEDULER_SERVER_FOLDER_REMOVER_H_

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/files/files.h"
#include "base/mutex.h"

namespace ordo::scheduler::server {

// Removes folders and files on a thread of its own, since a checkpoint of many
// gigabytes takes a while. What is not removed when the process ends is removed
// at its next start. Thread-safe.
class FolderRemover {
 public:
  // `files` outlives this. Paths are below `root`, where no link is followed:
  // trainers write there. `on_error` is told what could not be removed, on the
  // remover's thread.
  FolderRemover(base::Filesystem& files, std::string root,
                std::function<void(const absl::Status&)> on_error);
  // Ends after the folder at hand; those still queued stay.
  ~FolderRemover();
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;

  // A folder that is not there is fine.
  void Remove(std::string path);
  // Asks `next` for paths to remove, which may be none yet, on the
  // remover's thread and while nothing else is to be removed, until it has no
  // more and gives nothing. Called once at most.
  using NextPaths = std::function<std::optional<std::vector<std::string>>()>;
  void Sweep(NextPaths next);
  // Returns when all that was asked for before is done.
  void Wait();

 private:
  void Run();

  base::Filesystem& files_;
  const std::string root_;
  const std::function<void(const absl::Status&)> on_error_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::string> queue_ ORDO_GUARDED_BY(mutex_);
  // Null: there is no sweep, or it has ended.
  NextPaths next_ ORDO_GUARDED_BY(mutex_);
  bool busy_ ORDO_GUARDED_BY(mutex_) = false;
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_FOLDER_REMOVER_H_
