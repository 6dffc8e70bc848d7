#include "scheduler/store/row_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/status.h"
#include "base/text/proto_bytes.h"
#include "google/protobuf/util/time_util.h"
#include "scheduler/core/present.h"
#include "scheduler/core/state.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/row_decoder.h"
#include "scheduler/store/stored.pb.h"

namespace ordo::scheduler::store {
namespace {

using google::protobuf::util::TimeUtil;

// So many whole specs, which others may have let go, are held on to.
constexpr size_t kMaxRecentSpecs = 256;

constexpr char kPutSpec[] =
    "INSERT INTO specs VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (id) DO UPDATE SET body = ?3, crc = ?4";
constexpr char kPutJob[] =
    "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
    "ON CONFLICT (sequence) DO UPDATE "
    "SET state = ?7, end_ns = ?8, body = ?9, crc = ?10";
constexpr char kPutLabel[] =
    "INSERT INTO ended_labels VALUES (?, ?) ON CONFLICT DO NOTHING";
constexpr char kPutCheckpoint[] =
    "INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
    "ON CONFLICT (name) DO UPDATE "
    "SET create_ns = ?3, deleted = ?4, body = ?5, crc = ?6";
constexpr char kPutReport[] =
    "INSERT INTO reports VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (name) DO UPDATE SET create_ns = ?3, body = ?4, crc = ?5";
constexpr char kPutOther[] =
    "INSERT INTO other VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (kind, key) DO UPDATE SET body = ?3, crc = ?4";

// Binds the values of a row in the order of its columns, and its checksum.
class RowBinder {
 public:
  RowBinder(std::string_view table, Statement& put)
      : put_(put), checksum_(table) {}

  void Int(int64_t value) {
    put_.BindInt(++parameter_, value);
    checksum_.Add(value);
  }
  void Text(std::string_view value) {
    put_.BindText(++parameter_, value);
    checksum_.Add(value);
  }
  void Blob(std::string_view value) {
    put_.BindBlob(++parameter_, value);
    checksum_.Add(value);
  }
  absl::Status Run() {
    put_.BindInt(++parameter_, checksum_.value());
    return put_.Run();
  }

