#ifndef ORDO_SCHEDULER_CORE_STATE_H_
#define ORDO_SCHEDULER_CORE_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "base/version/worker_protocol.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "proto/ordo/training/v1/result_key.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/core/aliases.h"
#include "scheduler/core/box.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/job.h"
#include "scheduler/core/names.h"
#include "scheduler/core/queues.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/core/transitions.h"
#include "scheduler/core/wall_history.h"
#include "scheduler/core/worker_admin.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/policy.h"

// What the core knows. Plain data; changed by Apply alone. CheckInvariants says
// what always holds.

namespace ordo::scheduler::core {

struct Options {
  policy::PlaceFunction place = nullptr;
  // `grace` is stop_grace.
  policy::BoardOptions board;
  // A worker silent for this long is lost.
  absl::Duration lease = absl::Seconds(10);
  // Desired sets are repeated this often.
  absl::Duration heartbeat = absl::Seconds(2);
  // Wait before the second attempt after a failure; doubles up to the maximum.
  absl::Duration retry_backoff = absl::Seconds(1);
  absl::Duration retry_backoff_max = absl::Seconds(60);
  // Time to leave for a cancelled attempt, for a stopped one, and for the ranks
  // of one of which another rank has failed.
  absl::Duration cancel_grace = absl::Seconds(2);
  absl::Duration stop_grace = absl::Seconds(30);
  absl::Duration rank_grace = absl::Seconds(2);
  // A lost worker that holds nothing is forgotten after this.
  absl::Duration forget_worker = absl::Hours(1);
  // Tasks in one desired set take at most so many bytes together; one that is
  // larger goes alone. Another value is for tests.
  size_t max_tasks_bytes = base::kMaxTasksBytes;
  // Of workers that are known, lost ones too, so that ids that somebody makes
  // up fill no memory.
  size_t max_workers = 100'000;
  // Of this life of the scheduler; larger than that of any earlier one.
  int64_t epoch = 1;
  // Of the machine, whose monotonic clock outlives the scheduler as long as it
  // is the same; empty: not known.
  std::string boot_id = {};
};

// A job that waits: on the board, or for its backoff to end, for jobs that
// it needs, or to be released.
struct Queued {
  // On the monotonic clock: since when.
  absl::Duration since;
  // Monotonic, too: the end of its backoff, while there is one, and of the time
  // that it may wait.
  std::optional<absl::Duration> not_before;
  std::optional<absl::Duration> limit_at;
  // Jobs that it needs and that have not ended.
  int32_t num_needed = 0;
  // It follows a job that may write another checkpoint, and has evaluated all
  // that there are (follow.h).
  bool awaits_checkpoint = false;
  // A live job answers a question which this one asks too (State.awaits).
  bool awaits_answer = false;
};

// What an attempt does with its devices: it starts until its trainer reports,
// and evaluates also within a training job.
enum class DeviceUse { kStart, kTrain, kEvaluate, kBenchmark, kSummarize };

using SummaryPtr = std::shared_ptr<const training::v1::SummarizeSpec>;
using KnownResultPtr = std::shared_ptr<const training::v1::KnownResult>;

// One process of an attempt.
struct LiveRank {
  std::string worker;
  // One or more.
  std::vector<std::string> devices;
  // It has exited, or its worker was lost: it holds nothing any more.
  bool over = false;
  // Not durable: the worker was told of it in this life of the scheduler, it
  // has listed it, and that it is being stopped.
  bool told = false;
  bool observed = false;
  bool stopping = false;
  // Not durable, monotonic: when it was last seen and had not ended, at first
  // when the attempt began; when it ended, as far as its worker has told; and
  // up to where the time of its devices has been counted.
  absl::Duration seen = absl::ZeroDuration();
  std::optional<absl::Duration> gone_at = std::nullopt;
  absl::Duration counted = absl::ZeroDuration();
};

// A job whose newest attempt is given to workers and not over.
struct Live {
  // One or more; not all are over.
  std::vector<LiveRank> ranks;
  // Monotonic: when it began, and when it has run for as long as it may.
  absl::Duration started;
  std::optional<absl::Duration> limit_at;

