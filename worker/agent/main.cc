// The worker of one machine. Example:
//   ordo-worker --config /var/lib/ordo/config/worker.textproto
//       --deployment /var/lib/ordo
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/flags/flags.h"
#include "base/log/log.h"
#include "base/metrics/certificate_metrics.h"
#include "base/metrics/exposer.h"
#include "base/metrics/metrics.h"
#include "base/metrics/process_metrics.h"
#include "base/process/open_files.h"
#include "base/process/process.h"
#include "base/process/ready.h"
#include "base/rpc/address.h"
#include "base/rpc/client.h"
#include "base/rpc/rpc_metrics.h"
#include "base/rpc/server.h"
#include "base/rpc/tls.h"
#include "base/rpc/tls_probe.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "base/version/version.h"
#include "worker/agent/agent.h"
#include "worker/agent/config.h"
#include "worker/agent/devices.h"
#include "worker/agent/join.h"
#include "worker/agent/lock.h"
#include "worker/agent/machine.h"
#include "worker/agent/metrics.h"
#include "worker/agent/nvml.h"
#include "worker/agent/sandbox.h"
#include "worker/agent/service.h"
#include "worker/agent/tls_config.h"

ABSL_FLAG(std::string, config, "",
          "File with an ordo.config.v1.WorkerConfig (.textproto, .yaml, "
          ".json).");
ABSL_FLAG(std::string, deployment, "",
          "The deployment's folder, for people who look at ps.");
ABSL_FLAG(std::string, worker, "",
          "Replaces `worker` of the configuration, which several workers may "
          "share.");
ABSL_FLAG(
    std::string, host, "",
    "Where the scheduler and other ranks reach this worker, if not at the "
    "host of `listen`.");

