#ifndef ORDO_SCHEDULER_STORE_ROW_DECODER_H_
#define ORDO_SCHEDULER_STORE_ROW_DECODER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/arena.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/job.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/sqlite.h"

// From the rows that RowWriter writes back to records. A row is damaged when
// its checksum is wrong or its message cannot be read.

namespace ordo::scheduler::store {

// A table: its columns in the order in which its checksums count them, of which
// the first are its key and the last is the checksum.
struct Table {
  const char* name;
  const char* columns;
  int num_keys = 1;
};

inline constexpr Table kMeta = {"meta", "key, value, crc"};
inline constexpr Table kSpecs = {"specs", "id, digest, body, crc"};
inline constexpr Table kJobs = {
    "jobs",
    "sequence, name, request_id, spec, owner, queue, state, end_ns, body, crc"};
inline constexpr Table kRetired = {"retired", "name, request_id, state, crc"};
inline constexpr Table kCheckpoints = {
    "checkpoints", "name, job, create_ns, deleted, body, crc"};
inline constexpr Table kReports = {"reports",
                                   "name, job, create_ns, body, crc"};
inline constexpr Table kOther = {"other", "kind, key, body, crc", 2};

// "SELECT <columns> FROM <table> <rest>".
std::string Select(const Table& table, const std::string& rest);

// Whether the row, whose columns are those of the table, is as it was written.
bool ChecksumIsRight(const Table& table, const Statement& row);

// The row's key, as in Damage: "sequence 7".
std::string KeyOf(const Table& table, const Statement& row);

// Where specs of decoded jobs are.
enum class SpecPlace {
  // In memory, until somebody lets them go.
  kMemory,
  // In the store.
  kStore,
};

// Decodes rows whose columns are those of their table. Not thread-safe.
class RowDecoder {
 public:
  // `database` outlives this. `specs`: where the specs of the jobs are read
  // when they have left memory; null: they stay there.
  static absl::StatusOr<std::unique_ptr<RowDecoder>> Make(
      Database& database, std::shared_ptr<core::SpecSource> specs = nullptr,
      SpecPlace place = SpecPlace::kMemory);

  // Null: specs stay in memory.
  const std::shared_ptr<core::SpecSource>& source() const { return source_; }

  // Null when the row is damaged: then it is added to the damage. Errors are
  // the database's.
  absl::StatusOr<core::JobPtr> Job(const Statement& row);
  core::CheckpointPtr Checkpoint(const Statement& row);
  core::ReportPtr Report(const Statement& row);
  core::RowPtr Other(const Statement& row);
  // The same of the spec that is stored as that number; null also when there is
  // none.
  absl::StatusOr<core::SpecPtr> Spec(int64_t id);
  // Whether the checksum is right; else the row is added to the damage.
  bool Check(const Table& table, const Statement& row);
  // Of a row that is damaged by what others say; `key` as in Damage.
  void AddDamage(const std::string& table, const std::string& key) {
    damage_.Add(table, key);
  }

  // Takes over what another has met.
  void AddDamage(const RowDecoder& other) { damage_.Add(other.damage_); }

  // Of all rows since the last call to either: in one status, or of each row.
  absl::Status TakeDamage();
  std::vector<absl::Status> TakeEachDamage();
  // The specs of earlier rows are read again when they are needed. To be called
  // before a transaction ends in which jobs or specs were decoded.
  void ForgetSpecs();

 private:
  RowDecoder(Database& database, std::shared_ptr<core::SpecSource> specs,
             SpecPlace place);
  // Whether there is that one; `next_spec_` is at it then.
  absl::StatusOr<bool> SeekSpec(int64_t id);
  // Whether there is that one and it is whole.
  absl::StatusOr<bool> ReadSpec(int64_t id, jobs::v1::JobSpec* spec);
  // What follows from a spec, with its handle. Null when it is not there or
  // damaged.
  absl::StatusOr<core::FactsPtr> FactsOfSpec(int64_t id);
  template <typename T>
  std::shared_ptr<const T> Artifact(const Table& table, const Statement& row);
  void AddDamage(const Table& table, const Statement& row);

  const std::shared_ptr<core::SpecSource> source_;
  // kStore only where there is a source.
  const SpecPlace place_;
  const Origin origin_;
  Damage damage_;
  // From some number on, in their order: jobs that were created one after
  // another mostly have specs that were.
  std::unique_ptr<Statement> next_spec_;
  // The number of the one that it is at.
  std::optional<int64_t> spec_at_;
  // For one spec that leaves memory at once.
  alignas(8) std::array<char, 8192> arena_block_;
  google::protobuf::Arena arena_;
  // By id, of the rows since ForgetSpecs; null: damaged.
  absl::flat_hash_map<int64_t, core::FactsPtr> specs_;
  core::SpecTable table_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ROW_DECODER_H_