  // Not durable.
  // Monotonic: when it last reached something durable: its start or a
  // checkpoint.
  absl::Duration durable;
  // What its devices are used for since their time was last counted.
  DeviceUse use = DeviceUse::kStart;
  // What was counted, seconds times devices: in all, before its trainer
  // reported, and since `durable`.
  double device_seconds = 0;
  double idle_device_seconds = 0;
  double unsaved_device_seconds = 0;
  // Newest step, and the step that a next attempt would go on from.
  int64_t step = 0;
  int64_t durable_step = 0;
  std::shared_ptr<const jobs::v1::Progress> progress;
  // Of the job, and of one that sums up parts what it does instead; null: no
  // worker was told what to do yet, or all have been seen to know. Whoever was
  // told once is told again.
  SpecPtr spec;
  SummaryPtr summary;
  // Digests of the questions that it has yet to answer (State.answering).
  std::vector<std::string> questions;
};

// A job that is over.
struct Ended {};

// Sorts checkpoints of one job: later is newer. The attempt counts first: one
// that had to go back behind a damaged checkpoint writes the newer state at the
// smaller step.
using CheckpointKey = std::pair<int32_t, int64_t>;  // attempt, step

struct JobEntry {
  JobPtr job;
  // Its age by which it waits its turn, of one that has not ended when it comes
  // into the state: its create_ns, or that of a job before it when the wall
  // clock went back in between.
  int64_t order_ns = 0;
  std::variant<Queued, Box<Live>, Ended> place;
  absl::btree_map<CheckpointKey, CheckpointPtr> checkpoints;
  // By id, <evaluation>-<step>.
  absl::btree_map<std::string, ReportPtr> reports;
};

// The live attempt; null when there is none.
inline Live* LiveIn(JobEntry& entry) {
  auto* live = std::get_if<Box<Live>>(&entry.place);
  return live == nullptr ? nullptr : &**live;
}
inline const Live* LiveIn(const JobEntry& entry) {
  const auto* live = std::get_if<Box<Live>>(&entry.place);
  return live == nullptr ? nullptr : &**live;
}

// A rank of a job's live attempt.
using RankId = std::pair<std::string, int32_t>;

// A worker; nothing of it is durable.
struct Worker {
  enum class Liveness {
    // Known only from the records; one lease to come back.
    kUnknown,
    kOnline,
    kLost,
  };

  std::string id;
  std::string incarnation;
  std::string address;
  // As it announced them, by name.
  std::map<std::string, workers::v1::Device> announced;
  std::map<std::string, std::string> labels;
  int32_t cpus = 0;
  int64_t memory_bytes = 0;
  // The version of the protocol (base/version/worker_protocol.h) that it
  // speaks.
  int32_t protocol = 1;
  // It has what ranks on cuda add up through.
  bool nccl = false;
  // Nothing: it does not say.
  std::optional<workers::v1::DataRoots> data_roots;
  std::string build_digest;
  // When it will drain by itself; nothing: it stays.
  std::optional<absl::Time> leave_time;
  Liveness liveness = Liveness::kUnknown;
  bool draining = false;
  // By what people decided (State.admin): it is cordoned, nothing starts there;
  // its drain has begun, and what runs is stopped.
  bool closed = false;
  bool emptied = false;
  // It has answered a desired set since it came. What an announcement says may
  // have been so before this life of the scheduler, or before the worker was
  // lost; an answer says what runs there, and until then no device is offered.
  bool answered = false;
  // There was no room in its newest desired set for all that is to start there.
  bool left_out = false;
  // Devices in quarantine (State.admin): nothing starts on them, and what runs
  // on them is stopped.
  std::set<std::string> quarantined;
  absl::Time last_seen;
  int64_t observed_sequence = 0;
  // Incarnations before this one, newest last, at most kMaxSuperseded.
  std::vector<std::string> superseded;
  // As the board knows it.
  policy::Worker shown;
  // What is here of live attempts and not over.
  std::set<RankId> live;
  // Devices that an attempt which is not live still occupies.
  std::set<std::string> lingering;
  // Monotonic times of its deadlines. Nothing starts that may run beyond
  // `drain_at`.
  std::optional<absl::Duration> lease_at;
  std::optional<absl::Duration> heartbeat_at;
  std::optional<absl::Duration> forget_at;
  std::optional<absl::Duration> drain_at;
};

inline constexpr size_t kMaxSuperseded = 8;

struct Deadline {
  enum class Kind {
    kLease,
    kHeartbeat,
    kForget,
    kDrain,
    kBackoff,
    kQueueLimit,
    kRunLimit,
    kPlace,
  };

  absl::Duration at;
  Kind kind;
  // Worker or job; empty for kPlace.
  std::string id;
};

inline bool operator<(const Deadline& a, const Deadline& b) {
  return std::tie(a.at, a.kind, a.id) < std::tie(b.at, b.kind, b.id);
}

// What a queue used of a kind of device, as it was recorded, and when
// (monotonic).
struct QueueUse {
  RowPtr row;
  absl::Duration recorded;
};

// Orders what request ids made, and finds it by the id.
struct ByRequestId {
  using is_transparent = void;

