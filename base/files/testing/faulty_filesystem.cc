#include "base/files/testing/faulty_filesystem.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/status/status.h"

namespace ordo::base::testing {
namespace {

class FaultyWritableFile : public WritableFile {
 public:
  FaultyWritableFile(FaultyFilesystem& files, std::string path,
                     std::unique_ptr<WritableFile> real)
      : files_(files), path_(std::move(path)), real_(std::move(real)) {}

  absl::Status Append(std::string_view data) override {
    ORDO_RETURN_IF_ERROR(files_.Check(FileOperation::kAppend, path_));
    const uint64_t space = files_.TakeSpace(data.size());
    ORDO_RETURN_IF_ERROR(real_->Append(data.substr(0, space)));
    if (space < data.size()) return SystemError(ENOSPC, "write " + path_);
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    ORDO_RETURN_IF_ERROR(files_.Check(FileOperation::kSync, path_));
    return real_->Sync();
  }

  absl::Status Close() override { return real_->Close(); }

 private:
  FaultyFilesystem& files_;
  const std::string path_;
  std::unique_ptr<WritableFile> real_;
};

class FaultyReadableFile : public ReadableFile {
 public:
  FaultyReadableFile(FaultyFilesystem& files, std::string path,
                     std::unique_ptr<ReadableFile> real)
      : files_(files), path_(std::move(path)), real_(std::move(real)) {}

  absl::StatusOr<std::string> ReadAt(uint64_t offset,
                                     size_t num_bytes) override {
    ORDO_RETURN_IF_ERROR(files_.Check(FileOperation::kRead, path_));
    return real_->ReadAt(offset, num_bytes);
  }

  absl::StatusOr<uint64_t> Size() override { return real_->Size(); }
  absl::StatusOr<std::string> RealPath() override { return real_->RealPath(); }

 private:
  FaultyFilesystem& files_;
  const std::string path_;
  std::unique_ptr<ReadableFile> real_;
};

}  // namespace

void FaultyFilesystem::Fail(FileOperation operation,
                            const std::string& path_part, int error_number,
                            int num_passed) {
  MutexLock lock(mutex_);
  faults_.push_back({operation, path_part, error_number, num_passed});
}

void FaultyFilesystem::Delay(FileOperation operation,
                             const std::string& path_part,
                             std::function<void()> wait) {
  MutexLock lock(mutex_);
  waits_.push_back({operation, path_part, std::move(wait)});
}

void FaultyFilesystem::WaitFor(FileOperation operation,
                               const std::string& path) {
  std::vector<Wait> waits;
  {
    MutexLock lock(mutex_);
    waits = waits_;
  }
  for (const Wait& each : waits) {
    if (each.operation != operation) continue;
    if (path.find(each.path_part) != std::string::npos) each.wait();
  }
}

void FaultyFilesystem::LimitDisk(uint64_t num_bytes) {
  MutexLock lock(mutex_);
  space_left_ = num_bytes;
}

int FaultyFilesystem::num_failed() {
  MutexLock lock(mutex_);
  return num_failed_;
}

void FaultyFilesystem::Heal() {
  MutexLock lock(mutex_);
  faults_.clear();
  waits_.clear();
  space_left_.reset();
}

absl::Status FaultyFilesystem::Check(FileOperation operation,
                                     const std::string& path) {
  WaitFor(operation, path);
  MutexLock lock(mutex_);
  for (Fault& fault : faults_) {
    if (fault.operation != operation) continue;
    if (path.find(fault.path_part) == std::string::npos) continue;
    if (fault.num_passed-- > 0) continue;
    fault.num_passed = 0;
    ++num_failed_;
    return SystemError(fault.error_number, "fault on " + path);
  }
  return absl::OkStatus();
}

uint64_t FaultyFilesystem::TakeSpace(uint64_t num_bytes) {
  MutexLock lock(mutex_);
  if (!space_left_) return num_bytes;
  const uint64_t taken = std::min(num_bytes, *space_left_);
  *space_left_ -= taken;
  return taken;
}

absl::StatusOr<std::unique_ptr<WritableFile>> FaultyFilesystem::OpenForWrite(
    const std::string& path, WriteMode mode) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kOpenForWrite, path));
  ORDO_ASSIGN_OR_RETURN(auto file, real_.OpenForWrite(path, mode));
  return std::make_unique<FaultyWritableFile>(*this, path, std::move(file));
}

absl::StatusOr<std::unique_ptr<ReadableFile>> FaultyFilesystem::OpenForRead(
    const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kOpenForRead, path));
  ORDO_ASSIGN_OR_RETURN(auto file, real_.OpenForRead(path));
  return std::make_unique<FaultyReadableFile>(*this, path, std::move(file));
}

absl::Status FaultyFilesystem::SyncFolder(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kSyncFolder, path));
  return real_.SyncFolder(path);
}

absl::Status FaultyFilesystem::Rename(const std::string& from,
                                      const std::string& to) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kRename, to));
  return real_.Rename(from, to);
}

absl::Status FaultyFilesystem::Truncate(const std::string& path,
                                        uint64_t size_bytes) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kTruncate, path));
  return real_.Truncate(path, size_bytes);
}

absl::StatusOr<std::vector<std::string>> FaultyFilesystem::List(
    const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kList, path));
  return real_.List(path);
}

absl::Status FaultyFilesystem::RemoveFile(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kRemove, path));
  return real_.RemoveFile(path);
}

absl::Status FaultyFilesystem::RemoveTree(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kRemove, path));
  return real_.RemoveTree(path);
}

absl::Status FaultyFilesystem::RemoveUnder(const std::string& root,
                                           const std::string& relative) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kRemove, root + "/" + relative));
  return real_.RemoveUnder(root, relative);
}

absl::Status FaultyFilesystem::MakeFolders(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kMakeFolders, path));
  return real_.MakeFolders(path);
}

absl::StatusOr<FileInfo> FaultyFilesystem::Stat(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kStat, path));
  return real_.Stat(path);
}

absl::StatusOr<uint64_t> FaultyFilesystem::FreeBytes(const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kFreeBytes, path));
  MutexLock lock(mutex_);
  if (space_left_) return *space_left_;
  return real_.FreeBytes(path);
}

absl::StatusOr<std::string> FaultyFilesystem::ReadLink(
    const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kReadLink, path));
  return real_.ReadLink(path);
}

absl::Status FaultyFilesystem::ReplaceLink(const std::string& target,
                                           const std::string& path) {
  ORDO_RETURN_IF_ERROR(Check(FileOperation::kReplaceLink, path));
  return real_.ReplaceLink(target, path);
}

}  // namespace ordo::base::testing
