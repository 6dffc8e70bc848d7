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
// has ended, and `skip` with the sequence of each job that cannot be read;
// where its row is damaged, nothing says whether it has ended.
template <typename Take, typename Skip>
absl::Status ForEachLabel(Database& database, Take take, Skip skip) {
  ORDO_ASSIGN_OR_RETURN(const auto decoder, RowDecoder::Make(database));
  return ForEach(
      database, Select(kJobs, ""), [&](const Statement& row) -> absl::Status {
        const int64_t sequence = row.Int(0);
        if (!ChecksumIsRight(kJobs, row)) return skip(sequence);
        const bool has_ended = row.Int(7) != 0;
        if (!has_ended) return absl::OkStatus();
        ORDO_ASSIGN_OR_RETURN(const core::JobPtr job, decoder->Job(row));
        decoder->ForgetSpecs();
        if (job == nullptr) return skip(sequence);
        for (const std::string& term : LabelTermsOf(*job->facts)) {
          ORDO_RETURN_IF_ERROR(take(term, sequence));
        }
        return absl::OkStatus();
      });
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
  return ForEachLabel(
      database,
      [&put](const std::string& label, int64_t sequence) {
        put->BindText(1, label);
        put->BindInt(2, sequence);
        return put->Run();
      },
      [](int64_t) { return absl::OkStatus(); });
}

}  // namespace

absl::StatusOr<LabelCheck> CheckLabels(Database& database) {
  ORDO_ASSIGN_OR_RETURN(
      const auto find,
      database.Prepare("SELECT count(*) FROM ended_labels WHERE label = ? AND "
                       "sequence = ?"));
  ORDO_ASSIGN_OR_RETURN(
      const auto count_of,
      database.Prepare("SELECT count(*) FROM ended_labels WHERE sequence = ?"));
  ORDO_ASSIGN_OR_RETURN(const auto count,
                        database.Prepare("SELECT count(*) FROM ended_labels"));
  LabelCheck check{Damage(database.origin()), {}, 0};
  int64_t num_right = 0;
  ORDO_RETURN_IF_ERROR(ForEachLabel(
      database,
      [&](const std::string& label, int64_t sequence) -> absl::Status {
        find->BindText(1, label);
        find->BindInt(2, sequence);
        ORDO_ASSIGN_OR_RETURN(const int64_t num_found, Number(*find));
        num_right += num_found;
        if (num_found == 1) return absl::OkStatus();
        check.damage.Add("ended_labels",
                         absl::StrCat("label ", label, " sequence ", sequence));
        return absl::OkStatus();
      },
      [&](int64_t sequence) -> absl::Status {
        count_of->BindInt(1, sequence);
        ORDO_ASSIGN_OR_RETURN(const int64_t num_found, Number(*count_of));
        check.num_unknown += num_found;
        check.unread_jobs.push_back(
            RowName(kJobs.name, absl::StrCat("sequence ", sequence)));
        return absl::OkStatus();
      }));
  ORDO_ASSIGN_OR_RETURN(const int64_t num_rows, Number(*count));
  const int64_t num_wrong = num_rows - num_right - check.num_unknown;
  if (num_wrong != 0) {
    check.damage.Add("ended_labels",
                     absl::StrCat(num_wrong, " rows that no job has"));
  }
  return check;
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
