#include "services/cli/keeper.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <unistd.h>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/rpc/address.h"
#include "base/status/status.h"
#include "services/cli/client.h"
#include "services/cli/deployment_lock.h"
#include "services/cli/exit_code.h"
#include "services/cli/remembered.h"
#include "services/cli/stop_deployment.h"

namespace ordo::services::cli {
namespace {

constexpr absl::Duration kStartTimeout = absl::Seconds(60);
// Together with the poll this stays below kRestartWithin.
constexpr absl::Duration kMaxRestartDelay = absl::Milliseconds(800);
// One that ran this long had not failed to start.
constexpr absl::Duration kStable = absl::Seconds(10);
// Restarts told one by one; then those at powers of two.
constexpr int kRestartsTold = 8;

std::string StartError(Context& context, const std::string& folder,
                       const std::string& process, uint64_t log_offset) {
  const std::string log = LogFile(folder, process);
  const std::string line = LastLogLine(context.files, log, log_offset);
  return absl::StrCat("the ", process, " did not start",
                      line.empty() ? "" : ": ", line, "; see ", log);
}

class Keeper {
 public:
  // `self` is this process.
  Keeper(Context& context, const DeploymentOptions& options,
         const base::ProcessId& self)
      : context_(context), options_(options) {
    endpoints_.processes["keeper"] = self;
  }

  absl::Status Run() {
    const absl::Status started = Start();
    if (!started.ok()) {
      Stop();
      if (context_.interrupt.triggered()) return absl::OkStatus();
      return started;
    }
    PrintReady();
    while (!context_.interrupt.WaitFor(kKeeperPoll)) {
      for (Child* child : {&scheduler_, &worker_}) Tend(*child);
    }
    if (context_.output == OutputForm::kTable) {
      context_.err << "ordo: stopping; running jobs write a checkpoint first"
                   << std::endl;
    }
    Stop();
    return absl::OkStatus();
  }

 private:
  struct Child {
    std::string name;
    std::string program;
    base::ProcessId id;
    bool running = false;
    // Its ports have not been read since it started.
    bool ports_awaited = false;
    uint64_t log_offset = 0;
    absl::Duration started_at;
    absl::Duration restart_at;
    int failures = 0;  // In a row, without a stable run between.
    int restarts = 0;
  };

  absl::Status Start() {
    ORDO_ASSIGN_OR_RETURN(scheduler_.program,
                          base::SiblingBinary("ordo-scheduler"));
    ORDO_ASSIGN_OR_RETURN(worker_.program, base::SiblingBinary("ordo-worker"));
    for (const char* name : {"log", "scheduler", "worker", "storage"}) {
      ORDO_RETURN_IF_ERROR(
          context_.files.MakeFolders(base::JoinPath(options_.folder, name)));
    }
    ORDO_RETURN_IF_ERROR(CheckPortFree(options_.listen));
    ORDO_RETURN_IF_ERROR(
        WriteSchedulerConfig(context_.files, options_, options_.listen));
    ORDO_RETURN_IF_ERROR(Launch(scheduler_));
    ORDO_RETURN_IF_ERROR(AwaitPorts(scheduler_));
    // A scheduler that is restarted must be found where this one was.
    ORDO_RETURN_IF_ERROR(
        WriteSchedulerConfig(context_.files, options_, listening_));
    ORDO_RETURN_IF_ERROR(
        WriteWorkerConfig(context_.files, options_, endpoints_.api));
    ORDO_RETURN_IF_ERROR(Launch(worker_));
    ORDO_RETURN_IF_ERROR(AwaitPorts(worker_));
    ORDO_RETURN_IF_ERROR(AwaitWorkerOnline());
    ORDO_RETURN_IF_ERROR(Remember(context_.files, options_));
    endpoints_.ready = true;
    return Save();
  }

  absl::Status Save() {
    return WriteEndpoints(context_.files, options_.folder, endpoints_);
  }

