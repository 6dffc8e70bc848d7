#ifndef ORDO_SCHEDULER_STORE_READER_H_
#define ORDO_SCHEDULER_STORE_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/core/transitions.h"

namespace ordo::scheduler::store {

// Which of the jobs that have ended; unset fields match everything. Parts are
// found by the id of their parent as by a label of core::kParentLabel.
struct EndedQuery {
  std::optional<core::JobState> state;
  std::optional<std::string> queue;
  std::optional<std::string> owner;
  std::map<std::string, std::string> labels;
  // Of a smaller sequence than this.
  int64_t before = 0;
  int limit = 0;
};

// Jobs that have ended, and those that have left the store since.
struct PastJobs {
  std::vector<core::PastJob> jobs;
  std::vector<core::RetiredJob> retired;
};

// Which ended jobs may leave the store: all that ended before this time, and
// all but the `keep` that ended last.
struct ExpiredQuery {
  // Nanoseconds since 1970; 0: none by age.
  int64_t ended_before_ns = 0;
  // Negative: none by number.
  int64_t keep = -1;
  // Only what ended after this one.
  int64_t after_end_ns = 0;
  int64_t after_sequence = 0;
  int limit = 0;
};

// When a job ended; of those that ended at once, the one of the larger sequence
// is the later.
struct JobEnd {
  int64_t end_ns = 0;
  int64_t sequence = 0;
};

// What a listing found: it goes on behind damage, but one call leaves out no
// more than kMaxDamagedItems.
inline constexpr int kMaxDamagedItems = 1000;
template <typename T>
struct Found {
  // A job's sequence, the name of anything else.
  using Key =
      std::conditional_t<std::is_same_v<T, core::JobPtr>, int64_t, std::string>;

  std::vector<T> items;
  // DATA_LOSS for each row that cannot be read, of one item at most twenty;
  // each names the table and the key, and what is of such a row is left out.
  std::vector<absl::Status> damage = {};
  // Where it ended early, behind too much damage: `before` of the query that
  // goes on.
  std::optional<Key> next = {};
};

// Some of them.
struct ExpiredJobs {
  // In the order of their ends, then of their sequences.
  std::vector<core::PastJob> jobs;
  // The last that was looked at, after which the next query goes on; nothing:
  // there was none, and there are no more.
  std::optional<JobEnd> last;
  // As in Found.
  std::vector<absl::Status> damage = {};
};

// Which checkpoints or reports.
struct ArtifactQuery {
  // Id; empty: of all jobs.
  std::string job;
  // Resource name of one of them: only what is older. Empty: from the newest.
  std::string before;
  int limit = 0;
};

// Reads what is committed: never less than the last commit that returned before
// the call, and never half of one. Does not wait for commits, nor they for it.
// Thread-safe. Outlived by its store. DATA_LOSS, here and below, when something
// that was asked for by name cannot be read any more.
class Reader {
 public:
  virtual ~Reader() = default;

  // The job of that id, ended or not; null when there is none.
  virtual absl::StatusOr<core::JobPtr> FindJob(const std::string& job) = 0;
  // Those of these jobs that have ended, with all that belongs to them, and the
  // ended ones that these requests made; each once.
  virtual absl::StatusOr<PastJobs> FindPast(
      const std::vector<std::string>& jobs,
      const std::vector<std::string>& request_ids) = 0;
  // Goes on behind damage.
  virtual absl::StatusOr<ExpiredJobs> FindExpired(
      const ExpiredQuery& query) = 0;
  // The spec of a job that is stored as that number. DATA_LOSS also when there
  // is none.
  virtual absl::StatusOr<core::SpecPtr> FindSpec(int64_t id) = 0;
  // Newest first, by sequence.
  virtual absl::StatusOr<Found<core::JobPtr>> ListEnded(
      const EndedQuery& query) = 0;
  // How many jobs have ended in each state.
  virtual absl::StatusOr<std::map<core::JobState, int64_t>> CountEnded() = 0;

  // Names of checkpoints whose records say DELETED: at most `limit` of those
  // after `after`, in order, without those whose rows are damaged.
  virtual absl::StatusOr<std::vector<std::string>> DeletedCheckpoints(
      const std::string& after, int limit) = 0;
  // By resource name; null when there is none.
  virtual absl::StatusOr<core::CheckpointPtr> FindCheckpoint(
      const std::string& name) = 0;
  virtual absl::StatusOr<core::ReportPtr> FindReport(
      const std::string& name) = 0;
  // Newest first, by create_time and name. INVALID_ARGUMENT: there is no such
  // `before`.
  virtual absl::StatusOr<Found<core::CheckpointPtr>> ListCheckpoints(
      const ArtifactQuery& query) = 0;
  virtual absl::StatusOr<Found<core::ReportPtr>> ListReports(
      const ArtifactQuery& query) = 0;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_READER_H_