namespace ordo::worker::agent {
namespace {

using ::ordo::config::v1::WorkerConfig;

// Connections of strangers, above all: a port of gRPC's takes nobody any more
// once there was no file left for one.
constexpr uint64_t kOpenFiles = 16'384;

Agent* running_agent = nullptr;

void OnSignal(int signal) {
  running_agent->RequestLeave(signal == SIGQUIT ? Leave::kAtOnce
                                                : Leave::kDrain);
}

void HandleSignals(Agent* agent) {
  running_agent = agent;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
    sigaction(number, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
}

// Null: the machine has no GPUs, or nothing speaks for them.
std::shared_ptr<Nvml> FindDriver() {
  auto nvml = Nvml::Load(Nvml::kLibrary);
  if (nvml.ok()) return *std::move(nvml);
  if (!absl::IsNotFound(nvml.status())) {
    base::LogWarning("GPUs are not watched", {{"error", nvml.status()}});
  }
  return nullptr;
}

absl::StatusOr<AgentOptions> MakeOptions(const WorkerConfig& config) {
  AgentOptions options;
  options.task.state_folder = config.state_folder();
  options.task.storage_root = config.storage_root();
  options.task.data_roots = {config.data_roots().begin(),
                             config.data_roots().end()};
  options.task.deployment = config.deployment();
  options.task.trainer = config.trainer();
  ORDO_ASSIGN_OR_RETURN(const base::HostPort listen,
                        base::ParseHostPort(config.listen()));
  const std::string host = absl::GetFlag(FLAGS_host);
  options.task.host = host.empty() ? listen.host : host;
  ORDO_ASSIGN_OR_RETURN(options.task.supervisor,
                        base::SiblingBinary("ordo-supervisor"));
  options.task.environment = TrainerEnvironment(config, environ);
  base::PosixFilesystem files;
  ORDO_ASSIGN_OR_RETURN(options.task.sandbox, MakeSandbox(config, files));
  options.stop_grace = base::ToDuration(config.stop_grace());
  auto& identity = options.identity;
  identity.set_worker(config.worker());
  if (const auto leave_time = LeaveTime(config)) {
    *identity.mutable_leave_time() = *leave_time;
  }
  identity.set_incarnation(absl::StrCat(
      absl::Hex(absl::ToUnixNanos(base::RealClock().Now())), "-", getpid()));
  const Machine machine = ReadMachine("");
  options.nvml = FindDriver();
  DevicesPresent present;
  present.num_cpus = std::max(1, machine.cpus);
  present.gpus =
      options.nvml == nullptr ? GpusWithFiles("") : options.nvml->gpus();
  ORDO_ASSIGN_OR_RETURN(
      const auto devices,
      FindDevices({config.devices().begin(), config.devices().end()}, present));
  *identity.mutable_devices() = {devices.begin(), devices.end()};
  options.task.gpu_uuids = UuidsOf(devices);
  Describe(machine, config, &identity);
  if (const auto digest = base::BuildIdOf(config.trainer()); digest.ok()) {
    identity.set_build_digest(*digest);
  } else {
    // Attempts will say so one by one; the worker may outlive the mistake.
    base::LogWarning("trainer cannot be read", {{"error", digest.status()}});
  }
  return options;
}

absl::Status WriteEndpoints(base::Filesystem& files, const std::string& path,
                            const std::string& api,
                            const std::string& metrics) {
  if (path.empty()) return absl::OkStatus();
  return base::AtomicWrite(
      files, path,
      absl::StrCat("{\"api\": \"", api, "\", \"metrics\": \"", metrics,
                   "\"}\n"));
}

Membership MembershipOf(const WorkerConfig& config) {
  return {config.worker(), config.tls().certificate(),
          config.tls().join_token_file()};
}

// All empty without `tls`.
struct Credentials {
  // What the worker's port listens with.
  std::shared_ptr<grpc::ServerCredentials> port;
  // What the scheduler is called with.
  std::shared_ptr<grpc::ChannelCredentials> scheduler;
  // What the metrics page is served with.
  std::optional<base::TlsFiles> page;
};

// Joins where that is to be done first. Warns of ports that others reach
// without TLS.
absl::StatusOr<Credentials> LoadCredentials(const WorkerConfig& config,
                                            const base::Clock& clock) {
  Credentials credentials;
  if (!config.has_tls()) {
    base::WarnIfOpen({{"listen", config.listen()},
                      {"metrics_listen", config.metrics_listen()}});
    return credentials;
  }
  if (!config.tls().join_token_file().empty()) {
    base::TlsFiles nobody = CallFiles(config.tls());
    nobody.certificate.path.clear();
    nobody.key.path.clear();
    ORDO_ASSIGN_OR_RETURN(const auto tls, base::ClientTls::Load(nobody));
    ORDO_RETURN_IF_ERROR(
        Join(MembershipOf(config), clock,
             AskOver(base::Connect(config.scheduler(), tls->ForHost()),
                     config.worker())));
  }
  // Its own certificate lets the probes of its machine in.
  ORDO_ASSIGN_OR_RETURN(
      credentials.port,
      base::ServerTls(
          PortFiles(config.tls()),
          {base::kSchedulerUri, base::kWorkerUriPrefix + config.worker()}));
  ORDO_ASSIGN_OR_RETURN(const auto tls,
                        base::ClientTls::Load(CallFiles(config.tls())));
  credentials.scheduler = tls->ForHost();
  credentials.page = PageFiles(config.tls());
  return credentials;
}

// What the process tells of itself, beside what it runs.
void AddOwnMetrics(const WorkerConfig& config,
                   base::MetricsRegistry& registry) {
  base::AddProcessMetrics("worker", registry);
  base::AddCertificateMetrics("worker",
                              {PortFiles(config.tls()), CallFiles(config.tls()),
                               PageFiles(config.tls())},
                              registry);
}

absl::Status Work(const WorkerConfig& config) {
  base::LogOptions log;
  ORDO_RETURN_IF_ERROR(base::ParseLogLevel(config.log_level(), &log.level));
  ORDO_RETURN_IF_ERROR(base::ParseLogFormat(config.log_format(), &log.format));
  log.common = {{"worker", config.worker()}};
  ORDO_RETURN_IF_ERROR(base::StartLogging(log));
  base::LogInfo("configuration", {{"config", config.ShortDebugString()}});
  base::RaiseOpenFileLimit(kOpenFiles);
  ORDO_ASSIGN_OR_RETURN(const auto lock, LockFolder(config.state_folder()));
  base::PosixFilesystem files;
  base::RealClock clock;
  ORDO_ASSIGN_OR_RETURN(const Credentials credentials,
                        LoadCredentials(config, clock));
  base::MetricsRegistry registry;
  WorkerMetrics metrics(registry);
  base::RpcMetrics rpc_metrics("worker", registry);
  AddOwnMetrics(config, registry);
  ORDO_ASSIGN_OR_RETURN(AgentOptions options, MakeOptions(config));
  base::HostPort reached;
  reached.host = options.task.host;
  Agent agent(std::move(options), files, clock, metrics);
  registry.OnCollect([&agent] { agent.ShowRoom(); });
  HandleSignals(&agent);
  ORDO_RETURN_IF_ERROR(agent.Start());
  WorkerAgentServiceImpl service(agent);
  base::RpcServerOptions server_options;
  server_options.tls = credentials.port;
  server_options.listen = config.listen();
  server_options.insecure = config.insecure();
  server_options.metrics = &rpc_metrics;
  ORDO_ASSIGN_OR_RETURN(
      const auto server,
      base::AddContext(base::RpcServer::Start(server_options, {&service}),
                       "field `listen`"));
  ORDO_ASSIGN_OR_RETURN(
      const auto exposer,
      base::AddContext(base::MetricsExposer::Start(config.metrics_listen(),
                                                   registry, credentials.page),
                       "field `metrics_listen`"));
  reached.port = server->port();
  ORDO_RETURN_IF_ERROR(WriteEndpoints(files, config.endpoints_file(),
                                      reached.ToString(), exposer->address()));
  base::LogInfo("worker serves", {{"address", reached.ToString()},
                                  {"metrics", exposer->address()}});
  if (config.has_tls()) {
    // gRPC would say little of it, and try again for ever.
    const absl::Status trouble =
        base::ProbeTls(config.scheduler(), CallFiles(config.tls()));
    if (!trouble.ok()) {
      base::LogWarning("the scheduler cannot be called", {{"error", trouble}});
    }
  }
  const auto scheduler =
      base::Connect(config.scheduler(), credentials.scheduler);
  std::optional<Renewals> renewals;
  if (!config.tls().join_token_file().empty()) {
    renewals.emplace(MembershipOf(config), clock,
                     AskOver(scheduler, config.worker()));
  }
  if (const absl::Status told = base::TellReady(std::getenv("NOTIFY_SOCKET"));
      !told.ok()) {
    base::LogWarning("service manager not told", {{"error", told}});
  }
  agent.Run(reached.ToString(), scheduler);
  base::LogInfo("worker leaves");
  // Calls may still reach the agent until the server is gone.
  server->Drain(absl::ZeroDuration());
  return absl::OkStatus();
}

}  // namespace
}  // namespace ordo::worker::agent

int main(int argc, char** argv) {
  constexpr char kUsage[] =
      "the worker of one machine: runs a scheduler's tasks\n\n"
      "  ordo-worker --config FILE [--deployment DIR] [--worker ID] "
      "[--host HOST]\n\n"
      "`ordo up` starts one, with its configuration.";
  const auto refuse = [](const absl::Status& status, int exit_code) {
    std::fprintf(stderr, "ordo-worker: %s\n",
                 std::string(status.message()).c_str());
    return exit_code;
  };
  const auto line = ordo::base::ParseFlags({argv, argv + argc}, kUsage);
  if (!line.ok()) return refuse(line.status(), 2);
  if (!line->answer.empty()) {
    std::fputs(line->answer.c_str(), stdout);
    return 0;
  }
  if (!line->words.empty()) {
    return refuse(
        absl::InvalidArgumentError("unexpected argument " + line->words[0]), 2);
  }
  const std::string path = absl::GetFlag(FLAGS_config);
  if (path.empty()) {
    return refuse(absl::InvalidArgumentError("--config is missing"), 2);
  }
  const auto config = ordo::worker::agent::ReadConfig(
      path, {absl::GetFlag(FLAGS_deployment), absl::GetFlag(FLAGS_worker)});
  if (!config.ok()) return refuse(config.status(), 2);
  const absl::Status status = ordo::worker::agent::Work(*config);
  if (status.ok()) return 0;
  // As of `ordo`: by a limit of the machine's, such as a full disk.
  return refuse(status, absl::IsResourceExhausted(status) ? 8 : 1);
}
