#include "tests/harness/deployment.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::tests::harness {
namespace {

using jobs::v1::Job;

constexpr absl::Duration kStartTimeout = absl::Seconds(20);
constexpr absl::Duration kEndTimeout = absl::Seconds(60);
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
constexpr size_t kMaxEndpointsBytes = 64 << 10;

// The first worker's is "worker", as if it were the only one.
std::string PartOf(int worker) {
  return worker == 1 ? "worker" : absl::StrCat("worker-", worker);
}

// The host of a "HOST:PORT" that is there, any port of it.
std::string AnyPort(const std::string& listen) {
  const size_t host = listen.rfind(':');
  return absl::StrCat(
      host == std::string::npos ? "127.0.0.1" : listen.substr(0, host), ":0");
}

absl::Status Stopped(const std::string& part, const std::string& log) {
  base::PosixFilesystem files;
  const auto text = base::ReadFile(files, log, 1 << 20);
  return absl::InternalError(absl::StrCat(
      part, " ended before it was ready; its log:\n", text.value_or("")));
}

}  // namespace

std::string Program(const std::string& name) {
  const char* folder = std::getenv("ORDO_BIN");
  return base::JoinPath(folder != nullptr ? folder : ".", name);
}

void Pass(absl::Duration duration) { absl::SleepFor(duration); }

bool HasEnded(const Job& job) {
  return job.state() == Job::SUCCEEDED || job.state() == Job::FAILED ||
         job.state() == Job::CANCELLED;
}

absl::StatusOr<std::unique_ptr<Deployment>> Deployment::Start(
    const DeploymentOptions& options) {
  std::unique_ptr<Deployment> deployment(new Deployment(options));
  base::PosixFilesystem files;
  for (const char* part : {"config", "log", "scheduler", "storage"}) {
    ORDO_RETURN_IF_ERROR(
        files.MakeFolders(base::JoinPath(options.folder, part)));
  }
  ORDO_RETURN_IF_ERROR(deployment->StartScheduler());
  for (int worker = 1; worker <= options.num_workers; ++worker) {
    ORDO_RETURN_IF_ERROR(files.MakeFolders(deployment->WorkerFolder(worker)));
    if (!options.start_workers) continue;
    ORDO_RETURN_IF_ERROR(deployment->StartWorker(worker));
  }
  return deployment;
}

Deployment::~Deployment() {
  for (const base::RunningProcess& process : Processes()) {
    base::SignalProcess(process.id, SIGKILL).IgnoreError();
  }
  std::vector<base::ProcessId> children = {scheduler_};
  for (const Worker& worker : workers_) children.push_back(worker.process);
  for (const base::ProcessId& child : children) {
    if (child.pid > 0) {
      base::WaitForExit(child.pid, kEndTimeout).status().IgnoreError();
    }
  }
}

absl::Status Deployment::StartScheduler() {
  config::v1::SchedulerConfig config = options_.scheduler;
  // A restarted scheduler is found where clients and workers look for it.
  config.set_listen(api_address_.empty() ? AnyPort(config.listen())
                                         : api_address_);
  config.set_metrics_listen("127.0.0.1:0");
  config.set_store(folder() + "/scheduler/ordo.db");
  config.set_storage_root(storage_root());
  config.set_endpoints_file(folder() + "/scheduler/endpoints.json");
  ORDO_ASSIGN_OR_RETURN(
      scheduler_, Launch({Program("ordo-scheduler")}, "scheduler", config));
  ORDO_ASSIGN_OR_RETURN(auto endpoints,
                        WaitForEndpoints("scheduler", scheduler_));
  api_address_ = endpoints["api"];
  scheduler_metrics_ = endpoints["metrics"];
  if (jobs_ == nullptr) {
    jobs_ = jobs::v1::JobsService::NewStub(
        base::Connect(api_address_, options_.tls));
  }
  return absl::OkStatus();
}

std::string Deployment::WorkerFolder(int number) const {
  return absl::StrCat(folder(), "/", PartOf(number));
}

absl::Status Deployment::StartWorker(int number) {
  config::v1::WorkerConfig config = options_.worker;
  if (options_.each_worker != nullptr) options_.each_worker(number, &config);
  if (config.worker().empty() || number > 1) {
    config.set_worker(absl::StrCat("worker-", number));
  }
  config.set_scheduler(api_address_);
  config.set_listen(AnyPort(config.listen()));
  config.set_metrics_listen("127.0.0.1:0");
  config.set_state_folder(WorkerFolder(number));
  config.set_storage_root(storage_root());
  config.set_endpoints_file(WorkerFolder(number) + "/endpoints.json");
  // Where tests have their trainers leave signs, but for those of what trainers
  // may do.
  if (!config.has_sandbox()) config.mutable_sandbox()->add_writable(folder());
  Worker& worker = workers_[number - 1];
  std::vector<std::string> program = options_.worker_prefix;
  program.push_back(Program("ordo-worker"));
  ORDO_ASSIGN_OR_RETURN(worker.process,
                        Launch(program, PartOf(number), config));
  ORDO_ASSIGN_OR_RETURN(auto endpoints,
                        WaitForEndpoints(PartOf(number), worker.process));
  worker.address = endpoints["api"];
  worker.metrics = endpoints["metrics"];
  return absl::OkStatus();
}

