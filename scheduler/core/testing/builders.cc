#include "scheduler/core/testing/builders.h"

#include "absl/strings/str_cat.h"
#include "base/version/worker_protocol.h"
#include "scheduler/core/moment.h"

namespace ordo::scheduler::core::testing {

JobBuilder::JobBuilder(const std::string& name) {
  job_.name = name;
  jobs::v1::JobSpec& spec = job_.OwnSpec();
  spec.set_kind(jobs::v1::JobSpec::TRAIN);
  spec.set_queue("default");
  spec.mutable_resources()->set_device("cpu");
  spec.mutable_resources()->set_ranks(1);
  spec.mutable_retry()->set_max_attempts(3);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(600);
  spec.mutable_checkpoint()->set_keep(3);
  spec.mutable_training()->set_steps(100);
  job_.owner.set_user("ada");
}

JobBuilder& JobBuilder::Device(const std::string& kind) {
  job_.OwnSpec().mutable_resources()->set_device(kind);
  return *this;
}

JobBuilder& JobBuilder::MaxAttempts(int count) {
  job_.OwnSpec().mutable_retry()->set_max_attempts(count);
  return *this;
}

JobBuilder& JobBuilder::Keep(int count) {
  job_.OwnSpec().mutable_checkpoint()->set_keep(count);
  return *this;
}

JobBuilder& JobBuilder::KeepOptimizer(int count) {
  job_.OwnSpec().mutable_checkpoint()->set_keep_optimizer(count);
  return *this;
}

JobBuilder& JobBuilder::RequestId(const std::string& id,
                                  const std::string& fingerprint) {
  job_.request_id = id;
  job_.fingerprint = fingerprint;
  return *this;
}

JobBuilder& JobBuilder::EvaluatesItself(const std::string& name) {
  training::v1::Evaluation& evaluation = *job_.OwnSpec().add_evaluations();
  evaluation.set_task("addition");
  evaluation.set_name(name);
  return *this;
}

JobBuilder& JobBuilder::Evaluates(const std::vector<std::string>& checkpoints) {
  job_.OwnSpec().set_kind(jobs::v1::JobSpec::EVALUATE);
  for (const std::string& name : checkpoints)
    job_.OwnSpec().add_checkpoints(name);
  return *this;
}

JobBuilder& JobBuilder::StartFrom(const std::string& checkpoint) {
  job_.OwnSpec().set_start_from(checkpoint);
  return *this;
}

JobBuilder& JobBuilder::Gates(const std::string& candidate,
                              const std::string& baseline) {
  job_.OwnSpec().set_kind(jobs::v1::JobSpec::GATE);
  job_.OwnSpec().mutable_gate()->set_candidate(candidate);
  job_.OwnSpec().mutable_gate()->set_baseline(baseline);
  return *this;
}

JobBuilder& JobBuilder::Ranks(int count, int devices) {
  job_.OwnSpec().mutable_resources()->set_ranks(count);
  job_.OwnSpec().mutable_resources()->set_devices(devices);
  return *this;
}

JobBuilder& JobBuilder::Held() {
  job_.OwnSpec().set_hold(true);
  return *this;
}

JobBuilder& JobBuilder::Needs(const std::string& job) {
  job_.OwnSpec().add_needs()->set_job("jobs/" + job);
  return *this;
}

JobBuilder& JobBuilder::NeedsEnded(const std::string& job) {
  jobs::v1::Need& need = *job_.OwnSpec().add_needs();
  need.set_job("jobs/" + job);
  need.set_condition(jobs::v1::Need::ENDED);
  return *this;
}

JobBuilder& JobBuilder::Priority(int priority) {
  job_.OwnSpec().set_priority(priority);
  return *this;
}

JobBuilder& JobBuilder::Sweeps(const std::vector<std::string>& parts,
                               int max_parallel) {
  job_.OwnSpec().set_kind(jobs::v1::JobSpec::SWEEP);
  jobs::v1::Sweep& sweep = *job_.OwnSpec().mutable_sweep();
  if (max_parallel > 0) sweep.set_max_parallel(max_parallel);
  job_.parts = parts;
  return *this;
}

JobBuilder& JobBuilder::StopsEarly(const jobs::v1::EarlyStopping& rule) {
  *job_.OwnSpec().mutable_sweep()->mutable_early_stopping() = rule;
  return *this;
}

JobBuilder& JobBuilder::TunedBy(const std::vector<std::string>& trials) {
  for (const std::string& name : trials) NeedsEnded(name);
  jobs::v1::TunedBy& tuned_by = *job_.OwnSpec().mutable_tuned_by();
  tuned_by.set_evaluation("held");
  tuned_by.set_metric("score");
  tuned_by.set_goal("max");
  for (const std::string& name : trials) {
    jobs::v1::TunedBy::Trial& trial = *tuned_by.add_trials();
    trial.set_job("jobs/" + name);
    trial.set_learning_rate(tuned_by.trials_size());
  }
  return *this;
}

JobBuilder& JobBuilder::PacedBy(const std::string& own,
                                const std::string& baseline) {
  jobs::v1::PacedBy& paced_by = *job_.OwnSpec().mutable_paced_by();
  paced_by.set_own("jobs/" + own);
  paced_by.set_baseline("jobs/" + baseline);
  return Needs(own).Needs(baseline);
}

JobBuilder& JobBuilder::PartOf(const std::string& parent,
                               const std::string& part) {
  job_.parent = parent;
  job_.part = part;
  return *this;
}

JobBuilder& JobBuilder::MaxInterruptions(int count) {
  job_.OwnSpec().mutable_retry()->set_max_interruptions(count);
  return *this;
}

JobBuilder& JobBuilder::QueueTimeLimit(absl::Duration limit) {
  *job_.OwnSpec().mutable_queue_time_limit() = ToProtoDuration(limit);
  return *this;
}

JobBuilder& JobBuilder::RunTimeLimit(absl::Duration limit) {
  *job_.OwnSpec().mutable_run_time_limit() = ToProtoDuration(limit);
  return *this;
}

AttemptBuilder::AttemptBuilder(const std::string& job, int attempt, int rank) {
  attempt_.set_job(job);
  attempt_.set_attempt(attempt);
  attempt_.set_rank(rank);
  attempt_.set_phase(agent::v1::ObservedAttempt::STARTING);
}

AttemptBuilder& AttemptBuilder::Running(int64_t start_step) {
  attempt_.set_phase(agent::v1::ObservedAttempt::RUNNING);
  attempt_.mutable_run_time()->set_seconds(1'700'000'001);
  attempt_.mutable_started()->set_start_step(start_step);
  attempt_.mutable_started()->set_exact(true);
  return *this;
}

AttemptBuilder& AttemptBuilder::Step(int64_t step, int64_t total_steps) {
  attempt_.mutable_first_step_time()->set_seconds(1'700'000'002);
  attempt_.mutable_step()->set_step(step);
  attempt_.mutable_step()->set_total_steps(total_steps);
  return *this;
}

AttemptBuilder& AttemptBuilder::Evaluating(const std::string& name) {
  attempt_.mutable_evaluation()->set_name(name);
  return *this;
}

AttemptBuilder& AttemptBuilder::Checkpoint(int64_t number, int64_t step) {
  agent::v1::DurableRecord& record = *attempt_.add_records();
  record.set_number(number);
  record.mutable_checkpoint()->set_id(
      absl::StrCat(step, "-", attempt_.attempt()));
  record.mutable_checkpoint()->set_step(step);
  record.mutable_checkpoint()->set_manifest_sha256(
      absl::StrCat("sha-", step, "-", attempt_.attempt()));
  for (const char* path : {"model.safetensors", "optimizer.safetensors"}) {
    record.mutable_checkpoint()->add_files()->set_path(path);
  }
  return *this;
}

AttemptBuilder& AttemptBuilder::Report(int64_t number, const std::string& id) {
  agent::v1::DurableRecord& record = *attempt_.add_records();
  record.set_number(number);
  record.mutable_report()->set_id(id);
  record.mutable_report()->set_folder(
      absl::StrCat("results/", id, "-", attempt_.attempt()));
  return *this;
}

AttemptBuilder& AttemptBuilder::Score(int64_t number,
                                      const std::string& evaluation,
                                      int64_t step, double score) {
  Report(number, absl::StrCat(evaluation, "-", step));
  training::v1::ReportWritten& report =
      *attempt_.mutable_records()->rbegin()->mutable_report();
  report.set_step(step);
  report.set_checkpoint(absl::StrCat(step, "-", attempt_.attempt()));
  (*report.mutable_metrics())["score"] = score;
  return *this;
}

AttemptBuilder& AttemptBuilder::Warning(int64_t number,
                                        const std::string& message) {
  agent::v1::DurableRecord& record = *attempt_.add_records();
  record.set_number(number);
  record.mutable_warning()->set_message(message);
  return *this;
}

AttemptBuilder& AttemptBuilder::Exited(int exit_code) {
  attempt_.set_phase(agent::v1::ObservedAttempt::EXITED);
  attempt_.set_cause(agent::v1::ObservedAttempt::EXIT);
  attempt_.set_exit_code(exit_code);
  attempt_.mutable_finished()->set_step(attempt_.step().step());
  return *this;
}

AttemptBuilder& AttemptBuilder::ExitedAfter(double step_seconds) {
  Exited(0);
  attempt_.mutable_finished()->set_step_seconds(step_seconds);
  return *this;
}

AttemptBuilder& AttemptBuilder::Ended(agent::v1::ObservedAttempt::Cause cause,
                                      int signal) {
  attempt_.set_phase(agent::v1::ObservedAttempt::EXITED);
  attempt_.set_cause(cause);
  attempt_.set_signal(signal);
  return *this;
}

WorkerBuilder::WorkerBuilder(const std::string& id) {
  request_.set_worker(id);
  request_.set_incarnation(absl::StrCat(id, "-first"));
  request_.set_address("127.0.0.1:1");
  request_.set_protocol(base::kWorkerProtocol);
  request_.set_nccl(true);
  Devices({"cpu:0"});
}

WorkerBuilder& WorkerBuilder::Incarnation(const std::string& incarnation) {
  request_.set_incarnation(incarnation);
  return *this;
}

WorkerBuilder& WorkerBuilder::Devices(const std::vector<std::string>& names) {
  request_.clear_devices();
  for (const std::string& name : names) {
    workers::v1::Device& device = *request_.add_devices();
    device.set_name(name);
    device.set_kind(name.substr(0, name.find(':')));
  }
  return *this;
}

WorkerBuilder& WorkerBuilder::Protocol(int32_t version) {
  request_.set_protocol(version);
  return *this;
}

WorkerBuilder& WorkerBuilder::Draining() {
  request_.set_draining(true);
  return *this;
}

WorkerBuilder& WorkerBuilder::LeavesAt(absl::Time time) {
  *request_.mutable_leave_time() = ToTimestamp(time);
  return *this;
}

WorkerBuilder& WorkerBuilder::Sequence(int64_t sequence) {
  request_.mutable_observed()->set_sequence(sequence);
  return *this;
}

WorkerBuilder& WorkerBuilder::Runs(const agent::v1::ObservedAttempt& attempt) {
  *request_.mutable_observed()->add_attempts() = attempt;
  return *this;
}

}  // namespace ordo::scheduler::core::testing
