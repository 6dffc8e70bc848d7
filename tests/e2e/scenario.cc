#include "tests/e2e/scenario.h"

#include <climits>
#include <signal.h>
#include <stdlib.h>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"

namespace ordo::tests::e2e {

using jobs::v1::Job;

namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(2);
constexpr size_t kMaxDamagedBytes = 16 << 20;

void Prepare(grpc::ClientContext* context) {
  base::CallOptions call;
  call.user = base::LocalUser();
  call.wait_for_ready = true;
  base::PrepareCall(call, context);
}

}  // namespace

std::string ProgramPath(const std::string& name) {
  char resolved[PATH_MAX];
  const std::string path = harness::Program(name);
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

bool WaitFor(const std::function<bool()>& done) {
  const absl::Time deadline = absl::Now() + kDeadline;
  while (!done()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(kPollInterval);
  }
  return true;
}

harness::DeploymentOptions Scenario::Options(const std::string& fake) const {
  harness::DeploymentOptions options;
  options.folder = folder_.path();
  auto& scheduler = options.scheduler;
  scheduler.mutable_lease()->set_seconds(60);
  scheduler.mutable_heartbeat()->set_nanos(200'000'000);
  scheduler.mutable_retry_backoff()->set_nanos(50'000'000);
  scheduler.mutable_retry_backoff_max()->set_nanos(100'000'000);
  scheduler.mutable_cancel_grace()->set_seconds(1);
  scheduler.mutable_stop_grace()->set_seconds(30);
  options.worker.set_trainer(ProgramPath("tests/fake/fake_trainer"));
  options.worker.mutable_stop_grace()->set_seconds(30);
  (*options.worker.mutable_trainer_environment())["ORDO_FAKE"] = fake;
  return options;
}

harness::DeploymentOptions Scenario::RealOptions(
    const std::string& held_at) const {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  auto& environment = *options.worker.mutable_trainer_environment();
  environment["LD_PRELOAD"] = ProgramPath("tests/fake/libgate.so");
  environment["ORDO_GATE_PATH"] = "/jobs/job/" + held_at;
  environment["ORDO_GATE_KEY"] = folder_.Path("go");
  return options;
}

void Scenario::Start(const harness::DeploymentOptions& options) {
  trainer_ = options.worker.trainer();
  auto deployment = harness::Deployment::Start(options);
  ORDO_ASSERT_OK(deployment);
  deployment_ = *std::move(deployment);
}

void Scenario::TearDown() {
  if (deployment_ == nullptr) return;
  if (HasFailure()) {
    for (const std::string& name : files_.List(folder_.Path("log"))
                                       .value_or(std::vector<std::string>())) {
      auto log = base::ReadFile(files_, folder_.Path("log/" + name), 16 << 20);
      if (log.ok()) ADD_FAILURE() << name << ":\n" << *log;
    }
  }
  // One that a test has ended already is not there to be ended.
  for (int worker = 1; worker <= deployment_->num_workers(); ++worker) {
    deployment_->EndWorker(SIGTERM, worker).status().IgnoreError();
  }
  // Its drain has a test of its own.
  deployment_->EndScheduler(SIGKILL).status().IgnoreError();
  WaitFor([this] { return deployment_->Processes().empty(); });
  for (const base::RunningProcess& process : deployment_->Processes()) {
    ADD_FAILURE() << "left behind: " << process.id.pid << " "
                  << process.command_line;
  }
}

jobs::v1::JobSpec Scenario::Spec(const std::string& name) {
  jobs::v1::JobSpec spec;
  spec.set_kind(jobs::v1::JobSpec::TRAIN);
  spec.set_name(name);
  spec.mutable_model()->set_layers(1);
  spec.mutable_model()->set_width(16);
  spec.mutable_model()->set_heads(2);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  (*spec.mutable_data()->mutable_params())["max_digits"].set_number_value(2);
  spec.mutable_training()->set_steps(60);
  spec.mutable_training()->set_batch_size(4);
  spec.mutable_training()->set_log_every_steps(1);
  spec.mutable_checkpoint()->set_every_steps(20);
  spec.mutable_checkpoint()->set_keep(3);
  spec.mutable_resources()->set_threads(1);
  spec.mutable_retry()->set_max_attempts(2);
  return spec;
}

void Scenario::AddRopeAndAlibi(jobs::v1::Compare* compare) {
  compare->add_arms()->set_name("rope");
  jobs::v1::Compare::Arm& alibi = *compare->add_arms();
  alibi.set_name("alibi");
  (*(*alibi.mutable_set())["encoding"]
        .mutable_struct_value()
        ->mutable_fields())["name"]
      .set_string_value("alibi");
  compare->add_seeds(1);
}

jobs::v1::JobSpec Scenario::RopeAndAlibi(const std::string& name) {
  jobs::v1::JobSpec spec;
  spec.set_kind(jobs::v1::JobSpec::COMPARE);
  spec.set_name(name);
  spec.mutable_resources()->set_threads(1);
  jobs::v1::Compare& compare = *spec.mutable_compare();
  jobs::v1::JobSpec& run = *compare.mutable_run();
  run = Spec("");
  run.mutable_training()->set_steps(20);
  auto& evaluation = *run.add_evaluations();
  evaluation.set_task("addition_grid");
  (*evaluation.mutable_params())["max_digits"].set_number_value(2);
  (*evaluation.mutable_params())["samples"].set_number_value(2);
  AddRopeAndAlibi(&compare);
  return spec;
}

void Scenario::Submit(const jobs::v1::JobSpec& spec) {
  ORDO_ASSERT_OK(deployment_->Create(spec));
}

absl::StatusOr<Job> Scenario::Cancel(const std::string& job) {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::CancelJobRequest request;
  request.set_name("jobs/" + job);
  Job answer;
  ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
      deployment_->jobs().CancelJob(&context, request, &answer)));
  return answer;
}

