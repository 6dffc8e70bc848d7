#include "scheduler/store/archive.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "google/protobuf/util/json_util.h"
#include "scheduler/core/present.h"
#include "scheduler/store/stored.pb.h"

namespace ordo::scheduler::store {
namespace {

constexpr uint64_t kPartBytes = 1 << 16;

// Where the last whole line ends.
absl::StatusOr<uint64_t> EndOfLines(base::ReadableFile& file) {
  ORDO_ASSIGN_OR_RETURN(uint64_t end, file.Size());
  while (end > 0) {
    const uint64_t begin = end - std::min(end, kPartBytes);
    ORDO_ASSIGN_OR_RETURN(const std::string part,
                          file.ReadAt(begin, end - begin));
    const size_t line_end = part.rfind('\n');
    if (line_end != std::string::npos) return begin + line_end + 1;
    end = begin;
  }
  return 0;
}

absl::Status CutTornLine(base::Filesystem& files, const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const auto file, files.OpenForRead(path));
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  ORDO_ASSIGN_OR_RETURN(const uint64_t end, EndOfLines(*file));
  return end == size ? absl::OkStatus() : files.Truncate(path, end);
}

absl::StatusOr<std::string> LineOf(const core::PastJob& past) {
  ArchivedJob archived;
  ORDO_ASSIGN_OR_RETURN(*archived.mutable_job(), core::Present(*past.job));
  archived.set_request_id(std::string(past.job->facts->request.id()));
  for (const core::CheckpointPtr& checkpoint : past.checkpoints) {
    *archived.add_checkpoints() = *checkpoint;
  }
  for (const core::ReportPtr& report : past.reports) {
    *archived.add_reports() = *report;
  }
  std::string line;
  const auto status =
      google::protobuf::util::MessageToJsonString(archived, &line);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("job ", past.job->id(), " as JSON: ", status.ToString()));
  }
  return line + "\n";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Archive>> Archive::Open(
    base::Filesystem& files, const std::string& path) {
  const std::string attempted = absl::StrCat("open the archive ", path);
  const std::string folder = base::FolderOf(path);
  ORDO_RETURN_IF_ERROR(base::AddContext(files.MakeFolders(folder), attempted));
  if (base::Exists(files, path)) {
    ORDO_RETURN_IF_ERROR(base::AddContext(CutTornLine(files, path), attempted));
  }
  ORDO_ASSIGN_OR_RETURN(
      auto file,
      base::AddContext(files.OpenForWrite(path, base::WriteMode::kAppend),
                       attempted));
  // The name is durable before anything that counts on it.
  ORDO_RETURN_IF_ERROR(base::AddContext(files.SyncFolder(folder), attempted));
  return std::unique_ptr<Archive>(new Archive(path, std::move(file)));
}

absl::Status Archive::Append(const std::vector<core::PastJob>& jobs) {
  std::string lines;
  for (const core::PastJob& job : jobs) {
    ORDO_ASSIGN_OR_RETURN(const std::string line, LineOf(job));
    lines += line;
  }
  absl::Status status = file_->Append(lines);
  if (status.ok()) status = file_->Sync();
  return base::AddContext(status, absl::StrCat("write the archive ", path_));
}

}  // namespace ordo::scheduler::store
