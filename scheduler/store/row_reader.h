#ifndef ORDO_SCHEDULER_STORE_ROW_READER_H_
#define ORDO_SCHEDULER_STORE_ROW_READER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/load.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/store/row_decoder.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// What a scheduler starts with: all jobs that have not ended, those that they
// name, with all that belongs to them, and all small records. DATA_LOSS when
// any of it is damaged: the error names the table and the key of each such row,
// up to twenty. But a row of what a queue used whose checksum is wrong is left
// out: its share is counted from nothing then. Each of those, up to twenty, is
// a DATA_LOSS in `left_out`, unless that is null. Specs are all looked at; with
// `specs`, from where they can be read again, they do not stay in memory. With
// `other`, another connection to the same file, half of the jobs are read
// through that meanwhile, if there are many.
absl::StatusOr<core::Records> ReadRecords(
    Database& database, std::vector<absl::Status>* left_out = nullptr,
    std::shared_ptr<core::SpecSource> specs = nullptr,
    Database* other = nullptr);
inline constexpr int64_t kManyJobs = 2000;

// Every row whose checksum is wrong, as RowName gives it, of all tables whose
// rows have one but `meta`, for which there is CheckMeta. Errors are the
// database's.
absl::StatusOr<std::vector<std::string>> FindDamagedRows(Database& database);

// Reads jobs that have ended, and what jobs have. Not thread-safe.
class PastReader {
 public:
  // Both outlive this.
  static absl::StatusOr<std::unique_ptr<PastReader>> Make(Database& database,
                                                          RowDecoder& decoder);

  // Nothing when there is no such job, it has not ended, or its row is damaged,
  // of which the decoder knows.
  absl::StatusOr<std::optional<core::PastJob>> Find(const std::string& job);
  // Adds what any job has, by name.
  absl::Status AddArtifacts(const std::string& job,
                            std::vector<core::CheckpointPtr>* checkpoints,
                            std::vector<core::ReportPtr>* reports);

 private:
  explicit PastReader(RowDecoder& decoder) : decoder_(decoder) {}
  template <typename Take>
  static absl::Status ForEachOf(Statement& query, const std::string& job,
                                Take take);

  RowDecoder& decoder_;
  std::unique_ptr<Statement> job_, checkpoints_, reports_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ROW_READER_H_
