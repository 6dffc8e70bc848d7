#include "scheduler/core/desired.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status/status.h"
#include "base/version/worker_protocol.h"
#include "google/protobuf/arena.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/summarize.h"
#include "scheduler/core/task.h"

namespace ordo::scheduler::core {
namespace {

// About what a few attempts with their tasks take.
constexpr size_t kBlockBytes = 4096;

// All of a request lies in a few blocks and goes with them: it is made for
// every change of what a worker runs.
std::shared_ptr<agent::v1::SetDesiredRequest> NewRequest() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = kBlockBytes;
  const auto arena = std::make_shared<google::protobuf::Arena>(options);
  return {arena,
          google::protobuf::Arena::CreateMessage<agent::v1::SetDesiredRequest>(
              arena.get())};
}

void SetAction(const State& state, const JobEntry& entry, const Worker& worker,
               agent::v1::DesiredAttempt* desired) {
  const Options& options = state.options;
  const Asked asked = AskedOf(state, entry, &worker);
  if (asked == Asked::kKill || asked == Asked::kCancel) {
    desired->set_action(agent::v1::DesiredAttempt::KILL);
    *desired->mutable_grace() = ToProtoDuration(
        asked == Asked::kCancel ? options.cancel_grace : options.rank_grace);
    return;
  }
  desired->set_action(asked == Asked::kStop ? agent::v1::DesiredAttempt::STOP
                                            : agent::v1::DesiredAttempt::RUN);
  *desired->mutable_grace() = ToProtoDuration(options.stop_grace);
}

absl::Status SetTask(const State& state, const JobEntry& entry,
                     agent::v1::DesiredAttempt* desired) {
  const jobs::v1::JobSpec::Kind kind = entry.job->facts->kind;
  if (kind == jobs::v1::JobSpec::EVALUATE) {
    return SetEvaluateTask(state, entry, desired->mutable_evaluate());
  }
  if (kind == jobs::v1::JobSpec::BENCHMARK) {
    return SetBenchmarkTask(entry, desired->mutable_benchmark());
  }
  if (SumsUp(kind)) {
    return SetSummarizeTask(state, entry, desired->mutable_summarize());
  }
  return SetTrainTask(state, entry, desired->mutable_train());
}

// Adds its task; the spec is read once for all sets that tell it. None when it
// cannot be read.
absl::Status AddTask(const State& state, JobEntry& entry,
                     agent::v1::DesiredAttempt* desired) {
  Live& live = *LiveIn(entry);
  if (live.spec == nullptr) {
    ORDO_ASSIGN_OR_RETURN(live.spec, entry.job->facts->spec->Get());
  }
  const absl::Status status = SetTask(state, entry, desired);
  if (!status.ok()) desired->clear_task();
  return status;
}

bool AllKnow(const std::vector<LiveRank>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const LiveRank& rank) {
    return rank.observed || rank.over;
  });
}

// A rank that is on the worker.
struct Placed {
  const RankId* id;
  JobEntry* entry;

  LiveRank& rank() const { return LiveIn(*entry)->ranks[id->second]; }
};

// Those that the worker has been told of, and, in the order in which they
// start, those that it has not: what it was told of stays told before what was
// not, also after a restart of the scheduler.
struct Ranks {
  std::vector<Placed> told;
  std::vector<Placed> others;
};

Ranks RanksOn(State& state, const Worker& worker) {
  Ranks ranks;
  for (const RankId& id : worker.live) {
    const Placed placed{&id, &state.jobs.at(id.first)};
    const bool told = placed.rank().told || placed.rank().observed;
    (told ? ranks.told : ranks.others).push_back(placed);
  }
  std::sort(ranks.others.begin(), ranks.others.end(),
            [](const Placed& a, const Placed& b) {
              return std::tie(LiveIn(*a.entry)->started, *a.id) <
                     std::tie(LiveIn(*b.entry)->started, *b.id);
            });
  return ranks;
}

// Returns the bytes that it takes if its task is among them, else 0. All but
// its task is told, too, when that cannot be.
absl::StatusOr<size_t> SetDesiredOf(const State& state, const Worker& worker,
                                    const Placed& placed,
                                    agent::v1::DesiredAttempt* desired) {
  JobEntry& entry = *placed.entry;
  const LiveRank& rank = placed.rank();
  const JobRecord& job = *entry.job;
  desired->set_job(job.id());
  desired->set_attempt(job.attempt_number());
  desired->set_rank(placed.id->second);
  SetAction(state, entry, worker, desired);
  const absl::Duration step_timeout = job.facts->demand().step_timeout;
  if (step_timeout > absl::ZeroDuration()) {
    *desired->mutable_step_timeout() = ToProtoDuration(step_timeout);
  }
  for (const std::string& device : rank.devices) desired->add_devices(device);
  desired->set_acknowledged_records(AcknowledgedOf(job, placed.id->second));
  // The worker keeps the task of what it has observed, and starts nothing that
  // is to end.
  if (rank.observed || desired->action() != agent::v1::DesiredAttempt::RUN) {
    Live& live = *LiveIn(entry);
    if (AllKnow(live.ranks)) live.spec = nullptr;
    return 0;
  }
  ORDO_RETURN_IF_ERROR(AddTask(state, entry, desired));
  return desired->ByteSizeLong();
}

}  // namespace

void EmitDesired(Turn& turn, Worker& worker) {
  if (worker.liveness != Worker::Liveness::kOnline) return;
  const std::shared_ptr<agent::v1::SetDesiredRequest> request = NewRequest();
  request->set_worker(worker.id);
  request->set_incarnation(worker.incarnation);
  request->set_epoch(turn.state.options.epoch);
  request->set_sequence(++turn.state.desired_sequence);
  const Ranks ranks = RanksOn(turn.state, worker);
  SetDesired set{worker.address, request};
  size_t num_bytes = 0;
  // It ends what it has started and is not listed.
  for (const Placed& placed : ranks.told) {
    const absl::StatusOr<size_t> size =
        SetDesiredOf(turn.state, worker, placed, request->add_attempts());
    num_bytes += size.value_or(0);
    if (!size.ok()) set.untold.push_back(size.status());
  }
  worker.left_out = false;
  for (const Placed& placed : ranks.others) {
    const absl::StatusOr<size_t> size =
        SetDesiredOf(turn.state, worker, placed, request->add_attempts());
    if (!size.ok()) {
      // With the next set, at the latest the next heartbeat's.
      request->mutable_attempts()->RemoveLast();
      set.untold.push_back(size.status());
      continue;
    }
    // One that is too large for any set goes alone.
    worker.left_out = num_bytes > 0 && num_bytes + *size > base::kMaxTasksBytes;
    if (worker.left_out) {
      // Nor those after it, or it might wait for ever.
      request->mutable_attempts()->RemoveLast();
      break;
    }
    num_bytes += *size;
    placed.rank().told = true;
  }
  turn.Emit(std::move(set));
}

}  // namespace ordo::scheduler::core