  absl::Status Launch(Child& child) {
    const std::string ports = PortsFile(options_.folder, child.name);
    if (base::Exists(context_.files, ports)) {
      ORDO_RETURN_IF_ERROR(context_.files.RemoveFile(ports));
    }
    const std::string log = LogFile(options_.folder, child.name);
    const auto log_info = context_.files.Stat(log);
    child.log_offset = log_info.ok() ? log_info->size_bytes : 0;
    base::SpawnOptions spawn;
    spawn.argv = {child.program, "--config",
                  ConfigFile(options_.folder, child.name), "--deployment",
                  options_.folder};
    spawn.stdout_file = log;
    spawn.stderr_file = log;
    spawn.new_session = true;
    ORDO_ASSIGN_OR_RETURN(child.id, base::Spawn(spawn));
    child.running = true;
    child.ports_awaited = true;
    child.started_at = context_.clock.Monotonic();
    endpoints_.processes[child.name] = child.id;
    return Save();
  }

  // Takes over the ports of a child once it has written them.
  void ReadChildPorts(Child& child) {
    const std::optional<Ports> ports =
        ReadPorts(context_.files, options_.folder, child.name);
    if (!ports.has_value()) return;
    child.ports_awaited = false;
    endpoints_.metrics[child.name] = ports->metrics;
    if (&child == &scheduler_) {
      listening_ = ports->api;
      endpoints_.api = LocalAddress(ports->api);
    }
  }

  // Fails when the child ends, or at the interrupt, or when it takes too long.
  absl::Status CheckStarting(Child& child) {
    if (context_.interrupt.WaitFor(kKeeperPoll)) {
      return absl::CancelledError("interrupted");
    }
    Reap(child);
    if (!child.running ||
        context_.clock.Monotonic() - child.started_at > kStartTimeout) {
      const std::string why =
          StartError(context_, options_.folder, child.name, child.log_offset);
      return child.running ? absl::FailedPreconditionError(why)
                           : ErrorOfExit(exit_code_, why);
    }
    return absl::OkStatus();
  }

  absl::Status AwaitPorts(Child& child) {
    while (true) {
      ReadChildPorts(child);
      if (!child.ports_awaited) return absl::OkStatus();
      ORDO_RETURN_IF_ERROR(CheckStarting(child));
    }
  }

  absl::Status AwaitWorkerOnline() {
    ClientOptions client_options = context_.client.options();
    client_options.address = endpoints_.api;
    // What is said for other servers.
    client_options.tls.ca.path.clear();
    client_options.call_timeout = absl::Seconds(2);
    client_options.retry_for = absl::ZeroDuration();
    Client client(client_options, context_.interrupt);
    while (true) {
      const auto listed = client.Call(
          client.workers(), &workers::v1::WorkersService::Stub::ListWorkers,
          workers::v1::ListWorkersRequest());
      if (listed.ok()) {
        for (const auto& worker : listed->workers()) {
          if (worker.state() == workers::v1::Worker::ONLINE) {
            return absl::OkStatus();
          }
        }
      }
      ORDO_RETURN_IF_ERROR(CheckStarting(scheduler_));
      ORDO_RETURN_IF_ERROR(CheckStarting(worker_));
    }
  }

  void Reap(Child& child) {
    if (!child.running) return;
    const auto ended = base::WaitForExit(child.id.pid, absl::ZeroDuration());
    if (ended.status().code() == absl::StatusCode::kDeadlineExceeded) return;
    child.running = false;
    exit_text_ = ended.ok() ? ended->ToString() : "gone";
    exit_code_ = ended.ok() ? ended->exit_code : 0;
  }

  // Restarts a child that has died.
  void Tend(Child& child) {
    const absl::Duration now = context_.clock.Monotonic();
    if (child.running) {
      if (child.ports_awaited) {
        ReadChildPorts(child);
        if (!child.ports_awaited) LogOnError(Save());
      }
      Reap(child);
      if (child.running) return;
      if (now - child.started_at >= kStable) child.failures = 0;
      ++child.failures;
      ++child.restarts;
      child.restart_at = now + RestartDelay(child.failures);
      TellRestart(child);
    }
    if (now >= child.restart_at) {
      const absl::Status status = Launch(child);
      if (!status.ok()) child.restart_at = now + kMaxRestartDelay;
      LogOnError(status);
    }
  }

  void TellRestart(const Child& child) {
    const int count = child.restarts;
    if (count > kRestartsTold && (count & (count - 1)) != 0) return;
    const std::string log = LogFile(options_.folder, child.name);
    context_.err << "ordo: the " << child.name << " ended (" << exit_text_
                 << ") and is restarted"
                 << (count == 1 ? std::string()
                                : absl::StrCat(", for the ", count, ". time"))
                 << "; see " << log << std::endl;
  }

