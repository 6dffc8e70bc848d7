#include "model/evaluation/taken_report.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "google/protobuf/repeated_field.h"
#include "model/catalog/result_key.h"
#include "model/training/durable_folder.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using Json = nlohmann::ordered_json;
using ordo::training::v1::FileInfo;
using ordo::training::v1::ReportWritten;

constexpr size_t kMaxResultBytes = 64 << 20;
constexpr size_t kCopyBytes = 1 << 20;

// The files of a report, in the order of their names.
absl::StatusOr<google::protobuf::RepeatedPtrField<FileInfo>> FilesOf(
    base::Filesystem& files, const TakenFrom& from) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        files.List(from.folder));
  google::protobuf::RepeatedPtrField<FileInfo> infos;
  for (const std::string& name : names) {
    ORDO_ASSIGN_OR_RETURN(*infos.Add(),
                          training::InfoOfFile(files, from.folder, name));
  }
  if (catalog::FilesDigest(infos) == from.files_sha256) return infos;
  return training::DamagedFile(from.folder,
                               "its files are not what was registered");
}

// Copies a file, durable, and says what it is.
absl::StatusOr<FileInfo> Copy(base::Filesystem& files, const std::string& from,
                              const std::string& to, const FileInfo& file) {
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<base::ReadableFile> source,
                        files.OpenForRead(base::JoinPath(from, file.path())));
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<base::WritableFile> copy,
                        files.OpenForWrite(base::JoinPath(to, file.path()),
                                           base::WriteMode::kCreateNew));
  uint64_t offset = 0;
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::string bytes,
                          source->ReadAt(offset, kCopyBytes));
    if (bytes.empty()) break;
    ORDO_RETURN_IF_ERROR(copy->Append(bytes));
    offset += bytes.size();
  }
  ORDO_RETURN_IF_ERROR(copy->Sync());
  ORDO_RETURN_IF_ERROR(copy->Close());
  ORDO_ASSIGN_OR_RETURN(FileInfo written,
                        training::InfoOfFile(files, to, file.path()));
  if (written.sha256() == file.sha256()) return written;
  return training::DamagedFile(base::JoinPath(from, file.path()),
                               "it has changed meanwhile");
}

absl::StatusOr<Json> ReadResult(base::Filesystem& files,
                                const TakenFrom& from) {
  const std::string path = base::JoinPath(from.folder, kResultFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxResultBytes));
  Json result = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (result.is_object()) return result;
  return training::DamagedFile(path, "it is not JSON");
}

// That of the result, which is 0 where an older trainer wrote it.
void TakeVersion(const Json& result, ReportWritten* report) {
  const auto version = result.find("task_version");
  const bool is_known = version != result.end() && version->is_number_integer();
  report->set_task_version(is_known ? version->get<int32_t>() : 0);
}

// A score that is not finite is written as null.
void TakeMetrics(const Json& result, ReportWritten* report) {
  const auto metrics = result.find("metrics");
  if (metrics == result.end() || !metrics->is_object()) return;
  for (const auto& [name, value] : metrics->items()) {
    (*report->mutable_metrics())[name] =
        value.is_number() ? value.get<double>()
                          : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

absl::StatusOr<ReportWritten> TakeReport(base::Filesystem& files,
                                         const std::string& job_folder,
                                         const ReportSubject& subject,
                                         const TakenFrom& from) {
  ORDO_ASSIGN_OR_RETURN(const auto infos, FilesOf(files, from));
  ORDO_ASSIGN_OR_RETURN(Json result, ReadResult(files, from));
  ReportWritten report = BeginReport(subject);
  report.set_taken_from(from.report);
  TakeVersion(result, &report);
  TakeMetrics(result, &report);
  result["name"] = subject.evaluation.name();
  result["job"] = subject.job;
  result["attempt"] = subject.attempt;
  result["step"] = subject.step;
  result["checkpoint"] = subject.checkpoint;
  result["taken_from"] = from.report;
  const auto fill = [&](const std::string& aside) -> absl::Status {
    for (const FileInfo& file : infos) {
      if (file.path() == kResultFile) {
        ORDO_ASSIGN_OR_RETURN(
            *report.add_files(),
            training::WriteNamed(files, aside,
                                 {kResultFile, result.dump(2) + "\n"}));
      } else {
        ORDO_ASSIGN_OR_RETURN(*report.add_files(),
                              Copy(files, from.folder, aside, file));
      }
    }
    return absl::OkStatus();
  };
  ORDO_RETURN_IF_ERROR(base::AddContext(
      training::WriteAside(files, base::JoinPath(job_folder, report.folder()),
                           fill),
      absl::StrCat("take over ", from.report)));
  return report;
}

}  // namespace ordo::model::evaluation
