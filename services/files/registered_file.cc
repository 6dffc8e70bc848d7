#include "services/files/registered_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"

namespace ordo::services::files {

bool LiesUnder(const std::string& root, base::ReadableFile& file) {
  std::error_code error;
  const std::filesystem::path real_root =
      std::filesystem::canonical(root, error);
  const absl::StatusOr<std::string> path = file.RealPath();
  if (error || !path.ok()) return false;
  const std::filesystem::path real = *path;
  return std::mismatch(real_root.begin(), real_root.end(), real.begin(),
                       real.end())
             .first == real_root.end();
}

absl::StatusOr<training::v1::FileInfo> FindFile(
    const google::protobuf::RepeatedPtrField<training::v1::FileInfo>& files,
    std::string_view path) {
  if (path.empty()) {
    return base::InvalidField("path", "required; a path of the field files");
  }
  std::vector<std::string> paths;
  for (const training::v1::FileInfo& file : files) {
    if (file.path() == path) return file;
    paths.push_back(file.path());
  }
  constexpr size_t kMaxShown = 200;
  return absl::NotFoundError(
      absl::StrCat("there is no file '", std::string(path.substr(0, kMaxShown)),
                   "'", base::SuggestName(path, paths)));
}

absl::StatusOr<std::unique_ptr<RegisteredFileReader>>
RegisteredFileReader::Make(const Storage& storage, std::string_view folder,
                           const training::v1::FileInfo& info, int64_t offset) {
  if (offset < 0) {
    return base::InvalidField("offset",
                              absl::StrCat("must be >= 0, is ", offset));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string below,
                        base::JoinUnder(storage.root, folder));
  ORDO_ASSIGN_OR_RETURN(const std::string path,
                        base::JoinUnder(below, info.path()));
  return std::unique_ptr<RegisteredFileReader>(
      new RegisteredFileReader(storage, path, info, offset));
}

absl::Status RegisteredFileReader::Open() {
  auto opened = storage_.files.OpenForRead(path_);
  if (absl::IsNotFound(opened.status())) {
    return absl::DataLossError(absl::StrCat(
        path_, " was registered and is not there; restore it, or use another"));
  }
  ORDO_RETURN_IF_ERROR(opened);
  if (!LiesUnder(storage_.root, **opened)) {
    return absl::DataLossError(absl::StrCat(
        path_, " leads out of the storage root; it is not served"));
  }
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
  if (info_.size_bytes() == kUnknownSize) info_.set_size_bytes(size);
  if (static_cast<int64_t>(size) != info_.size_bytes()) {
    return absl::DataLossError(
        absl::StrCat(path_, " has ", size, " bytes and was registered with ",
                     info_.size_bytes(), "; use another"));
  }
  if (offset_ > info_.size_bytes()) {
    return absl::OutOfRangeError(absl::StrCat(
        "offset: ", offset_, " is beyond the ", size, " bytes of the file"));
  }
  file_ = *std::move(opened);
  return absl::OkStatus();
}

absl::StatusOr<StreamStep> RegisteredFileReader::Next(FilePart* part) {
  const bool first = file_ == nullptr;
  if (first) {
    ORDO_RETURN_IF_ERROR(Open());
    part->size_bytes = info_.size_bytes();
    part->sha256 = info_.sha256();
  }
  const int64_t left = info_.size_bytes() - offset_;
  if (left == 0 && !first) return StreamStep::kEnd;
  const size_t num_bytes = static_cast<size_t>(
      std::min<int64_t>(left, static_cast<int64_t>(kMaxPartBytes)));
  ORDO_ASSIGN_OR_RETURN(part->data, file_->ReadAt(offset_, num_bytes));
  if (part->data.size() != num_bytes) {
    return absl::DataLossError(
        absl::StrCat(path_, " became shorter while it was read"));
  }
  part->offset = offset_;
  offset_ += static_cast<int64_t>(num_bytes);
  return StreamStep::kSend;
}

}  // namespace ordo::services::files
