#ifndef ORDO_SCHEDULER_STORE_ROW_WRITER_H_
#define ORDO_SCHEDULER_STORE_ROW_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// How a label stands in the table of labels. Keys have no '=': the first one
// ends them.
std::string LabelTerm(const std::string& key, const std::string& value);
// All of a job: of its labels, and of its parent as that of
// core::kParentLabel.
std::vector<std::string> LabelTermsOf(const core::JobFacts& job);

// Writes records as rows of schema.h, each with its checksum, within a
// transaction of the caller. Not thread-safe.
class RowWriter {
 public:
  // `database` has the tables, and outlives this.
  static absl::StatusOr<std::unique_ptr<RowWriter>> Make(Database& database);

  // Inserts or replaces; removes a Row without bytes. The database's errors.
  absl::Status Write(const core::Record& record);
  // To be called when a transaction was rolled back.
  void Forget() { specs_.clear(); }

 private:
  // A spec that has a row.
  struct KnownSpec {
    std::weak_ptr<const jobs::v1::JobSpec> spec;
    int64_t id = 0;
  };

  explicit RowWriter(Database& database) : database_(database) {}
  absl::Status Prepare();
  absl::StatusOr<int64_t> SpecId(const core::SpecPtr& spec);
  absl::StatusOr<int64_t> WriteSpec(const jobs::v1::JobSpec& spec);
  absl::Status WriteJob(const core::JobRecord& job);
  absl::Status WriteLabels(const core::JobRecord& job);
  absl::Status WriteCheckpoint(const checkpoints::v1::Checkpoint& checkpoint);
  absl::Status WriteReport(const reports::v1::Report& report);
  absl::Status WriteOther(const core::Row& row);

  Database& database_;
  std::unique_ptr<Statement> find_spec_, next_spec_, put_spec_, put_job_;
  std::unique_ptr<Statement> put_label_;
  std::unique_ptr<Statement> put_checkpoint_, put_report_, put_other_;
  std::unique_ptr<Statement> remove_other_;
  // By address. Those that are gone are swept out when there are twice as many
  // as after the last time.
  std::unordered_map<const jobs::v1::JobSpec*, KnownSpec> specs_;
  size_t sweep_at_ = 1024;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ROW_WRITER_H_
