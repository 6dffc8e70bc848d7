#ifndef ORDO_SCHEDULER_CORE_EFFECT_H_
#define ORDO_SCHEDULER_CORE_EFFECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/job.h"
#include "scheduler/core/queues.h"

// All that leaves the core. The records of one Apply are committed together
// and before any other effect of it is released; effects are released in order,
// but that those of many events may be merged (scheduler/server/backlog.h).
// Messages are shared, never changed.

namespace ordo::scheduler::core {

using CheckpointPtr = std::shared_ptr<const checkpoints::v1::Checkpoint>;
using ReportPtr = std::shared_ptr<const reports::v1::Report>;

// A small record that is no job's: what people set, and what is counted.
struct Row {
  // Stored as numbers: they keep theirs. 3 and 5 had names in earlier releases
  // and are not given again.
  enum class Kind {
    kQueue = 1,
    kWorker = 2,
    kUsage = 4,
    kQueueUse = 6,
    kClock = 7,
    kAlias = 8,
    // By the name of a checkpoint that is pinned: audit.v1.Change.
    kPin = 9,
    kResult = 10,
    // By the digest of its secret: access.v1.Token. The core knows of none.
    kToken = 11,
  };

  Kind kind;
  // Unique among those of its kind.
  std::string key;
  // A message of its kind, serialized; none: the row is removed.
  std::optional<std::string> bytes;
};
using RowPtr = std::shared_ptr<const Row>;

// A durable change: insert or replace. Keys: JobFacts.sequence,
// Checkpoint.name, Report.name, (Row.kind, Row.key).
struct Record {
  std::variant<JobPtr, CheckpointPtr, ReportPtr, RowPtr> value;
};

// A job that has ended, as it is stored, with all that belongs to it.
struct PastJob {
  JobPtr job;
  std::vector<CheckpointPtr> checkpoints;
  std::vector<ReportPtr> reports;
};

// What stays known of a job that has ended and left the store.
struct RetiredJob {
  std::string id;
  // Empty: it had none.
  std::string request_id;
  JobState state = jobs::v1::Job::STATE_UNSPECIFIED;
};

// Tell a worker all that it should run.
struct SetDesired {
  // host:port of the worker.
  std::string address;
  std::shared_ptr<const agent::v1::SetDesiredRequest> request;
  // Why attempts are there without their tasks, or not at all if the worker
  // cannot know of them: specs cannot be read. It is tried again with each set.
  std::vector<absl::Status> untold = {};
};

// To the caller of Submit, Cancel, Hold, Release or SetPriority.
struct Answer {
  uint64_t call = 0;
  absl::StatusOr<std::vector<JobPtr>> jobs;
};

// To the caller of ChangeQueue, and of ChangeWorker.
struct AnswerQueue {
  uint64_t call = 0;
  absl::StatusOr<QueuePtr> queue;
};
struct AnswerWorker {
  uint64_t call = 0;
  absl::StatusOr<std::shared_ptr<const workers::v1::Worker>> worker;
};
// To the caller of ChangeAlias, and of ChangeCheckpoint.
struct AnswerAlias {
  uint64_t call = 0;
  absl::StatusOr<AliasPtr> alias;
};
struct AnswerCheckpoint {
  uint64_t call = 0;
  absl::StatusOr<CheckpointPtr> checkpoint;
};

// To the shell's caller who changed a row of which the core knows nothing; the
// shell makes it.
struct AnswerRow {
  uint64_t call = 0;
};

// A person has changed the queue, worker, alias or checkpoint of this resource
// name; for the log, which keeps what leaves the newest changes in the record.
struct NoteChange {
  std::string name;
  audit::v1::Change change;
};

// To the worker that announced itself. Waits for no commit.
struct AnswerAnnounce {
  absl::Status status;
};

// What thinning removes of a checkpoint.
inline constexpr char kOptimizerFile[] = "optimizer.safetensors";

// Remove the folder of a checkpoint whose record says DELETED, or a file that
// it has lost.
struct RemoveCheckpoint {
  std::string job;
  std::string checkpoint;
  // Empty: all of it.
  std::string file = {};
};

// Not durable: how a worker looks now, also one that is not there and of which
// something is decided; null when it is forgotten.
struct PublishWorker {
  std::string worker;
  std::shared_ptr<const workers::v1::Worker> value;
};

// Not durable: how far a job's live attempt is; null when it has none.
struct PublishProgress {
  std::string job;
  std::shared_ptr<const jobs::v1::Progress> value;
};

// Something to count or measure.
struct Count {
  enum class What {
    kAttemptEnded,       // 1, label: reason
    kDeviceSeconds,      // label: start, train, evaluate, benchmark,
                         // summarize
    kDeviceSecondsLost,  // label: reason
    kStepsLost,          // label: reason
    kQueueWait,          // seconds until an attempt began, label: queue
    kFirstStep,          // seconds from submission to the first step
    kCheckpoint,         // 1, label: written, failed, refused, removed,
                         // thinned, imported
    kCheckpointStall,    // seconds
    kCheckpointWrite,    // seconds
    kCheckpointBytes,    // bytes of one that was written
    kEvaluation,         // 1, label: computed, taken
    kVerdict,            // 1, label: pass, fail, inconclusive
    kToVerdict,          // seconds from a checkpoint, or the job that looks at
                         // an older one, to what was found of it, label:
                         // evaluation, gate
    kReport,             // 1, label: written, refused
    kStaleAttempt,       // 1: an attempt that is not live was observed
    kWorkerLost,         // 1
    kQuarantine,         // 1, label: failures, fault
  };
  What what;
  std::string label;
  double amount = 1;
};

using Effect =
    std::variant<Record, SetDesired, Answer, AnswerQueue, AnswerWorker,
                 AnswerAlias, AnswerCheckpoint, AnswerRow, NoteChange,
                 AnswerAnnounce, RemoveCheckpoint, PublishWorker,
                 PublishProgress, Count>;
using Effects = std::vector<Effect>;

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EFFECT_H_
