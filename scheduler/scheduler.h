#ifndef ORDO_SCHEDULER_SCHEDULER_H_
#define ORDO_SCHEDULER_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"

namespace ordo::scheduler {

// A spec that those who ask for the same may share: it never changes.
using SpecPtr = std::shared_ptr<const jobs::v1::JobSpec>;

// A job to create.
struct NewJob {
  // Its id.
  std::string name;
  // Without the name. Resolved: valid, every default filled in, checkpoint
  // names still as the user wrote them. Never null.
  SpecPtr spec = std::make_shared<const jobs::v1::JobSpec>();
  std::string request_id;
  // SHA-256 of the request as it came, for comparing repeats.
  std::string fingerprint;
  jobs::v1::Owner owner;
  // Kind IMPORT: the checkpoint that the job holds, whose files lie in their
  // place; all but its name, origin and create_time is set. Such a job has
  // ended when it is created.
  std::optional<checkpoints::v1::Checkpoint> imported = {};
  // Job.notices.
  std::vector<std::string> notices = {};
  // Of a sweep, comparison or pipeline: the ids of its parts, which come right
  // before it in the same call, in this order; it starts when all of them have
  // ended. When it is the repeat of a request, its parts are neither created
  // nor answered with.
  std::vector<std::string> parts = {};
  // Of such a part: the id of what it is part of, and Job.part. It has no
  // request_id of its own.
  std::string parent = {};
  std::string part = {};
  // The trace that the call is part of (base/trace/trace.h); empty: none. A
  // repeat of its request does not change that of the job.
  std::string trace_parent = {};
  // Why what changes with time, such as the rules of its queue, does not let it
  // be created. The repeat of a request that has made its job gets that all the
  // same.
  absl::Status refusal = {};

  // Gives it a copy of its spec, to be changed before anyone shares it.
  jobs::v1::JobSpec& OwnSpec() {
    auto own = std::make_shared<jobs::v1::JobSpec>(*spec);
    spec = own;
    return *own;
  }
};

// Which jobs to list. Unset fields match everything.
struct JobFilter {
  std::optional<jobs::v1::Job::State> state;
  std::optional<std::string> queue;
  std::optional<std::string> owner;
  std::map<std::string, std::string> labels;
  // Id of what it is part of.
  std::optional<std::string> parent;
};

// A slice of a listing that is sorted newest first. `before` is the sequence
// number (jobs) or resource name (others) where the previous page ended;
// empty: from the start.
struct Page {
  std::string before;
  int size = 100;
};

template <typename T>
struct Listing {
  std::vector<T> items;
  // `before` of the next page; empty on the last.
  std::string next;
};

// The queue that is always there, and what a queue has when nobody says
// otherwise.
inline constexpr char kDefaultQueue[] = "default";
inline constexpr double kDefaultQueueWeight = 1;
inline constexpr int32_t kDefaultMaxQueuedJobs = 1'000'000;
// How many there may be, and what people may set of one.
inline constexpr size_t kMaxQueues = 1000;
inline constexpr double kMinQueueWeight = 0.001;
inline constexpr double kMaxQueueWeight = 1000;
inline constexpr int kMaxQuotas = 16;
// Of quotas, and of the devices of an owner.
inline constexpr int32_t kMaxQueueDevices = 1'000'000;
inline constexpr int32_t kMaxQueuedJobs = 10'000'000;

// How many aliases and pinned checkpoints there may be.
inline constexpr size_t kMaxAliases = 1000;
inline constexpr size_t kMaxPins = 10'000;
// AliasSetting.if_digest: there must be no such alias.
inline constexpr char kNoDigest[] = "none";

// What an alias is to name, if it is as is thought.
struct AliasSetting {
  // Its id.
  std::string alias;
  // jobs/{job}/checkpoints/{checkpoint}, jobs/{job} for its newest,
  // jobs/{job}/checkpoints/best for its best, or another alias's name for what
  // that names.
  std::string checkpoint = {};
  // The manifest's digest of what it names now; empty: any. kNoDigest: there is
  // no such alias.
  std::string if_digest = {};
  // Empty: any.
  std::string etag = {};
};

// What a person does to a checkpoint.
enum class CheckpointVerb { kPin, kUnpin, kThin, kDelete };

// Who asks for a change, and why. Kept with what it changes.
struct Author {
  jobs::v1::Owner owner;
  // May be empty.
  std::string reason;
};

// How many tokens are kept.
inline constexpr size_t kMaxTokens = 10'000;

// A token by which a caller is known. Whoever knows the secret of which this is
// the digest is its bearer; the secret itself is nowhere.
struct StoredToken {
  // SHA-256 of the secret, hexadecimal.
  std::string sha256;
  access::v1::Token token;
};

// The scheduler as its gRPC skin sees it. Implemented by scheduler/server
// over the pure core; a fake for tests of services is in testing/.
//
// Thread-safe. Callbacks run on a thread of the scheduler after the change
// is durable; they must not block and may call back into the scheduler.
// Reads see committed state only.
class Scheduler {
 public:
  using JobsCallback =
      std::function<void(absl::StatusOr<std::vector<jobs::v1::Job>>)>;
  using JobCallback = std::function<void(absl::StatusOr<jobs::v1::Job>)>;
  // Called with the job at once and after each change, never concurrently
  // for one watch; `last` is true when the job has ended or the scheduler
  // is leaving (the state tells which) and no call follows.
  using WatchCallback = std::function<void(const jobs::v1::Job&, bool last)>;