absl::StatusOr<Job> Scenario::EndHold(const std::string& job) {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::ReleaseJobRequest request;
  request.set_name("jobs/" + job);
  Job answer;
  ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
      deployment_->jobs().ReleaseJob(&context, request, &answer)));
  return answer;
}

absl::StatusOr<jobs::v1::ExplainResponse> Scenario::Explain(
    const std::string& job) {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::ExplainRequest request;
  request.set_name("jobs/" + job);
  jobs::v1::ExplainResponse answer;
  ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
      deployment_->jobs().Explain(&context, request, &answer)));
  return answer;
}

absl::StatusOr<jobs::v1::ListJobsResponse> Scenario::List() {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::ListJobsResponse answer;
  ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
      deployment_->jobs().ListJobs(&context, {}, &answer)));
  return answer;
}

absl::StatusOr<std::string> Scenario::Log(const std::string& job,
                                          int64_t offset) {
  grpc::ClientContext context;
  Prepare(&context);
  jobs::v1::ReadLogsRequest request;
  request.set_name("jobs/" + job);
  request.set_offset(offset);
  auto stream = deployment_->jobs().ReadLogs(&context, request);
  std::string text;
  jobs::v1::ReadLogsResponse response;
  while (stream->Read(&response)) text += response.data();
  ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(stream->Finish()));
  return text;
}

absl::StatusOr<checkpoints::v1::Checkpoint> Scenario::LatestCheckpoint(
    const std::string& job) {
  grpc::ClientContext context;
  Prepare(&context);
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name("jobs/" + job + "/checkpoints/latest");
  checkpoints::v1::Checkpoint answer;
  auto stub = checkpoints::v1::CheckpointsService::NewStub(
      base::Connect(deployment_->api_address()));
  ORDO_RETURN_IF_ERROR(
      base::FromGrpcStatus(stub->GetCheckpoint(&context, request, &answer)));
  return answer;
}