  bool operator()(const FactsPtr& a, const FactsPtr& b) const {
    return a->request.id() < b->request.id();
  }
  bool operator()(const FactsPtr& a, std::string_view id) const {
    return a->request.id() < id;
  }
  bool operator()(std::string_view id, const FactsPtr& b) const {
    return id < b->request.id();
  }
};

// In State.pins: no job's id, and no alias's name.
inline constexpr char kPinHolder[] = ":pin";

struct State {
  State() : State(Options()) {}
  explicit State(const Options& options);

  Options options;
  int64_t next_sequence = 1;
  // Largest order_ns so far.
  int64_t last_order_ns = 0;
  // Number of the last desired set.
  int64_t desired_sequence = 0;
  std::map<std::string, JobEntry> jobs;
  // Those that a request id made.
  std::set<FactsPtr, ByRequestId> requests;
  std::map<std::string, Worker> workers;
  std::set<Deadline> deadlines;

  // What people decided, durable: of queues, and of workers by id, with what is
  // held against their devices.
  Queues queues;
  std::map<std::string, WorkerAdminPtr> admin;
  // What people call checkpoints, and which they have pinned, by resource name,
  // with who did; durable.
  Aliases aliases;
  std::map<std::string, std::shared_ptr<const audit::v1::Change>> pinned;
  // By key: queue_use.h.
  std::map<std::string, QueueUse> used;
  // How the wall clock was set; the row that says it, null when there is none;
  // whether it says more than that by now.
  WallHistory clock;
  RowPtr clock_row;
  bool clock_changed = false;
  // Results that are there, durable, by the digest of their question: those of
  // one differ in their keys.
  std::map<std::string, std::vector<KnownResultPtr>> results;
  // What the wall clock showed when the monotonic one was zero, by which the
  // deadlines of drains were set.
  absl::Time wall_origin;

  // Makes what is kept of the specs of new jobs.
  SpecTable specs;

  // Indexes over the above. What placement decides by: jobs that wait for
  // devices, live attempts, workers.
  policy::Board board;
  // By sequence, of the jobs that the board knows.
  absl::btree_map<int64_t, FactsPtr> waiting;
  // Of these, by queue; none is empty.
  std::map<std::string, absl::btree_set<int64_t>> waiting_in;
  absl::btree_map<int64_t, FactsPtr> running;
  // The policy was last asked then; when it is asked again though nothing
  // changes; whether the board has changed since.
  absl::Duration placed_at;
  std::optional<absl::Duration> place_at;
  bool board_changed = false;
  // Jobs that have not ended, by queue.
  std::map<std::string, int64_t> unfinished;
  // Who holds on to a checkpoint or job (resource name): live jobs by id,
  // aliases by resource name, a person's pin as kPinHolder.
  std::map<std::string, std::set<std::string>> pins;
  // Queued jobs by the job that must end first; only of such as have not.
  std::map<std::string, std::set<std::string>> needed_by;
  // Live jobs by the digest of a question that they have yet to answer; which
  // of these questions a queued job awaits, and the other way round.
  std::map<std::string, std::string> answering;
  std::map<std::string, std::string> awaits;
  std::map<std::string, std::set<std::string>> awaited;
};

// Ids: [a-z][a-z0-9-]*, at most 63 characters.
inline constexpr size_t kMaxIdLength = 63;

// <step>-<attempt>.
std::string CheckpointId(const CheckpointKey& key);

// Kernels that a device lacks by its probe, and why: "failed its
// probe there: ...".
std::map<std::string, std::string> LackingKernels(
    const workers::v1::Device& device);
// Whether a worker that announced this takes ranks of several on devices of a
// kind.
bool TakesRanks(bool nccl, const std::string& kind);
bool AllOver(const std::vector<LiveRank>& ranks);
// "w, cpu:0", or "4 ranks on v and w".
std::string WhereOf(const Live& live);
// What its live attempt uses its devices for; `in_evaluation`: one of the
// evaluations inside a training job is under way.
DeviceUse UseOf(const JobRecord& job, bool in_evaluation);
// What people decided of a worker; null: nothing.
WorkerAdminPtr AdminOf(const State& state, const std::string& worker);
// Whether what runs on these devices has to leave them: their worker is drained
// or one of them is in quarantine.
bool HasToLeave(const Worker& worker, const std::vector<std::string>& devices);
// Whether new attempts may start there, as far as they end before its drain.
bool TakesWork(const Worker& worker);
// JobEntry.order_ns of a job that comes into the state after all with smaller
// sequences; counts it as the last.
int64_t NextOrder(State& state, const JobFacts& job);
// The newest checkpoint that is AVAILABLE; null when there is none.
CheckpointPtr NewestCheckpoint(const JobEntry& entry);
// Whether the optimizer's state is among its files.
bool HasOptimizer(const checkpoints::v1::Checkpoint& checkpoint);
// The worker as the API shows it.
workers::v1::Worker ToProto(const State& state, const Worker& worker);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_STATE_H_