  using QueueCallback = std::function<void(absl::StatusOr<queues::v1::Queue>)>;
  using WorkerCallback =
      std::function<void(absl::StatusOr<workers::v1::Worker>)>;
  using AliasCallback =
      std::function<void(absl::StatusOr<checkpoints::v1::Alias>)>;
  using CheckpointCallback =
      std::function<void(absl::StatusOr<checkpoints::v1::Checkpoint>)>;
  using TokenCallback = std::function<void(const absl::Status&)>;
  using ArchivedUsageCallback =
      std::function<void(const usage::v1::ArchivedUsage&)>;

  virtual ~Scheduler() = default;

  // All or none. ALREADY_EXISTS: a name is taken. INVALID_ARGUMENT: a known
  // request id with another fingerprint, or needs that go in a circle.
  // NOT_FOUND: a checkpoint, job or queue that a spec names does not exist.
  // FAILED_PRECONDITION: a job that it needs has failed already.
  // RESOURCE_EXHAUSTED: a queue would hold more jobs than its max_queued_jobs.
  // A repeat of a request id with the same fingerprint gives the existing job.
  // Answered with all of them in their order, parts too: what a request asked
  // for is what has no Job.parent.
  virtual void CreateJobs(std::vector<NewJob> jobs, JobsCallback done) = 0;

  // With all its parts that have not ended. NOT_FOUND, or FAILED_PRECONDITION
  // when the job has ended.
  virtual void CancelJob(const std::string& job, const std::string& user,
                         JobCallback done) = 0;

  // Here and for the priority, a job's parts that are queued are changed with
  // it. A queued job does not start while it is held. NOT_FOUND, or
  // FAILED_PRECONDITION when the job is not QUEUED. Held twice or released
  // twice is as once: nothing changes.
  virtual void HoldJob(const std::string& job, const std::string& user,
                       JobCallback done) = 0;
  virtual void ReleaseJob(const std::string& job, const std::string& user,
                          JobCallback done) = 0;
  // In -1000..1000. NOT_FOUND, or FAILED_PRECONDITION when the job is not
  // QUEUED. Setting what it is changes nothing.
  virtual void SetPriority(const std::string& job, int32_t priority,
                           const std::string& user, JobCallback done) = 0;

  // Names here and below are ids, without the collection: "my-job".
  virtual absl::StatusOr<jobs::v1::Job> GetJob(
      const std::string& job) const = 0;
  // Whose job it is, also when its spec cannot be read and GetJob gives
  // DATA_LOSS.
  virtual absl::StatusOr<jobs::v1::Owner> GetOwner(
      const std::string& job) const = 0;
  // Id of the queue that it is in, likewise.
  virtual absl::StatusOr<std::string> GetQueueOf(
      const std::string& job) const = 0;
  virtual absl::StatusOr<Listing<jobs::v1::Job>> ListJobs(
      const JobFilter& filter, const Page& page) const = 0;
  virtual absl::StatusOr<jobs::v1::ExplainResponse> Explain(
      const std::string& job) const = 0;

  // NOT_FOUND when the job does not exist. The id ends the watch; no
  // callback runs after StopWatch has returned.
  virtual absl::StatusOr<int64_t> WatchJob(const std::string& job,
                                           WatchCallback callback) = 0;
  virtual void StopWatch(int64_t watch) = 0;
  // Takes out of what a callback was given what whoever has this view may not
  // read of it. Reads the store, so not for a callback itself.
  virtual void Hide(jobs::v1::Job* /*job*/) const {}

  // `checkpoint` may be "latest".
  virtual absl::StatusOr<checkpoints::v1::Checkpoint> GetCheckpoint(
      const std::string& job, const std::string& checkpoint) const = 0;
  // `job` empty: of all jobs.
  virtual absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> ListCheckpoints(
      const std::string& job, const Page& page) const = 0;

