#include "scheduler/store/ended_labels.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/job.h"
#include "scheduler/store/row_decoder.h"
#include "scheduler/store/row_writer.h"

namespace ordo::scheduler::store {
namespace {

// Calls `take` with the term and the sequence of each label of each job that
// has ended.
template <typename Take>
absl::Status ForEachLabel(Database& database, Take take) {
  ORDO_ASSIGN_OR_RETURN(const auto decoder, RowDecoder::Make(database));
  ORDO_RETURN_IF_ERROR(ForEach(
      database, Select(kJobs, "WHERE end_ns <> 0"),
      [&](const Statement& row) -> absl::Status {
        ORDO_ASSIGN_OR_RETURN(const core::JobPtr job, decoder->Job(row));
        decoder->ForgetSpecs();
        if (job == nullptr) return absl::OkStatus();
        for (const std::string& term : LabelTermsOf(*job->facts)) {
          ORDO_RETURN_IF_ERROR(take(term, job->facts->sequence));
        }
        return absl::OkStatus();
      }));
  return decoder->TakeDamage();
}

absl::StatusOr<int64_t> Number(Statement& query) {
  int64_t number = 0;
  ORDO_RETURN_IF_ERROR(ForEach(query, [&number](const Statement& row) {
    number = row.Int(0);
    return absl::OkStatus();
  }));
  return number;
}

absl::Status PutLabels(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute("DELETE FROM ended_labels"));
  ORDO_ASSIGN_OR_RETURN(
      const auto put,
      database.Prepare("INSERT INTO ended_labels VALUES (?, ?)"));
  return ForEachLabel(database,
                      [&put](const std::string& label, int64_t sequence) {
                        put->BindText(1, label);
                        put->BindInt(2, sequence);
                        return put->Run();
                      });
}

}  // namespace

absl::StatusOr<Damage> FindLabelDamage(Database& database) {
  ORDO_ASSIGN_OR_RETURN(
      const auto find,
      database.Prepare("SELECT count(*) FROM ended_labels WHERE label = ? AND "
                       "sequence = ?"));
  ORDO_ASSIGN_OR_RETURN(const auto count,
                        database.Prepare("SELECT count(*) FROM ended_labels"));
  Damage damage(database.origin());
  int64_t num_right = 0;
  ORDO_RETURN_IF_ERROR(ForEachLabel(
      database,
      [&](const std::string& label, int64_t sequence) -> absl::Status {
        find->BindText(1, label);
        find->BindInt(2, sequence);
        ORDO_ASSIGN_OR_RETURN(const int64_t num_found, Number(*find));
        num_right += num_found;
        if (num_found == 1) return absl::OkStatus();
        damage.Add("ended_labels",
                   absl::StrCat("label ", label, " sequence ", sequence));
        return absl::OkStatus();
      }));
  ORDO_ASSIGN_OR_RETURN(const int64_t num_rows, Number(*count));
  if (num_rows != num_right) {
    damage.Add("ended_labels",
               absl::StrCat(num_rows - num_right, " rows that no job has"));
  }
  return damage;
}

absl::Status RebuildLabels(Database& database) {
  ORDO_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  absl::Status status = PutLabels(database);
  if (status.ok()) status = database.Execute("COMMIT");
  // The first error is the one that counts; SQLite may have rolled back itself.
  if (!status.ok()) database.Execute("ROLLBACK").IgnoreError();
  return status;
}

}  // namespace ordo::scheduler::store