absl::StatusOr<base::ProcessId> Deployment::Launch(
    const std::vector<std::string>& program, const std::string& part,
    const google::protobuf::Message& config) {
  base::PosixFilesystem files;
  const std::string file =
      absl::StrCat(folder(), "/config/", part, ".textproto");
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, file, base::WriteMessage(config, base::TextForm::kTextproto)));
  // Left by an earlier life: it would pass for an answer of this one.
  ORDO_RETURN_IF_ERROR(
      files.RemoveTree(absl::StrCat(folder(), "/", part, "/endpoints.json")));
  base::SpawnOptions spawn;
  spawn.argv = program;
  spawn.argv.insert(spawn.argv.end(),
                    {"--config", file, "--deployment", folder()});
  spawn.stdout_file = absl::StrCat(folder(), "/log/", part, ".log");
  spawn.stderr_file = spawn.stdout_file;
  return base::Spawn(spawn);
}

absl::StatusOr<std::map<std::string, std::string>> Deployment::WaitForEndpoints(
    const std::string& part, const base::ProcessId& process) {
  base::PosixFilesystem files;
  const std::string file = absl::StrCat(folder(), "/", part, "/endpoints.json");
  const absl::Time deadline = absl::Now() + kStartTimeout;
  while (!base::Exists(files, file)) {
    if (!base::IsRunning(process)) {
      return Stopped(part, absl::StrCat(folder(), "/log/", part, ".log"));
    }
    if (absl::Now() > deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat(part, " wrote no ", file));
    }
    absl::SleepFor(kPollInterval);
  }
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, file, kMaxEndpointsBytes));
  google::protobuf::Struct read;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(text, base::TextForm::kJson, &read));
  std::map<std::string, std::string> endpoints;
  for (const auto& [name, value] : read.fields()) {
    endpoints[name] = value.string_value();
  }
  return endpoints;
}

absl::StatusOr<base::ExitStatus> Deployment::EndScheduler(int signal) {
  ORDO_RETURN_IF_ERROR(base::SignalProcess(scheduler_, signal));
  auto status = base::WaitForExit(scheduler_.pid, kEndTimeout);
  scheduler_ = {};
  return status;
}

absl::StatusOr<base::ExitStatus> Deployment::EndWorker(int signal, int number) {
  base::ProcessId& process = workers_[number - 1].process;
  ORDO_RETURN_IF_ERROR(base::SignalProcess(process, signal));
  auto status = base::WaitForExit(process.pid, kEndTimeout);
  process = {};
  return status;
}

absl::StatusOr<Job> Deployment::Create(const jobs::v1::JobSpec& spec,
                                       const std::string& request_id) {
  grpc::ClientContext context;
  base::CallOptions call;
  call.user = base::LocalUser();
  call.wait_for_ready = true;
  base::PrepareCall(call, &context);
  jobs::v1::CreateJobRequest request;
  *request.mutable_job()->mutable_spec() = spec;
  request.set_request_id(request_id);
  Job job;
  ORDO_RETURN_IF_ERROR(
      base::FromGrpcStatus(jobs_->CreateJob(&context, request, &job)));
  return job;
}

absl::StatusOr<Job> Deployment::Get(const std::string& job) {
  jobs::v1::GetJobRequest request;
  request.set_name("jobs/" + job);
  const absl::Time deadline = absl::Now() + kStartTimeout;
  while (true) {
    grpc::ClientContext context;
    base::CallOptions call;
    call.wait_for_ready = true;
    base::PrepareCall(call, &context);
    Job answer;
    const absl::Status status =
        base::FromGrpcStatus(jobs_->GetJob(&context, request, &answer));
    if (status.ok()) return answer;
    // The connection to a scheduler that was killed breaks only when used.
    if (!absl::IsUnavailable(status) || absl::Now() > deadline) return status;
  }
}

absl::StatusOr<Job> Deployment::WaitFor(
    const std::string& job, absl::Duration timeout,
    const std::function<bool(const Job&)>& done) {
  const absl::Time deadline = absl::Now() + timeout;
  Job last;
  while (absl::Now() < deadline) {
    grpc::ClientContext context;
    base::CallOptions call;
    call.timeout = deadline - absl::Now();
    call.wait_for_ready = true;
    base::PrepareCall(call, &context);
    jobs::v1::WatchJobRequest request;
    request.set_name("jobs/" + job);
    auto stream = jobs_->WatchJob(&context, request);
    jobs::v1::WatchJobResponse response;
    while (stream->Read(&response)) {
      last = response.job();
      if (done(last)) {
        context.TryCancel();
        stream->Finish();
        return last;
      }
    }
    const absl::Status status = base::FromGrpcStatus(stream->Finish());
    if (absl::IsNotFound(status)) return status;
    if (status.ok() && HasEnded(last)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the job ended: ", last.ShortDebugString()));
    }
    absl::SleepFor(kPollInterval);
  }
  return absl::DeadlineExceededError(absl::StrCat(
      "waited for job ", job, "; last seen: ", last.ShortDebugString()));
}

absl::StatusOr<Job> Deployment::WaitForEnd(const std::string& job,
                                           absl::Duration timeout) {
  return WaitFor(job, timeout, HasEnded);
}

std::vector<base::RunningProcess> Deployment::Processes() const {
  return base::FindProcesses(folder());
}

}  // namespace ordo::tests::harness
