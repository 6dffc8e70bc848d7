#ifndef ORDO_SCHEDULER_STORE_ROW_WRITER_H_
#define ORDO_SCHEDULER_STORE_ROW_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/stored_specs.h"

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
  // `database` has the tables, and outlives this. `specs`: from where specs of
  // this database are read; null: jobs whose specs are written are not told so.
  static absl::StatusOr<std::unique_ptr<RowWriter>> Make(
      Database& database, std::shared_ptr<StoredSpecs> specs = nullptr);

  // Inserts or replaces; removes a Row without bytes. The database's errors,
  // and those of reading a spec that another store has.
  absl::Status Write(const core::Record& record);
  // To be called when a transaction was committed: specs may leave memory.
  void NoteCommitted();
  // To be called when a transaction was rolled back, or specs may have been
  // removed.
  void Forget();

 private:
  // A spec that was written, of a job that is told so once that is durable.
  struct WrittenSpec {
    core::SpecHandlePtr handle;
    core::SpecPtr spec;
    int64_t id = 0;
  };

  RowWriter(Database& database, std::shared_ptr<StoredSpecs> specs)
      : database_(database), source_(std::move(specs)) {}
  absl::Status Prepare();
  absl::StatusOr<int64_t> SpecId(const core::SpecHandlePtr& handle);
  absl::StatusOr<int64_t> WriteSpec(const jobs::v1::JobSpec& spec);
  absl::Status WriteJob(const core::JobRecord& job);
  absl::Status WriteLabels(const core::JobRecord& job);
  absl::Status WriteCheckpoint(const checkpoints::v1::Checkpoint& checkpoint);
  absl::Status WriteReport(const reports::v1::Report& report);
  absl::Status WriteOther(const core::Row& row);

  Database& database_;
  const std::shared_ptr<StoredSpecs> source_;
  std::unique_ptr<Statement> find_spec_, put_spec_, put_job_;
  std::unique_ptr<Statement> put_label_;
  std::unique_ptr<Statement> put_checkpoint_, put_report_, put_other_;
  std::unique_ptr<Statement> remove_other_;
  // The largest number that any spec has or had: none is given again, so that
  // whoever still has one finds no other spec by it.
  int64_t last_spec_id_ = 0;
  // The last ones: whoever asks for many jobs asks with the same object.
  std::map<core::SpecPtr, int64_t> recent_;
  // In this transaction.
  std::vector<WrittenSpec> written_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ROW_WRITER_H_
