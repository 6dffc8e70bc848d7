#include "scheduler/core/desired.h"

#include <memory>

#include "scheduler/core/ranks.h"
#include "scheduler/core/task.h"

namespace ordo::scheduler::core {
namespace {

void SetAction(const State& state, const JobEntry& entry,
               agent::v1::DesiredAttempt* desired) {
  const Options& options = state.options;
  const Asked asked = AskedOf(state, entry);
  if (asked == Asked::kKill) {
    const bool cancelled = entry.job->state == jobs::v1::Job::CANCELLING;
    desired->set_action(agent::v1::DesiredAttempt::KILL);
    *desired->mutable_grace() =
        ToProtoDuration(cancelled ? options.cancel_grace : options.rank_grace);
    return;
  }
  desired->set_action(asked == Asked::kStop ? agent::v1::DesiredAttempt::STOP
                                            : agent::v1::DesiredAttempt::RUN);
  *desired->mutable_grace() = ToProtoDuration(options.stop_grace);
}

agent::v1::DesiredAttempt DesiredOf(const State& state, const RankId& id) {
  const JobEntry& entry = state.jobs.at(id.first);
  const LiveRank& rank = LiveIn(entry)->ranks[id.second];
  const JobRecord& job = *entry.job;
  agent::v1::DesiredAttempt desired;
  desired.set_job(job.id());
  desired.set_attempt(job.attempt_number());
  desired.set_rank(id.second);
  SetAction(state, entry, &desired);
  const auto& step_timeout = job.facts->spec->retry().step_timeout();
  if (ToDuration(step_timeout) > absl::ZeroDuration()) {
    *desired.mutable_step_timeout() = step_timeout;
  }
  for (const std::string& device : rank.devices) desired.add_devices(device);
  desired.set_acknowledged_records(AcknowledgedOf(job, id.second));
  // The worker keeps the task of what it has observed.
  if (rank.observed) return desired;
  if (job.facts->kind == jobs::v1::JobSpec::EVALUATE) {
    *desired.mutable_evaluate() = EvaluateTask(state, entry);
  } else if (job.facts->kind == jobs::v1::JobSpec::BENCHMARK) {
    *desired.mutable_benchmark() = BenchmarkTask(entry);
  } else {
    *desired.mutable_train() = TrainTask(state, entry);
  }
  return desired;
}

}  // namespace

void EmitDesired(Turn& turn, const Worker& worker) {
  if (worker.liveness != Worker::Liveness::kOnline) return;
  auto request = std::make_shared<agent::v1::SetDesiredRequest>();
  request->set_worker(worker.id);
  request->set_incarnation(worker.incarnation);
  request->set_epoch(turn.state.options.epoch);
  request->set_sequence(++turn.state.desired_sequence);
  for (const RankId& id : worker.live) {
    *request->add_attempts() = DesiredOf(turn.state, id);
  }
  turn.Emit(SetDesired{worker.address, std::move(request)});
}

}  // namespace ordo::scheduler::core
