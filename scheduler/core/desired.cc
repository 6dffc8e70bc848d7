#include "scheduler/core/desired.h"

#include <memory>

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

// Of a rank that is on the worker.
void SetDesiredOf(const State& state, const Worker& worker, const RankId& id,
                  agent::v1::DesiredAttempt* desired) {
  const JobEntry& entry = state.jobs.at(id.first);
  const LiveRank& rank = LiveIn(entry)->ranks[id.second];
  const JobRecord& job = *entry.job;
  desired->set_job(job.id());
  desired->set_attempt(job.attempt_number());
  desired->set_rank(id.second);
  SetAction(state, entry, worker, desired);
  const auto& step_timeout = job.facts->spec->retry().step_timeout();
  if (ToDuration(step_timeout) > absl::ZeroDuration()) {
    *desired->mutable_step_timeout() = step_timeout;
  }
  for (const std::string& device : rank.devices) desired->add_devices(device);
  desired->set_acknowledged_records(AcknowledgedOf(job, id.second));
  // The worker keeps the task of what it has observed.
  if (rank.observed) return;
  if (job.facts->kind == jobs::v1::JobSpec::EVALUATE) {
    SetEvaluateTask(state, entry, desired->mutable_evaluate());
  } else if (job.facts->kind == jobs::v1::JobSpec::BENCHMARK) {
    SetBenchmarkTask(entry, desired->mutable_benchmark());
  } else if (SumsUp(job.facts->kind)) {
    SetSummarizeTask(state, entry, desired->mutable_summarize());
  } else {
    SetTrainTask(state, entry, desired->mutable_train());
  }
}

}  // namespace

void EmitDesired(Turn& turn, const Worker& worker) {
  if (worker.liveness != Worker::Liveness::kOnline) return;
  const std::shared_ptr<agent::v1::SetDesiredRequest> request = NewRequest();
  request->set_worker(worker.id);
  request->set_incarnation(worker.incarnation);
  request->set_epoch(turn.state.options.epoch);
  request->set_sequence(++turn.state.desired_sequence);
  for (const RankId& id : worker.live) {
    SetDesiredOf(turn.state, worker, id, request->add_attempts());
  }
  turn.Emit(SetDesired{worker.address, request});
}

}  // namespace ordo::scheduler::core
