#include "tests/releases/history.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "scheduler/core/present.h"
#include "scheduler/policy/fair.h"
#include "worker/agent/facts.h"

namespace ordo::tests::releases {
namespace {

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using jobs::v1::JobSpec;
using training::v1::ProgressRecord;

constexpr char kWorker[] = "w1";
constexpr char kIncarnation[] = "w1-first";
constexpr int kNumDevices = 48;

// What becomes of a job: the last digit of its number.
enum Role {
  kSucceeds,
  kHasABadSpec,
  kExhaustsItsAttempts,
  kIsCancelledWhileItWaits,
  kIsCancelledWhileItRuns,
  kRuns,
  kIsBeingCancelled,
  kStarts,
  kBacksOff,
  kWaits,
};

Role RoleOf(int number) { return static_cast<Role>(number % 10); }

void MakeTraining(int number, JobSpec* spec) {
  spec->set_kind(JobSpec::TRAIN);
  spec->mutable_model()->set_preset("tiny");
  spec->mutable_model()->set_layers(2);
  spec->mutable_encoding()->set_name("rope");
  (*spec->mutable_encoding()->mutable_params())["base"].set_number_value(
      10000 + number % 3);
  spec->mutable_data()->set_task("addition");
  spec->mutable_training()->set_steps(100);
  spec->mutable_training()->set_batch_size(8);
  spec->mutable_checkpoint()->set_every_steps(10);
  spec->mutable_checkpoint()->set_keep(2);
}

scheduler::NewJob MakeJob(int number) {
  scheduler::NewJob job;
  job.name = JobId(number);
  JobSpec& spec = job.OwnSpec();
  const std::string first = absl::StrCat("jobs/", JobId(0), "/checkpoints/");
  if (number == 25 || number == 37) {
    spec.set_kind(JobSpec::BENCHMARK);
    spec.mutable_benchmark()->set_seconds(0.5);
  } else if (number == 15 || number == 27) {
    spec.set_kind(JobSpec::EVALUATE);
    spec.add_checkpoints(first + "10-1");
    training::v1::Evaluation& evaluation = *spec.add_evaluations();
    evaluation.set_task("addition");
    // Of two that ask the same, one would wait for the other.
    evaluation.set_seed(number);
  } else if (number == 20) {
    spec.set_kind(JobSpec::IMPORT);
    job.imported.emplace();
    job.imported->set_step(7);
    job.imported->set_manifest_sha256("imported");
  } else {
    MakeTraining(number, &spec);
  }
  if (number == 47) spec.set_start_from(first + "10-1");
  spec.set_queue("default");
  (*spec.mutable_labels())["team"] = number % 2 == 0 ? "even" : "odd";
  const bool waits =
      RoleOf(number) == kIsCancelledWhileItWaits || RoleOf(number) == kWaits;
  spec.mutable_resources()->set_device(waits ? "cuda" : "cpu");
  spec.mutable_resources()->set_ranks(1);
  spec.mutable_resources()->set_threads(2);
  spec.mutable_retry()->set_max_attempts(
      RoleOf(number) == kExhaustsItsAttempts ? 2 : 3);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(600);
  if (number % 2 == 0) job.request_id = absl::StrCat("request-", number);
  job.fingerprint = absl::StrCat("fingerprint-", number);
  job.owner.set_user(number % 3 == 0 ? "ada" : "grace");
  if (number % 7 == 0) job.notices = {"a notice about its kernel"};
  return job;
}

ObservedAttempt Attempt(int number, int attempt, ObservedAttempt::Phase phase) {
  ObservedAttempt observed;
  observed.set_job(JobId(number));
  observed.set_attempt(attempt);
  observed.set_phase(phase);
  return observed;
}

ObservedAttempt Running(int number, int attempt, int64_t step) {
  ObservedAttempt observed = Attempt(number, attempt, ObservedAttempt::RUNNING);
  observed.mutable_run_time()->set_seconds(1'700'000'001);
  observed.mutable_started()->set_exact(true);
  observed.mutable_started()->set_state_digest("start");
  observed.mutable_first_step_time()->set_seconds(1'700'000'002);
  observed.mutable_step()->set_step(step);
  observed.mutable_step()->set_total_steps(100);
  return observed;
}

ObservedAttempt Ended(ObservedAttempt observed, ObservedAttempt::Cause cause,
                      int code) {
  observed.set_phase(ObservedAttempt::EXITED);
  observed.set_cause(cause);
  if (cause == ObservedAttempt::EXIT) {
    observed.set_exit_code(code);
    observed.mutable_finished()->set_step(observed.step().step());
    observed.mutable_finished()->set_state_digest("end");
  } else {
    observed.set_signal(code);
  }
  return observed;
}

void AddCheckpoint(int64_t number, int64_t step, ObservedAttempt* observed) {
  agent::v1::DurableRecord& record = *observed->add_records();
  record.set_number(number);
  record.mutable_time()->set_seconds(1'700'000'002 + step);
  auto& written = *record.mutable_checkpoint();
  written.set_id(absl::StrCat(step, "-", observed->attempt()));
  written.set_step(step);
  written.set_manifest_sha256(absl::StrCat("manifest-", step));
}

void AddReportAndWarning(ObservedAttempt* observed) {
  agent::v1::DurableRecord& report = *observed->add_records();
  report.set_number(observed->records_size());
  report.mutable_report()->set_id("addition-20");
  report.mutable_report()->set_task("addition");
  report.mutable_report()->set_folder(
      absl::StrCat("results/addition-20-", observed->attempt()));
  agent::v1::DurableRecord& warning = *observed->add_records();
  warning.set_number(observed->records_size());
  warning.mutable_warning()->set_message("the disk is slow");
}

}  // namespace

std::string JobId(int number) { return absl::StrFormat("job-%02d", number); }

History::History(scheduler::store::Store& store) : store_(store) {
  state_.options.place = &scheduler::policy::PlaceFair;
  EXPECT_TRUE(store.Load().ok());
}

void History::Apply(scheduler::core::Event event) {
  std::vector<scheduler::core::Record> records;
  for (const scheduler::core::Effect& effect :
       scheduler::core::Apply(state_, std::move(event), now_)) {
    if (const auto* record = std::get_if<scheduler::core::Record>(&effect)) {
      records.push_back(*record);
    } else if (const auto* set =
                   std::get_if<scheduler::core::SetDesired>(&effect)) {
      desired_ = *set->request;
    } else if (const auto* answer =
                   std::get_if<scheduler::core::Answer>(&effect)) {
      EXPECT_TRUE(answer->jobs.ok()) << answer->jobs.status();
    }
  }
  ORDO_EXPECT_OK(store_.Commit(records));
}

void History::Submit(int number) {
  Apply(scheduler::core::Submit{1, {MakeJob(number)}});
}

void History::Observe(const std::vector<ObservedAttempt>& attempts) {
  scheduler::core::Observed event{kWorker, kIncarnation, {}};
  event.observed.set_sequence(++observed_sequence_);
  for (const ObservedAttempt& attempt : attempts) {
    *event.observed.add_attempts() = attempt;
  }
  Apply(event);
}

void History::Pass(absl::Duration duration) {
  // In steps below the lease, with a word of the worker in each.
  for (; duration > absl::ZeroDuration(); duration -= absl::Seconds(1)) {
    now_.wall += absl::Seconds(1);
    now_.monotonic += absl::Seconds(1);
    Observe({});
  }
}

void History::EndSomeJobs() {
  for (int number = 0; number < kNumJobs; ++number) {
    if (number == 20) continue;  // The imported one.
    ObservedAttempt running = Running(number, 1, 20);
    switch (RoleOf(number)) {
      case kSucceeds:
        AddCheckpoint(1, 10, &running);
        AddCheckpoint(2, 20, &running);
        AddReportAndWarning(&running);
        Observe(
            {Ended(running, ObservedAttempt::EXIT, training::v1::FINISHED)});
        break;
      case kHasABadSpec:
        Observe({Ended(Attempt(number, 1, ObservedAttempt::RUNNING),
                       ObservedAttempt::EXIT, training::v1::BAD_SPEC)});
        break;
      case kExhaustsItsAttempts:
        Observe({Ended(running, ObservedAttempt::SIGNAL, 11)});
        break;
      case kIsCancelledWhileItWaits:
        Apply(scheduler::core::Cancel{1, JobId(number), "ada"});
        break;
      case kIsCancelledWhileItRuns:
        Observe({running});
        Apply(scheduler::core::Cancel{1, JobId(number), "grace"});
        Observe({Ended(running, ObservedAttempt::KILLED, 9)});
        break;
      case kRuns:
        AddCheckpoint(1, 10, &running);
        Observe({running});
        break;
      case kIsBeingCancelled:
        Observe({running});
        Apply(scheduler::core::Cancel{1, JobId(number), "ada"});
        break;
      default:
        break;
    }
  }
}

void History::Play() {
  agent::v1::AnnounceRequest request;
  request.set_worker(kWorker);
  request.set_incarnation(kIncarnation);
  request.set_address("127.0.0.1:1");
  for (int i = 0; i < kNumDevices; ++i) {
    request.add_devices()->set_name(absl::StrCat("cpu:", i));
  }
  request.mutable_observed()->set_sequence(++observed_sequence_);
  Apply(scheduler::core::Announced{request});
  Observe({});
  Submit(0);
  ObservedAttempt first = Running(0, 1, 5);
  AddCheckpoint(1, 10, &first);
  Observe({first});
  for (int number = 1; number < kNumJobs; ++number) Submit(number);
  all_placed_ = desired_;
  EndSomeJobs();
  Pass(absl::Seconds(5));
  for (int number = 0; number < kNumJobs; ++number) {
    if (RoleOf(number) == kExhaustsItsAttempts) {
      Observe({Ended(Running(number, 2, 30), ObservedAttempt::HANG, 0)});
    } else if (RoleOf(number) == kBacksOff) {
      Observe({Ended(Running(number, 1, 3), ObservedAttempt::HANG, 0)});
    }
  }
}

agent::v1::AnnounceRequest AnnouncementAfter(const History& history) {
  worker::agent::Core core(kWorker, kIncarnation, "/opt/ordo/ordo-trainer");
  for (const DesiredAttempt& attempt : history.all_placed().attempts()) {
    for (const DesiredAttempt& now : history.desired().attempts()) {
      if (now.job() == attempt.job() &&
          now.task_case() == DesiredAttempt::TASK_NOT_SET) {
        core.Adopt(attempt);
      }
    }
  }
  EXPECT_TRUE(core.SetDesired(history.desired()).ok());
  ProgressRecord started;
  started.mutable_time()->set_seconds(1'700'000'010);
  started.mutable_started()->set_exact(true);
  ProgressRecord step = started;
  step.mutable_step()->set_step(4);
  step.mutable_step()->set_total_steps(100);
  ProgressRecord checkpoint = started;
  checkpoint.mutable_checkpoint()->set_id("4-1");
  checkpoint.mutable_checkpoint()->set_step(4);
  checkpoint.mutable_checkpoint()->set_manifest_sha256("manifest-4");
  ProgressRecord evaluation = started;
  evaluation.mutable_evaluation()->set_name("addition");
  evaluation.mutable_evaluation()->set_total(9);
  ProgressRecord finished = started;
  finished.mutable_finished()->set_step(100);

  worker::agent::SupervisorFacts exited;
  exited.exit.emplace();
  exited.group_empty = true;
  for (const ProgressRecord& record : {started, step, checkpoint}) {
    core.OnProgress({JobId(7), 1}, record);
  }
  for (const ProgressRecord& record : {started, step, finished}) {
    core.OnProgress({JobId(17), 1}, record);
  }
  core.OnFacts({JobId(17), 1}, exited);
  core.OnProgress({JobId(27), 1}, started);
  core.OnProgress({JobId(27), 1}, evaluation);
  core.OnStartFailed({JobId(37), 1}, ObservedAttempt::HOST_FAILED,
                     "no more processes");
  exited.exit->signal = 9;
  core.OnFacts({JobId(6), 1}, exited);

  agent::v1::AnnounceRequest request;
  request.set_worker(kWorker);
  request.set_incarnation(kIncarnation);
  request.set_address("127.0.0.1:1");
  for (int i = 0; i < kNumDevices; ++i) {
    auto& device = *request.add_devices();
    device.set_name(absl::StrCat("cpu:", i));
    device.set_kind("cpu");
  }
  request.set_build_digest("build");
  request.set_protocol(base::kWorkerProtocol);
  (*request.mutable_labels())["zone"] = "north";
  *request.mutable_observed() = core.Observed();
  // After all that History told of the same incarnation.
  request.mutable_observed()->set_sequence(1000);
  return request;
}

namespace {

// What the first release knew of a job.
jobs::v1::Job AsFirst(jobs::v1::Job job) {
  job.clear_priority();
  job.clear_held_by();
  job.clear_interruptions();
  job.clear_queue_time();
  job.clear_waited();
  for (jobs::v1::Attempt& attempt : *job.mutable_attempts()) {
    attempt.clear_ranks();
    attempt.clear_device_seconds();
    attempt.clear_idle_device_seconds();
    attempt.clear_lost_device_seconds();
    attempt.clear_lost_steps();
  }
  return job;
}

}  // namespace

std::string Describe(const scheduler::core::Records& records) {
  std::string text;
  for (const auto& record : records.jobs) {
    const jobs::v1::Job job = AsFirst(*scheduler::core::Present(*record));
    absl::StrAppend(&text, job.ShortDebugString(), " request '",
                    std::string(record->facts->request.id()), "' fingerprint '",
                    record->facts->request.fingerprint(), "' incarnation '",
                    record->incarnation.value(), "' acknowledged ",
                    record->acknowledged_records, "\n");
  }
  for (const auto& checkpoint : records.checkpoints) {
    absl::StrAppend(&text, checkpoint->ShortDebugString(), "\n");
  }
  for (const auto& report : records.reports) {
    absl::StrAppend(&text, report->ShortDebugString(), "\n");
  }
  return text;
}

}  // namespace ordo::tests::releases
