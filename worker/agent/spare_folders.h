#ifndef ORDO_WORKER_AGENT_SPARE_FOLDERS_H_
#define ORDO_WORKER_AGENT_SPARE_FOLDERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/files/files.h"

namespace ordo::worker::agent {

// Folders of tasks that are over, their files emptied, for the tasks that come:
// renamed to and fro, they take no new inode, which costs some filesystems more
// than all else that a short task does (ext4 without a journal looks at all
// that were deleted in the last minute). Not thread-safe.
class SpareFolders {
 public:
  // Keeps up to `limit` of them in `folder`, on the filesystem of the tasks.
  // What an earlier process left there is removed.
  SpareFolders(base::Filesystem& files, std::string folder, size_t limit);

  // Makes the folder `path`, and its missing parents. Files that it holds are
  // empty: a task that begins takes one for one that is not there.
  absl::Status Make(const std::string& path);
  // Takes `path` away, with all in it; OK when there is none.
  absl::Status Remove(const std::string& path);

 private:
  absl::Status Keep(const std::string& path);
  absl::Status Empty(const std::string& spare);

  base::Filesystem& files_;
  const std::string folder_;
  const size_t limit_;
  std::vector<std::string> spares_;
  size_t num_kept_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_SPARE_FOLDERS_H_
