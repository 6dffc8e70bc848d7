#include "scheduler/store/retirement.h"

#include <algorithm>
#include <utility>

#include "base/status/status.h"
#include "scheduler/store/checksum.h"
#include "scheduler/store/meta.h"

namespace ordo::scheduler::store {

absl::StatusOr<std::unique_ptr<Retirement>> Retirement::Make(
    Database& database) {
  std::unique_ptr<Retirement> retirement(new Retirement(database));
  ORDO_RETURN_IF_ERROR(retirement->Prepare());
  return retirement;
}

absl::Status Retirement::Prepare() {
  const std::pair<const char*, std::unique_ptr<Statement>*> statements[] = {
      {"SELECT sequence, request_id, spec, state FROM jobs "
       "WHERE name = ? AND end_ns <> 0",
       &find_},
      {"INSERT INTO retired VALUES (?, ?, ?, ?)", &note_},
      {"DELETE FROM ended_labels WHERE sequence = ?", &remove_labels_},
      {"DELETE FROM checkpoints WHERE job = ?", &remove_checkpoints_},
      {"DELETE FROM reports WHERE job = ?", &remove_reports_},
      {"DELETE FROM jobs WHERE sequence = ?", &remove_job_},
      {"DELETE FROM specs WHERE id = ?1 AND NOT EXISTS "
       "(SELECT 1 FROM jobs WHERE spec = ?1)",
       &remove_spec_},
  };
  for (const auto& [sql, statement] : statements) {
    ORDO_ASSIGN_OR_RETURN(*statement, database_.Prepare(sql));
  }
  return absl::OkStatus();
}

absl::Status Retirement::RemoveOne(const std::string& job,
                                   std::set<int64_t>* specs,
                                   int64_t* last_sequence) {
  find_->BindText(1, job);
  const absl::StatusOr<bool> found = find_->Step();
  if (!found.ok() || !*found) {
    find_->Reset();
    return found.status();
  }
  const int64_t sequence = find_->Int(0);
  const std::string request_id = find_->Bytes(1);
  specs->insert(find_->Int(2));
  const int64_t state = find_->Int(3);
  find_->Reset();
  note_->BindText(1, job);
  note_->BindText(2, request_id);
  note_->BindInt(3, state);
  note_->BindInt(
      4, Checksum("retired").Add(job).Add(request_id).Add(state).value());
  ORDO_RETURN_IF_ERROR(note_->Run());
  *last_sequence = std::max(*last_sequence, sequence);
  remove_labels_->BindInt(1, sequence);
  ORDO_RETURN_IF_ERROR(remove_labels_->Run());
  remove_checkpoints_->BindText(1, job);
  ORDO_RETURN_IF_ERROR(remove_checkpoints_->Run());
  remove_reports_->BindText(1, job);
  ORDO_RETURN_IF_ERROR(remove_reports_->Run());
  remove_job_->BindInt(1, sequence);
  return remove_job_->Run();
}

absl::Status Retirement::Remove(const std::vector<std::string>& jobs) {
  std::set<int64_t> specs;
  ORDO_ASSIGN_OR_RETURN(int64_t last_sequence,
                        ReadMeta(database_, kLastSequenceKey));
  for (const std::string& job : jobs) {
    ORDO_RETURN_IF_ERROR(RemoveOne(job, &specs, &last_sequence));
  }
  ORDO_RETURN_IF_ERROR(WriteMeta(database_, kLastSequenceKey, last_sequence));
  for (const int64_t spec : specs) {
    remove_spec_->BindInt(1, spec);
    ORDO_RETURN_IF_ERROR(remove_spec_->Run());
  }
  return absl::OkStatus();
}

}  // namespace ordo::scheduler::store
