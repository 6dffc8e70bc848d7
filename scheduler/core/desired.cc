#include "scheduler/core/desired.h"

#include <memory>

#include "scheduler/core/task.h"

namespace ordo::scheduler::core {
namespace {

agent::v1::DesiredAttempt DesiredOf(const State& state, const Worker& worker,
                                    const JobEntry& entry) {
  const Live& live = std::get<Live>(entry.place);
  const JobRecord& job = *entry.job;
  agent::v1::DesiredAttempt desired;
  desired.set_job(job.id());
  desired.set_attempt(job.attempt_number());
  if (job.state == jobs::v1::Job::CANCELLING) {
    desired.set_action(agent::v1::DesiredAttempt::KILL);
    *desired.mutable_grace() = ToProtoDuration(state.options.cancel_grace);
  } else {
    desired.set_action(worker.draining ? agent::v1::DesiredAttempt::STOP
                                       : agent::v1::DesiredAttempt::RUN);
    *desired.mutable_grace() = ToProtoDuration(state.options.stop_grace);
  }
  if (job.facts->step_timeout > absl::ZeroDuration()) {
    *desired.mutable_step_timeout() = ToProtoDuration(job.facts->step_timeout);
  }
  desired.add_devices(live.device);
  desired.set_acknowledged_records(job.acknowledged_records);
  // The worker keeps the task of what it has observed.
  if (live.observed) return desired;
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
  for (const std::string& job : worker.live) {
    *request->add_attempts() =
        DesiredOf(turn.state, worker, turn.state.jobs.at(job));
  }
  turn.Emit(SetDesired{worker.address, std::move(request)});
}

}  // namespace ordo::scheduler::core
