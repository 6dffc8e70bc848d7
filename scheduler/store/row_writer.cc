#include "scheduler/store/row_writer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/digest/digest.h"
#include "base/status/status.h"
#include "scheduler/core/present.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/core/state.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/stored.pb.h"

namespace ordo::scheduler::store {
namespace {

constexpr char kPutJob[] =
    "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (sequence) DO UPDATE SET body = ?4, crc = ?5";
constexpr char kPutCheckpoint[] =
    "INSERT INTO checkpoints VALUES (?1, ?2, ?3) "
    "ON CONFLICT (name) DO UPDATE SET body = ?2, crc = ?3";
constexpr char kPutReport[] =
    "INSERT INTO reports VALUES (?1, ?2, ?3) "
    "ON CONFLICT (name) DO UPDATE SET body = ?2, crc = ?3";
constexpr char kPutOther[] =
    "INSERT INTO other VALUES (?1, ?2, ?3, ?4) "
    "ON CONFLICT (kind, key) DO UPDATE SET body = ?3, crc = ?4";

std::string BytesOf(const core::JobRecord& job) {
  StoredJob stored;
  *stored.mutable_job() = core::PresentWithoutSpec(job);
  stored.set_request_id(job.facts->request_id);
  stored.set_fingerprint(job.facts->fingerprint);
  stored.set_incarnation(job.incarnation);
  stored.set_acknowledged_records(job.acknowledged_records);
  return stored.SerializeAsString();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowWriter>> RowWriter::Make(Database& database) {
  std::unique_ptr<RowWriter> writer(new RowWriter(database));
  ORDO_RETURN_IF_ERROR(writer->Prepare());
  return writer;
}

absl::Status RowWriter::Prepare() {
  const std::pair<const char*, std::unique_ptr<Statement>*> statements[] = {
      {"SELECT id FROM specs WHERE digest = ?", &find_spec_},
      {"SELECT coalesce(max(id), 0) + 1 FROM specs", &next_spec_},
      {"INSERT INTO specs VALUES (?1, ?2, ?3, ?4)", &put_spec_},
      {kPutJob, &put_job_},
      {kPutCheckpoint, &put_checkpoint_},
      {kPutReport, &put_report_},
      {kPutOther, &put_other_},
      {"DELETE FROM other WHERE kind = ? AND key = ?", &remove_other_},
  };
  for (const auto& [sql, statement] : statements) {
    ORDO_ASSIGN_OR_RETURN(*statement, database_.Prepare(sql));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RowWriter::WriteSpec(const jobs::v1::JobSpec& spec) {
  const std::string body = core::SpecBytes(spec);
  const std::string digest = base::Sha256Hex(body);
  find_spec_->BindBlob(1, digest);
  const absl::StatusOr<bool> found = find_spec_->Step();
  const int64_t known = found.ok() && *found ? find_spec_->Int(0) : 0;
  find_spec_->Reset();
  ORDO_RETURN_IF_ERROR(found);
  if (known != 0) return known;
  const absl::StatusOr<bool> any = next_spec_->Step();
  const int64_t id = any.ok() ? next_spec_->Int(0) : 0;
  next_spec_->Reset();
  ORDO_RETURN_IF_ERROR(any);
  put_spec_->BindInt(1, id);
  put_spec_->BindBlob(2, digest);
  put_spec_->BindBlob(3, body);
  put_spec_->BindInt(4,
                     Checksum("specs").Add(id).Add(digest).Add(body).value());
  ORDO_RETURN_IF_ERROR(put_spec_->Run());
  return id;
}

absl::StatusOr<int64_t> RowWriter::SpecId(const core::SpecPtr& spec) {
  KnownSpec& known = specs_[spec.get()];
  if (known.spec.lock() == spec) return known.id;
  ORDO_ASSIGN_OR_RETURN(const int64_t id, WriteSpec(*spec));
  known = {spec, id};
  if (specs_.size() >= sweep_at_) {
    for (auto it = specs_.begin(); it != specs_.end();) {
      it = it->second.spec.expired() ? specs_.erase(it) : std::next(it);
    }
    sweep_at_ = std::max<size_t>(1024, 2 * specs_.size());
  }
  return id;
}

absl::Status RowWriter::WriteJob(const core::JobRecord& job) {
  ORDO_ASSIGN_OR_RETURN(const int64_t spec, SpecId(job.facts->spec));
  const int64_t sequence = job.facts->sequence;
  const std::string body = BytesOf(job);
  put_job_->BindInt(1, sequence);
  put_job_->BindText(2, job.id());
  put_job_->BindInt(3, spec);
  put_job_->BindBlob(4, body);
  put_job_->BindInt(
      5,
      Checksum("jobs").Add(sequence).Add(job.id()).Add(spec).Add(body).value());
  return put_job_->Run();
}

absl::Status RowWriter::WriteNamed(const Named& row, Statement& put) {
  put.BindText(1, row.name);
  put.BindBlob(2, row.body);
  put.BindInt(3, Checksum(row.table).Add(row.name).Add(row.body).value());
  return put.Run();
}

absl::Status RowWriter::WriteOther(const core::Row& row) {
  const auto kind = static_cast<int64_t>(row.kind);
  Statement& statement = row.bytes.has_value() ? *put_other_ : *remove_other_;
  statement.BindInt(1, kind);
  statement.BindText(2, row.key);
  if (row.bytes.has_value()) {
    statement.BindBlob(3, *row.bytes);
    statement.BindInt(
        4, Checksum("other").Add(kind).Add(row.key).Add(*row.bytes).value());
  }
  return statement.Run();
}

absl::Status RowWriter::Write(const core::Record& record) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return WriteJob(**job);
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return WriteNamed({"checkpoints", (*checkpoint)->name(),
                       (*checkpoint)->SerializeAsString()},
                      *put_checkpoint_);
  }
  if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    return WriteNamed(
        {"reports", (*report)->name(), (*report)->SerializeAsString()},
        *put_report_);
  }
  return WriteOther(*std::get<core::RowPtr>(record.value));
}

}  // namespace ordo::scheduler::store
