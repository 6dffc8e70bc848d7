#ifndef ORDO_SCHEDULER_STORE_ARCHIVE_H_
#define ORDO_SCHEDULER_STORE_ARCHIVE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "scheduler/core/effect.h"

namespace ordo::scheduler::store {

// A file with a line of JSON, an ArchivedJob, for each job that has left a
// store. A job whose leaving was cut short may be there twice, with the same
// line. Not thread-safe.
class Archive {
 public:
  // Makes the file, with its folder, when it is missing; what a crash left of a
  // last line is cut off. `files` outlives this. Errors name the file.
  static absl::StatusOr<std::unique_ptr<Archive>> Open(base::Filesystem& files,
                                                       const std::string& path);

  // Adds a line for each; they are durable on return. After an error, open the
  // archive again.
  absl::Status Append(const std::vector<core::PastJob>& jobs);

 private:
  Archive(std::string path, std::unique_ptr<base::WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const std::unique_ptr<base::WritableFile> file_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ARCHIVE_H_
