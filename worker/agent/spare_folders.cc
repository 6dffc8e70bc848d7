#include "worker/agent/spare_folders.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::worker::agent {

SpareFolders::SpareFolders(base::Filesystem& files, std::string folder,
                           size_t limit)
    : files_(files), folder_(std::move(folder)), limit_(limit) {
  // Without it the folders of tasks are made and removed.
  files_.RemoveTree(folder_).IgnoreError();
}

absl::Status SpareFolders::Make(const std::string& path) {
  if (!spares_.empty()) {
    const std::string spare = std::move(spares_.back());
    spares_.pop_back();
    if (files_.Rename(spare, path).ok()) return absl::OkStatus();
    files_.RemoveTree(spare).IgnoreError();
  }
  return files_.MakeFolders(path);
}

absl::Status SpareFolders::Keep(const std::string& path) {
  if (num_kept_ == 0) ORDO_RETURN_IF_ERROR(files_.MakeFolders(folder_));
  const std::string spare = absl::StrCat(folder_, "/", num_kept_);
  // First of all, so that tasks' folders are whole or not there.
  ORDO_RETURN_IF_ERROR(files_.Rename(path, spare));
  ++num_kept_;
  const absl::Status emptied = Empty(spare);
  if (!emptied.ok()) return files_.RemoveTree(spare);
  spares_.push_back(spare);
  return absl::OkStatus();
}

absl::Status SpareFolders::Empty(const std::string& spare) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        files_.List(spare));
  for (const std::string& name : names) {
    const std::string path = base::JoinPath(spare, name);
    if (base::IsAside(name)) {
      // No task would use it, nor take it away.
      ORDO_RETURN_IF_ERROR(files_.RemoveFile(path));
      continue;
    }
    // Opened for it: what is written to a file that was truncated goes to the
    // disk at its next close (ext4), which is this one.
    ORDO_ASSIGN_OR_RETURN(
        auto file, files_.OpenForWrite(path, base::WriteMode::kTruncate));
    ORDO_RETURN_IF_ERROR(file->Close());
  }
  return absl::OkStatus();
}

absl::Status SpareFolders::Remove(const std::string& path) {
  if (spares_.size() < limit_ && Keep(path).ok()) return absl::OkStatus();
  return files_.RemoveTree(path);
}

}  // namespace ordo::worker::agent
