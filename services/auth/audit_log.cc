#include "services/auth/audit_log.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/log/quote.h"
#include "base/status/status.h"
#include "base/text/cut.h"

namespace ordo::services::auth {
namespace {

constexpr absl::Duration kLookPeriod = absl::Seconds(1);
// An error may say what is wrong of each of many fields.
constexpr size_t kMaxMessageBytes = 1024;

void AddField(const char* name, const std::string& value, std::string* line) {
  absl::StrAppend(line, ", \"", name, "\": ", base::JsonString(value));
}

// Whether a file ends in a line that has no end.
bool EndsTorn(base::Filesystem& files, const std::string& path,
              uint64_t num_bytes) {
  if (num_bytes == 0) return false;
  const auto file = files.OpenForRead(path);
  if (!file.ok()) return false;
  const auto last = (*file)->ReadAt(num_bytes - 1, 1);
  return last.ok() && *last != "\n";
}

}  // namespace

std::string AuditLine(const AuditEntry& entry, absl::Time time) {
  std::string line = absl::StrCat(
      "{\"time\": \"",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()),
      "\"");
  AddField("user", entry.user, &line);
  AddField("known_by", entry.known_by, &line);
  AddField("address", entry.address, &line);
  AddField("method", entry.method, &line);
  AddField("resource", entry.resource, &line);
  if (!entry.request_id.empty()) {
    AddField("request_id", entry.request_id, &line);
  }
  if (!entry.trace.empty()) AddField("trace", entry.trace, &line);
  AddField("result", absl::StatusCodeToString(entry.result.code()), &line);
  if (!entry.result.ok()) {
    AddField("message",
             base::Cut(std::string(entry.result.message()), kMaxMessageBytes),
             &line);
  }
  if (entry.num_left_out > 0) {
    absl::StrAppend(&line, ", \"left_out\": ", entry.num_left_out);
  }
  absl::StrAppend(&line, "}\n");
  return line;
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(
    base::Filesystem& files, const std::string& path,
    const base::Clock& clock) {
  ORDO_RETURN_IF_ERROR(base::AddContext(files.MakeFolders(base::FolderOf(path)),
                                        "make the folder of audit_log"));
  std::unique_ptr<AuditLog> log(new AuditLog(files, path, clock));
  base::MutexLock lock(log->mutex_);
  ORDO_RETURN_IF_ERROR(base::AddContext(log->OpenFile(), "open audit_log"));
  return log;
}

absl::Status AuditLog::OpenFile() {
  looked_ = clock_.Monotonic();
  file_ = nullptr;
  ORDO_ASSIGN_OR_RETURN(file_,
                        files_.OpenForWrite(path_, base::WriteMode::kAppend));
  ORDO_ASSIGN_OR_RETURN(const base::FileInfo info, files_.Stat(path_));
  num_bytes_ = info.size_bytes;
  is_torn_ = EndsTorn(files_, path_, info.size_bytes);
  return absl::OkStatus();
}

bool AuditLog::WasMoved() {
  if (file_ == nullptr) return true;
  const absl::Duration now = clock_.Monotonic();
  if (now < looked_ + kLookPeriod) return false;
  looked_ = now;
  const auto info = files_.Stat(path_);
  return !info.ok() || info->size_bytes < num_bytes_;
}

void AuditLog::Write(const AuditEntry& entry) {
  std::string line = AuditLine(entry, clock_.Now());
  base::MutexLock lock(mutex_);
  absl::Status status;
  if (WasMoved()) status = OpenFile();
  // What was torn is a line of its own, or it would take this one with it.
  if (status.ok() && is_torn_) line.insert(0, "\n");
  if (status.ok()) status = file_->Append(line);
  if (status.ok()) {
    is_torn_ = false;
    num_bytes_ += line.size();
    return;
  }
  file_ = nullptr;
  base::LogError("a line of audit_log was lost",
                 {{"error", status},
                  {"user", entry.user},
                  {"method", entry.method},
                  {"resource", entry.resource},
                  {"result", absl::StatusCodeToString(entry.result.code())}});
}

}  // namespace ordo::services::auth