absl::StatusOr<std::vector<std::string>> Scenario::Checkpoints(
    const std::string& job) {
  grpc::ClientContext context;
  Prepare(&context);
  checkpoints::v1::ListCheckpointsRequest request;
  request.set_parent("jobs/" + job);
  checkpoints::v1::ListCheckpointsResponse answer;
  auto stub = checkpoints::v1::CheckpointsService::NewStub(
      base::Connect(deployment_->api_address()));
  ORDO_RETURN_IF_ERROR(
      base::FromGrpcStatus(stub->ListCheckpoints(&context, request, &answer)));
  std::vector<std::string> names;
  for (const auto& checkpoint : answer.checkpoints()) {
    names.push_back(checkpoint.name());
  }
  return names;
}

std::string Scenario::ParametersDigest(const std::string& job) {
  const auto checkpoint = LatestCheckpoint(job);
  if (checkpoint.ok()) {
    for (const auto& file : checkpoint->files()) {
      if (file.path() == "model.safetensors") return file.sha256();
    }
  }
  ADD_FAILURE() << "no parameters of " << job << ": " << checkpoint.status();
  return "";
}

void Scenario::WaitForDevices(int count) {
  using workers::v1::Worker;
  const auto stub = workers::v1::WorkersService::NewStub(
      base::Connect(deployment_->api_address()));
  ASSERT_TRUE(WaitFor([&] {
    grpc::ClientContext context;
    Prepare(&context);
    workers::v1::ListWorkersResponse response;
    const absl::Status status = base::FromGrpcStatus(stub->ListWorkers(
        &context, workers::v1::ListWorkersRequest(), &response));
    int offered = 0;
    for (const Worker& worker : response.workers()) {
      if (worker.state() != Worker::ONLINE) continue;
      for (const auto& device : worker.devices()) {
        offered += device.withheld().empty() ? 1 : 0;
      }
    }
    return status.ok() && offered == count;
  }));
}

std::optional<Job> Scenario::WaitUntil(
    const std::string& job, const std::function<bool(const Job&)>& done) {
  const absl::Time deadline = absl::Now() + kDeadline;
  absl::StatusOr<Job> seen = Job();
  while (absl::Now() < deadline) {
    seen = deployment_->Get(job);
    if (seen.ok() && done(*seen)) return *seen;
    if (seen.ok() && harness::HasEnded(*seen)) break;
    absl::SleepFor(kPollInterval);
  }
  ADD_FAILURE() << "never came: " << job << ", last seen "
                << (seen.ok() ? seen->ShortDebugString()
                              : seen.status().ToString());
  return std::nullopt;
}

std::optional<Job> Scenario::WaitForState(const std::string& job,
                                          Job::State state) {
  return WaitUntil(job,
                   [state](const Job& seen) { return seen.state() == state; });
}

std::optional<Job> Scenario::WaitForEnd(const std::string& job) {
  return WaitUntil(job, harness::HasEnded);
}

std::optional<base::ProcessId> Scenario::WaitForTrainer(
    const std::string& job) {
  std::optional<base::ProcessId> found;
  WaitFor([&] {
    for (const base::RunningProcess& process : ProcessesOf(job)) {
      if (absl::StartsWith(process.command_line, trainer_)) {
        found = process.id;
      }
    }
    return found.has_value();
  });
  if (!found) ADD_FAILURE() << "no trainer of " << job;
  return found;
}

void Scenario::CancelAndExpectTheEnd(const std::string& job) {
  const absl::Time start = absl::Now();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job answer, Cancel(job));
  EXPECT_TRUE(answer.state() == Job::CANCELLING ||
              answer.state() == Job::CANCELLED)
      << answer.ShortDebugString();
  ASSERT_TRUE(WaitForState(job, Job::CANCELLED).has_value());
  EXPECT_LT(absl::Now() - start, kCancelLimit);
  // The group is gone with the word of it; only who said so may be leaving.
  for (const base::RunningProcess& process : ProcessesOf(job)) {
    EXPECT_TRUE(
        absl::StartsWith(process.command_line, ProgramPath("ordo-supervisor")))
        << process.command_line;
  }
  EXPECT_TRUE(WaitFor([&] { return ProcessesOf(job).empty(); }));
}

