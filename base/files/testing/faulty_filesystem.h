#ifndef ORDO_BASE_FILES_TESTING_FAULTY_FILESYSTEM_H_
#define ORDO_BASE_FILES_TESTING_FAULTY_FILESYSTEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/mutex.h"

namespace ordo::base::testing {

// What a fault hits.
enum class FileOperation {
  kOpenForWrite,
  kOpenForRead,
  kAppend,
  kSync,
  kRead,
  kSyncFolder,
  kRename,
  kTruncate,
  kList,
  kRemove,
  kMakeFolders,
  kStat,
  kFreeBytes,
  kReadLink,
  kReplaceLink,
};

// A filesystem that fails on demand and otherwise passes calls on. Faults are
// reported as the real one reports them. Thread-safe; `real` must outlive it.
class FaultyFilesystem : public Filesystem {
 public:
  explicit FaultyFilesystem(Filesystem& real) : real_(real) {}

  // Every later `operation` on a path that contains `path_part` fails with
  // `error_number` (EIO, ENOSPC, ...), after `num_passed` that still pass.
  void Fail(FileOperation operation, const std::string& path_part,
            int error_number, int num_passed = 0);

  // The disk takes `num_bytes` more; what goes beyond is written up to there
  // and then fails with ENOSPC.
  void LimitDisk(uint64_t num_bytes);

  // Every later `operation` on a path that contains `path_part` begins when
  // `wait` has returned, which the thread that asks for it calls.
  void Delay(FileOperation operation, const std::string& path_part,
             std::function<void()> wait);

  // How many operations the faults above have failed so far.
  int num_failed();

  // Ends all faults and delays.
  void Heal();

  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(
      const std::string& path, WriteMode mode) override;
  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenForRead(
      const std::string& path) override;
  absl::Status SyncFolder(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Truncate(const std::string& path, uint64_t size_bytes) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& path) override;
  absl::Status RemoveFile(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::Status RemoveUnder(const std::string& root,
                           const std::string& relative) override;
  absl::Status MakeFolders(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override;
  absl::StatusOr<std::string> ReadLink(const std::string& path) override;
  absl::Status ReplaceLink(const std::string& target,
                           const std::string& path) override;

  // For the files opened through this filesystem: the fault that hits the
  // operation, or OK.
  absl::Status Check(FileOperation operation, const std::string& path);
  // How many of `num_bytes` the disk still takes; they count as taken.
  uint64_t TakeSpace(uint64_t num_bytes);

 private:
  struct Fault {
    FileOperation operation;
    std::string path_part;
    int error_number;
    int num_passed;
  };
  struct Wait {
    FileOperation operation;
    std::string path_part;
    std::function<void()> wait;
  };

  void WaitFor(FileOperation operation, const std::string& path);

  Filesystem& real_;
  Mutex mutex_;
  std::vector<Fault> faults_ ORDO_GUARDED_BY(mutex_);
  std::vector<Wait> waits_ ORDO_GUARDED_BY(mutex_);
  int num_failed_ ORDO_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> space_left_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_FILES_TESTING_FAULTY_FILESYSTEM_H_