  // A keeper goes on: what it could not do is tried again or matters little.
  void LogOnError(const absl::Status& status) {
    if (status.ok() || status.message() == last_error_) return;
    last_error_ = std::string(status.message());
    context_.err << "ordo: " << last_error_ << std::endl;
  }

  void Stop() {
    Reap(worker_);
    if (worker_.running) {
      LogOnError(
          EndProcesses(context_, "worker", {worker_.id},
                       WorkerStopTimeout(context_.files, options_.folder))
              .status());
      Reap(worker_);
    }
    // A worker that had died ends none of its attempts.
    LogOnError(EndSupervisors(context_, options_.folder).status());
    Reap(scheduler_);
    if (scheduler_.running) {
      LogOnError(EndProcesses(context_, "scheduler", {scheduler_.id},
                              kSchedulerStopTimeout)
                     .status());
      Reap(scheduler_);
    }
    const std::string file = base::JoinPath(options_.folder, "endpoints.json");
    if (base::Exists(context_.files, file)) {
      LogOnError(context_.files.RemoveFile(file));
    }
  }

  void PrintReady() {
    if (context_.output != OutputForm::kTable) {
      context_.out << EndpointsJson(endpoints_) << std::endl;
      return;
    }
    context_.out << "Ordo is up.\n"
                 << "  API      " << endpoints_.api << "\n"
                 << "  metrics  http://" << endpoints_.metrics["scheduler"]
                 << "/metrics http://" << endpoints_.metrics["worker"]
                 << "/metrics\n"
                 << "  folder   " << options_.folder << "\n";
    if (endpoints_.api != ClientOptions().address) {
      context_.out << "  use      export ORDO_SERVER=" << endpoints_.api
                   << "\n";
    }
    context_.out << "  stop     Ctrl-C, or: ordo down --dir " << options_.folder
                 << std::endl;
  }

  Context& context_;
  const DeploymentOptions& options_;
  Endpoints endpoints_;
  std::string listening_;
  // How the child ended that ended last.
  std::string exit_text_;
  int exit_code_ = 0;
  std::string last_error_;
  Child scheduler_{"scheduler", {}, {}, false, false, 0, {}, {}, 0, 0};
  Child worker_{"worker", {}, {}, false, false, 0, {}, {}, 0, 0};
};

}  // namespace

absl::Duration RestartDelay(int num_failures) {
  return std::min(kMaxRestartDelay,
                  absl::Milliseconds(100) * std::max(num_failures - 1, 0));
}

absl::Duration ReadyTimeout(base::Filesystem& files,
                            const std::string& folder) {
  // The scheduler, then the worker.
  return DeploymentStopTimeout(files, folder) + 2 * kStartTimeout;
}

std::string LastLogLine(base::Filesystem& files, const std::string& path,
                        uint64_t offset) {
  constexpr uint64_t kTailBytes = 4096;
  const auto file = files.OpenForRead(path);
  if (!file.ok()) return "";
  const auto size = (*file)->Size();
  if (!size.ok() || *size <= offset) return "";
  const uint64_t from = std::max(offset, *size - std::min(*size, kTailBytes));
  const auto text = (*file)->ReadAt(from, *size - from);
  if (!text.ok()) return "";
  std::string last;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (!line.empty()) last = std::string(line);
  }
  return last;
}

absl::Status KeepDeployment(Context& context,
                            const DeploymentOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const DeploymentLock lock,
                        DeploymentLock::Take(options.folder));
  ORDO_ASSIGN_OR_RETURN(const base::ProcessId self,
                        base::IdentifyProcess(getpid()));
  ORDO_RETURN_IF_ERROR(lock.NameKeeper(self));
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> kept,
                        KeepHandEdits(context.files, options.folder));
  for (const std::string& path : kept) {
    context.err << "ordo: the configuration so far is kept as " << path
                << std::endl;
  }
  ORDO_RETURN_IF_ERROR(EndLeftovers(context, lock).status());
  return Keeper(context, options, self).Run();
}

}  // namespace ordo::services::cli