Job Scenario::WaitForFailure(const std::string& name) {
  const auto job = WaitForEnd(name);
  EXPECT_TRUE(job.has_value() && job->state() == Job::FAILED);
  EXPECT_TRUE(WaitFor([&] { return ProcessesOf(name).empty(); }));
  return job.value_or(Job());
}

void Scenario::Damage(const std::string& path, bool truncate) {
  ORDO_ASSERT_OK_AND_ASSIGN(std::string bytes,
                            base::ReadFile(files_, path, kMaxDamagedBytes));
  if (truncate) {
    bytes.resize(bytes.size() / 2);
  } else {
    bytes[bytes.size() - 3] ^= 4;
  }
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, bytes));
}

void Scenario::Release(const std::string& job) {
  ORDO_ASSERT_OK(base::AtomicWrite(files_, JobFolder(job) + "/go", ""));
}

void Scenario::WaitUntilHeld() {
  ASSERT_TRUE(WaitFor(
      [this] { return base::Exists(files_, folder_.Path("go.held")); }));
}

void Scenario::Go() {
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("go"), ""));
}

std::string Scenario::JobFolder(const std::string& job) const {
  return absl::StrCat(deployment_->storage_root(), "/jobs/", job);
}

bool Scenario::HasBegunCheckpoint(const std::string& job, int64_t step) {
  const auto names = files_.List(JobFolder(job) + "/checkpoints");
  if (!names.ok()) return false;
  const std::string id = absl::StrCat(step, "-1");
  for (const std::string& name : *names) {
    if (absl::StrContains(name, id)) return true;
  }
  return false;
}

std::vector<base::RunningProcess> Scenario::ProcessesOf(
    const std::string& job) const {
  return base::FindProcesses(JobFolder(job) + "/");
}

void Scenario::KillWorker() {
  ORDO_ASSERT_OK(deployment_->EndWorker(SIGKILL));
  ORDO_ASSERT_OK(deployment_->StartWorker());
}

Scenario::Said Scenario::RunOrdo(const std::vector<std::string>& arguments) {
  constexpr size_t kMaxBytes = 1 << 20;
  base::SpawnOptions spawn;
  spawn.argv = {ProgramPath("ordo")};
  if (deployment_ != nullptr &&
      absl::c_find(arguments, "--server") == arguments.end()) {
    spawn.argv.insert(spawn.argv.end(),
                      {"--server", deployment_->api_address()});
  }
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.stdout_file = folder_.Path("output");
  spawn.stderr_file = folder_.Path("errors");
  files_.RemoveFile(spawn.stdout_file).IgnoreError();
  files_.RemoveFile(spawn.stderr_file).IgnoreError();
  Said said;
  const auto process = base::Spawn(spawn);
  if (!process.ok()) {
    ADD_FAILURE() << process.status();
    return said;
  }
  const auto status = base::WaitForExit(process->pid, kDeadline);
  EXPECT_TRUE(status.ok() && status->signal == 0) << arguments[0];
  if (status.ok()) said.exit_code = status->exit_code;
  said.out = base::ReadFile(files_, spawn.stdout_file, kMaxBytes).value_or("");
  said.err = base::ReadFile(files_, spawn.stderr_file, kMaxBytes).value_or("");
  return said;
}

void Scenario::KillScheduler() {
  ORDO_ASSERT_OK(deployment_->EndScheduler(SIGKILL));
  ORDO_ASSERT_OK(deployment_->StartScheduler());
}

}  // namespace ordo::tests::e2e