  // `checkpoint` is a resource name, whose id may be "latest" unless it is to
  // be deleted. What is so already changes nothing. NOT_FOUND.
  // FAILED_PRECONDITION: it is DELETED, and is not to be unpinned or deleted;
  // or it is to be thinned or deleted and something holds it: a pin, an alias,
  // a job that has not ended. RESOURCE_EXHAUSTED: kMaxPins are pinned.
  virtual void ChangeCheckpoint(CheckpointVerb verb,
                                const std::string& checkpoint,
                                const Author& author,
                                CheckpointCallback done) = 0;

  // Has an alias, which need not be there, name a checkpoint; compared and set
  // in one step. NOT_FOUND: there is no such checkpoint. FAILED_PRECONDITION:
  // it was removed. ABORTED: the alias is not as `if_digest` or `etag` says.
  // RESOURCE_EXHAUSTED: there are kMaxAliases.
  virtual void SetAlias(const AliasSetting& setting, const Author& author,
                        AliasCallback done) = 0;
  // NOT_FOUND; ABORTED when `etag` is neither empty nor that of the alias.
  virtual void DeleteAlias(const std::string& alias, const std::string& etag,
                           const Author& author, AliasCallback done) = 0;
  virtual absl::StatusOr<checkpoints::v1::Alias> GetAlias(
      const std::string& alias) const = 0;
  // By name.
  virtual absl::StatusOr<Listing<checkpoints::v1::Alias>> ListAliases(
      const Page& page) const = 0;

  virtual absl::StatusOr<reports::v1::Report> GetReport(
      const std::string& job, const std::string& report) const = 0;
  virtual absl::StatusOr<Listing<reports::v1::Report>> ListReports(
      const std::string& job, const Page& page) const = 0;

  virtual absl::StatusOr<workers::v1::Worker> GetWorker(
      const std::string& worker) const = 0;
  virtual absl::StatusOr<Listing<workers::v1::Worker>> ListWorkers(
      const Page& page) const = 0;

  // What people decide of a worker is durable and outlives it. The worker comes
  // back as it then is. NOT_FOUND when nothing is known of it. What is so
  // already changes nothing.
  //
  // Nothing starts there; what runs goes on.
  virtual void CordonWorker(const std::string& worker, const Author& author,
                            WorkerCallback done) = 0;
  // At `at` what runs is stopped with a checkpoint and queued again; nothing
  // starts there that may run beyond that. A time that is over is now. Takes
  // the place of an earlier drain.
  virtual void DrainWorker(const std::string& worker, absl::Time at,
                           const Author& author, WorkerCallback done) = 0;
  // Ends both.
  virtual void UncordonWorker(const std::string& worker, const Author& author,
                              WorkerCallback done) = 0;
  // Ends the quarantine of a device, such as "cuda:0". NOT_FOUND also when the
  // worker has no such device.
  virtual void ReleaseDevice(const std::string& worker,
                             const std::string& device, const Author& author,
                             WorkerCallback done) = 0;

  // Queues; `default` is always there. What a person sets of one is valid;
  // name (queues/<id>) set, output-only fields unread.
  //
  // ALREADY_EXISTS. The name of a deleted one may be taken again.
  // RESOURCE_EXHAUSTED: there are kMaxQueues.
  virtual void CreateQueue(const queues::v1::Queue& queue, const Author& author,
                           QueueCallback done) = 0;
  // Everything that a person sets of it becomes what `queue` says. NOT_FOUND;
  // ABORTED when queue.etag is not that of the queue.
  virtual void UpdateQueue(const queues::v1::Queue& queue, const Author& author,
                           QueueCallback done) = 0;
  // NOT_FOUND; ABORTED when `etag` is neither empty nor that of the queue;
  // FAILED_PRECONDITION for `default`, and while a job of it has not ended.
  virtual void DeleteQueue(const std::string& queue, const std::string& etag,
                           const Author& author, QueueCallback done) = 0;
  virtual absl::StatusOr<queues::v1::Queue> GetQueue(
      const std::string& queue) const = 0;
  // By name.
  virtual absl::StatusOr<Listing<queues::v1::Queue>> ListQueues(
      const Page& page) const = 0;

  // What the jobs that have left for the archive used: calls `take` for each
  // queue and owner, on this thread and without a lock.
  virtual void ForEachArchivedUsage(
      const ArchivedUsageCallback& take) const = 0;

  // Keeps a token by its digest, or, without one, forgets it. Who calls sees
  // to names that are taken, and to kMaxTokens.
  virtual void PutToken(const std::string& sha256,
                        const std::optional<access::v1::Token>& token,
                        TokenCallback done) = 0;
  // By digest.
  virtual std::vector<StoredToken> ListTokens() const = 0;

  // From a worker. INVALID_ARGUMENT for a malformed announcement.
  virtual absl::StatusOr<agent::v1::AnnounceResponse> Announce(
      const agent::v1::AnnounceRequest& request) = 0;
};

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_SCHEDULER_H_
