#include "scheduler/core/desired.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status/status.h"
#include "google/protobuf/arena.h"
#include "proto/ordo/training/v1/spec.pb.h"
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
  if (kind == jobs::v1::JobSpec::GATE) {
    return SetGateTask(state, entry, desired->mutable_gate());
  }
  return SetTrainTask(state, entry, desired->mutable_train());
}

absl::StatusOr<SummaryPtr> SummaryOf(const State& state,
                                     const JobEntry& entry) {
  const auto summary = std::make_shared<training::v1::SummarizeSpec>();
  ORDO_RETURN_IF_ERROR(SetSummarizeTask(state, entry, summary.get()));
  return summary;
}

// Adds its task. Specs, its own and those of its parts, are read once for all
// sets that tell it: whoever was told once can be told again. No task when they
// cannot be read.
absl::Status AddTask(const State& state, JobEntry& entry,
                     agent::v1::DesiredAttempt* desired) {
  Live& live = *LiveIn(entry);
  if (SumsUp(entry.job->facts->kind)) {
    if (live.summary == nullptr) {
      ORDO_ASSIGN_OR_RETURN(live.summary, SummaryOf(state, entry));
    }
    *desired->mutable_summarize() = *live.summary;
    return absl::OkStatus();
  }
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

// Those that the worker has been told of in this life of the scheduler, and, in
// the order in which they start, those that it has not: what it was told of
// stays told before what was not. After a restart of the scheduler the order
// stands for what was told, so long as the worker has not said what it has.
// Starts are rebuilt from times of the wall clock: if that was set back between
// two of them, and the worker takes a set from before the restart after it has
// announced itself, the next set may leave out what it has just begun, which
// ends it as an interruption.
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

// All but its task.
void SetAttempt(const State& state, const Worker& worker, const Placed& placed,
                agent::v1::DesiredAttempt* desired) {
  const JobEntry& entry = *placed.entry;
  const JobRecord& job = *entry.job;
  desired->set_job(job.id());
  desired->set_attempt(job.attempt_number());
  desired->set_rank(placed.id->second);
  SetAction(state, entry, worker, desired);
  const absl::Duration step_timeout = job.facts->demand().step_timeout;
  if (step_timeout > absl::ZeroDuration()) {
    *desired->mutable_step_timeout() = ToProtoDuration(step_timeout);
  }
  for (const std::string& device : placed.rank().devices) {
    desired->add_devices(device);
  }
  desired->set_acknowledged_records(AcknowledgedOf(job, placed.id->second));
  desired->set_traceparent(job.facts->request.trace_parent());
}

// The worker keeps the task of what it has observed, and starts nothing that is
// to end. What tasks are made of goes when no rank needs one any more.
bool NeedsTask(const Placed& placed, const agent::v1::DesiredAttempt& desired) {
  if (!placed.rank().observed &&
      desired.action() == agent::v1::DesiredAttempt::RUN) {
    return true;
  }
  Live& live = *LiveIn(*placed.entry);
  if (AllKnow(live.ranks)) {
    live.spec = nullptr;
    live.summary = nullptr;
  }
  return false;
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
    agent::v1::DesiredAttempt& desired = *request->add_attempts();
    SetAttempt(turn.state, worker, placed, &desired);
    if (!NeedsTask(placed, desired)) continue;
    const absl::Status status = AddTask(turn.state, *placed.entry, &desired);
    if (!status.ok()) set.untold.push_back(status);
    num_bytes += desired.ByteSizeLong();
  }
  worker.left_out = false;
  for (const Placed& placed : ranks.others) {
    agent::v1::DesiredAttempt& desired = *request->add_attempts();
    SetAttempt(turn.state, worker, placed, &desired);
    if (NeedsTask(placed, desired)) {
      absl::Status status;
      // None after one without room, or that might wait for ever.
      if (!worker.left_out) {
        status = AddTask(turn.state, *placed.entry, &desired);
      }
      const size_t size = desired.ByteSizeLong();
      if (!status.ok()) {
        // With the next set, at the latest the next heartbeat's.
        set.untold.push_back(status);
      } else if (num_bytes > 0 &&
                 num_bytes + size > turn.state.options.max_tasks_bytes) {
        // One that is too large for any set goes alone.
        worker.left_out = true;
      }
      if (!status.ok() || worker.left_out) {
        request->mutable_attempts()->RemoveLast();
        continue;
      }
      num_bytes += size;
    }
    placed.rank().told = true;
  }
  turn.Emit(std::move(set));
}

}  // namespace ordo::scheduler::core