 private:
  Statement& put_;
  Checksum checksum_;
  int parameter_ = 0;
};

// The job of jobs/{job}/checkpoints/{checkpoint} and the like.
std::string_view JobOf(std::string_view name) {
  name.remove_prefix(std::min(name.find('/') + 1, name.size()));
  return name.substr(0, name.find('/'));
}

std::string BytesOf(const core::JobRecord& job) {
  StoredJob stored;
  *stored.mutable_job() = core::PresentWithoutSpec(job);
  stored.set_fingerprint(job.facts->request.fingerprint());
  stored.set_incarnation(job.incarnation.value());
  stored.set_acknowledged_records(job.acknowledged_records);
  return stored.SerializeAsString();
}

}  // namespace

std::string LabelTerm(const std::string& key, const std::string& value) {
  return absl::StrCat(key, "=", value);
}

std::vector<std::string> LabelTermsOf(const core::JobFacts& job) {
  std::vector<std::string> terms;
  for (const auto& [key, value] : job.spec->labels()) {
    terms.push_back(LabelTerm(key, value));
  }
  if (!job.parent.empty()) {
    terms.push_back(LabelTerm(core::kParentLabel, job.parent.value()));
  }
  return terms;
}

absl::StatusOr<std::unique_ptr<RowWriter>> RowWriter::Make(
    Database& database, std::shared_ptr<StoredSpecs> specs) {
  std::unique_ptr<RowWriter> writer(new RowWriter(database, std::move(specs)));
  ORDO_RETURN_IF_ERROR(writer->Prepare());
  return writer;
}

absl::Status RowWriter::Prepare() {
  const std::string find_spec = Select(kSpecs, "WHERE digest = ?");
  const std::pair<const char*, std::unique_ptr<Statement>*> statements[] = {
      {find_spec.c_str(), &find_spec_},
      {kPutSpec, &put_spec_},
      {kPutJob, &put_job_},
      {kPutLabel, &put_label_},
      {kPutCheckpoint, &put_checkpoint_},
      {kPutReport, &put_report_},
      {kPutOther, &put_other_},
      {"DELETE FROM other WHERE kind = ? AND key = ?", &remove_other_},
  };
  for (const auto& [sql, statement] : statements) {
    ORDO_ASSIGN_OR_RETURN(*statement, database_.Prepare(sql));
  }
  return ForEach(database_, "SELECT coalesce(max(id), 0) FROM specs",
                 [this](const Statement& row) {
                   last_spec_id_ = row.Int(0);
                   return absl::OkStatus();
                 });
}

absl::StatusOr<int64_t> RowWriter::WriteSpec(const jobs::v1::JobSpec& spec) {
  const std::string body = base::DeterministicBytes(spec);
  const std::string digest = base::Sha256Hex(body);
  find_spec_->BindBlob(1, digest);
  const absl::StatusOr<bool> found = find_spec_->Step();
  const bool is_known = found.ok() && *found;
  int64_t id = is_known ? find_spec_->Int(0) : 0;
  const bool is_whole = is_known && ChecksumIsRight(kSpecs, *find_spec_) &&
                        find_spec_->View(2) == body;
  find_spec_->Reset();
  ORDO_RETURN_IF_ERROR(found);
  if (is_whole) return id;
  // One that is damaged is written again: its digest says what it was.
  if (!is_known) id = ++last_spec_id_;
  RowBinder row("specs", *put_spec_);
  row.Int(id);
  row.Blob(digest);
  row.Blob(body);
  ORDO_RETURN_IF_ERROR(row.Run());
  return id;
}

absl::StatusOr<int64_t> RowWriter::SpecId(const core::SpecHandlePtr& handle) {
  if (const auto id = handle->IdIn(source_.get())) return *id;
  ORDO_ASSIGN_OR_RETURN(const core::SpecPtr spec, handle->Get());
  const auto recent = recent_.find(spec);
  int64_t id = recent == recent_.end() ? 0 : recent->second;
  if (recent == recent_.end()) {
    ORDO_ASSIGN_OR_RETURN(id, WriteSpec(*spec));
    if (recent_.size() >= kMaxRecentSpecs) recent_.clear();
    recent_[spec] = id;
  }
  const bool is_noted = !written_.empty() && written_.back().handle == handle;
  if (source_ != nullptr && !is_noted) written_.push_back({handle, spec, id});
  return id;
}

void RowWriter::NoteCommitted() {
  for (WrittenSpec& written : written_) {
    written.handle->NoteStored(written.id, source_);
    source_->Remember(written.id, std::move(written.spec));
  }
  written_.clear();
}

void RowWriter::Forget() {
  recent_.clear();
  written_.clear();
}

absl::Status RowWriter::WriteLabels(const core::JobRecord& job) {
  for (const std::string& term : LabelTermsOf(*job.facts)) {
    put_label_->BindText(1, term);
    put_label_->BindInt(2, job.facts->sequence);
    ORDO_RETURN_IF_ERROR(put_label_->Run());
  }
  return absl::OkStatus();
}

absl::Status RowWriter::WriteJob(const core::JobRecord& job) {
  ORDO_ASSIGN_OR_RETURN(const int64_t spec, SpecId(job.facts->spec));
  RowBinder row("jobs", *put_job_);
  row.Int(job.facts->sequence);
  row.Text(job.id());
  row.Text(job.facts->request.id());
  row.Int(spec);
  row.Text(job.facts->user);
  row.Text(job.facts->spec->queue());
  row.Int(job.state);
  row.Int(job.end_ns);
  row.Blob(BytesOf(job));
  ORDO_RETURN_IF_ERROR(row.Run());
  return job.end_ns == 0 ? absl::OkStatus() : WriteLabels(job);
}

absl::Status RowWriter::WriteCheckpoint(
    const checkpoints::v1::Checkpoint& checkpoint) {
  RowBinder row("checkpoints", *put_checkpoint_);
  row.Text(checkpoint.name());
  row.Text(JobOf(checkpoint.name()));
  row.Int(TimeUtil::TimestampToNanoseconds(checkpoint.create_time()));
  row.Int(checkpoint.state() == checkpoints::v1::Checkpoint::DELETED);
  row.Blob(checkpoint.SerializeAsString());
  return row.Run();
}

absl::Status RowWriter::WriteReport(const reports::v1::Report& report) {
  RowBinder row("reports", *put_report_);
  row.Text(report.name());
  row.Text(JobOf(report.name()));
  row.Int(TimeUtil::TimestampToNanoseconds(report.create_time()));
  row.Blob(report.SerializeAsString());
  return row.Run();
}

absl::Status RowWriter::WriteOther(const core::Row& row) {
  if (!row.bytes.has_value()) {
    remove_other_->BindInt(1, static_cast<int64_t>(row.kind));
    remove_other_->BindText(2, row.key);
    return remove_other_->Run();
  }
  RowBinder put("other", *put_other_);
  put.Int(static_cast<int64_t>(row.kind));
  put.Text(row.key);
  put.Blob(*row.bytes);
  return put.Run();
}

absl::Status RowWriter::Write(const core::Record& record) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return WriteJob(**job);
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return WriteCheckpoint(**checkpoint);
  }
  if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    return WriteReport(**report);
  }
  return WriteOther(*std::get<core::RowPtr>(record.value));
}

}  // namespace ordo::scheduler::store
