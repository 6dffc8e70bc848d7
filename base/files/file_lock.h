#ifndef ORDO_BASE_FILES_FILE_LOCK_H_
#define ORDO_BASE_FILES_FILE_LOCK_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::base {

// An exclusive lock on a file, held until destroyed or until the process dies,
// however it dies.
class FileLock {
 public:
  // Makes the file when it is missing; it stays. FAILED_PRECONDITION when
  // another holder has it. UNIMPLEMENTED: the storage has no locks.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(
      const std::string& path);
  // The same, but while another holder has it looks again, some times a second,
  // and calls `keep_waiting` before, whose error ends the waiting and is passed
  // on.
  static absl::StatusOr<std::unique_ptr<FileLock>> WaitFor(
      const std::string& path,
      const std::function<absl::Status()>& keep_waiting);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  const int fd_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_FILES_FILE_LOCK_H_
