#include "services/cli/stop_deployment.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {
namespace {

constexpr absl::Duration kKillTimeout = absl::Seconds(5);
// What a drain takes beyond the grace of its trainers.
constexpr absl::Duration kDrainMargin = absl::Seconds(60);
constexpr absl::Duration kLockPoll = absl::Milliseconds(20);
constexpr char kDeploymentOption[] = "--deployment";
// From which a worker's supervisors are forked.
constexpr char kLauncher[] = "ordo-supervisor --launcher";

// What of ours a command line may be: its program, or kLauncher.
std::string KindOf(const std::vector<std::string>& arguments) {
  const std::string program = base::NameOf(arguments[0]);
  const bool launcher = arguments.size() > 1 && arguments[1] == "--launcher";
  return launcher ? program + " --launcher" : program;
}

// Processes of ours, of one kind, that say that they belong to `folder`. Others
// may name the folder too: an editor, a shell, `tail`.
std::vector<base::ProcessId> FindOurs(const std::string& kind,
                                      const std::string& folder) {
  std::vector<base::ProcessId> found;
  for (const base::RunningProcess& process : base::FindProcesses(folder)) {
    const std::vector<std::string>& arguments = process.arguments;
    const auto option =
        std::find(arguments.begin(), arguments.end(), kDeploymentOption);
    if (arguments.end() - option >= 2 && option[1] == folder &&
        KindOf(arguments) == kind) {
      found.push_back(process.id);
    }
  }
  return found;
}

bool HasLeftovers(const std::string& folder) {
  for (const char* kind :
       {"ordo-worker", kLauncher, "ordo-supervisor", "ordo-scheduler"}) {
    if (!FindOurs(kind, folder).empty()) return true;
  }
  return false;
}

absl::Status Signal(const std::string& what, const base::ProcessId& id,
                    int signal) {
  const absl::Status status = base::SignalProcess(id, signal);
  if (status.code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  return base::AddContext(status, what);
}

// One ends with its worker, but may take a moment, and if it is stopped, for
// ever. It has nothing to save, so nothing is said of it.
absl::Status EndLaunchers(const std::string& folder) {
  const std::string what = "end a launcher of supervisors";
  for (const base::ProcessId& id : FindOurs(kLauncher, folder)) {
    ORDO_RETURN_IF_ERROR(Signal(what, id, SIGKILL));
    ORDO_RETURN_IF_ERROR(
        base::AddContext(base::WaitUntilGone(id, kKillTimeout), what));
  }
  return absl::OkStatus();
}

// Takes the deployment's lock, once the keeper that has it has been ended, or
// another that ends the deployment is done.
absl::StatusOr<DeploymentLock> TakeFromKeeper(Context& context,
                                              const std::string& folder,
                                              int* num_stopped) {
  const absl::Duration timeout = DeploymentStopTimeout(context.files, folder);
  absl::Duration deadline = context.clock.Monotonic() + timeout;
  bool ended_keeper = false;
  while (true) {
    absl::StatusOr<DeploymentLock> lock = DeploymentLock::Take(folder);
    if (lock.status().code() != absl::StatusCode::kFailedPrecondition) {
      return lock;
    }
    const std::optional<base::ProcessId> keeper =
        DeploymentLock::Keeper(folder);
    if (keeper.has_value() && !ended_keeper) {
      ORDO_ASSIGN_OR_RETURN(
          *num_stopped, EndProcesses(context, "keeper", {*keeper}, timeout));
      ended_keeper = true;
      deadline = context.clock.Monotonic() + timeout;
    } else if (keeper.has_value()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the deployment in ", folder, " was stopped, but another 'ordo up' (",
          keeper->pid, ") has started there since; to end that one too, ",
          "repeat: ordo down --dir ", folder));
    } else if (context.clock.Monotonic() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(
          "another command has been ending the deployment in ", folder, " for ",
          absl::FormatDuration(timeout),
          "; end that command ('pgrep -a ordo' shows it) and try again"));
    } else {
      context.interrupt.WaitFor(kLockPoll);
    }
  }
}

}  // namespace

absl::StatusOr<int> EndProcesses(Context& context, const std::string& name,
                                 const std::vector<base::ProcessId>& ids,
                                 absl::Duration timeout) {
  for (const base::ProcessId& id : ids) {
    if (context.output == OutputForm::kTable) {
      context.out << "stopping the " << name << " (" << id.pid << ")"
                  << std::endl;
    }
    ORDO_RETURN_IF_ERROR(Signal("end the " + name, id, SIGTERM));
  }
  const absl::Duration deadline = context.clock.Monotonic() + timeout;
  for (const base::ProcessId& id : ids) {
    const absl::Duration left =
        std::max(deadline - context.clock.Monotonic(), absl::ZeroDuration());
    if (base::WaitUntilGone(id, left).ok()) continue;
    ORDO_RETURN_IF_ERROR(Signal("kill the " + name, id, SIGKILL));
    ORDO_RETURN_IF_ERROR(base::AddContext(base::WaitUntilGone(id, kKillTimeout),
                                          "wait for the killed " + name));
  }
  return static_cast<int>(ids.size());
}

absl::Duration WorkerStopTimeout(base::Filesystem& files,
                                 const std::string& folder) {
  return ConfiguredStopGrace(files, folder) + kDrainMargin;
}

absl::Duration DeploymentStopTimeout(base::Filesystem& files,
                                     const std::string& folder) {
  // The worker, then supervisors that it left, then the scheduler.
  return 2 * WorkerStopTimeout(files, folder) + kSchedulerStopTimeout +
         3 * kKillTimeout;
}

absl::StatusOr<int> EndSupervisors(Context& context,
                                   const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(
      const int supervisors,
      EndProcesses(context, "supervisor", FindOurs("ordo-supervisor", folder),
                   WorkerStopTimeout(context.files, folder)));
  ORDO_RETURN_IF_ERROR(EndLaunchers(folder));
  return supervisors;
}

absl::StatusOr<int> EndLeftovers(Context& context, const DeploymentLock& lock) {
  const std::string& folder = lock.folder();
  ORDO_ASSIGN_OR_RETURN(
      const int workers,
      EndProcesses(context, "worker", FindOurs("ordo-worker", folder),
                   WorkerStopTimeout(context.files, folder)));
  ORDO_ASSIGN_OR_RETURN(const int supervisors, EndSupervisors(context, folder));
  ORDO_ASSIGN_OR_RETURN(
      const int schedulers,
      EndProcesses(context, "scheduler", FindOurs("ordo-scheduler", folder),
                   kSchedulerStopTimeout));
  const std::string file = base::JoinPath(folder, "endpoints.json");
  if (base::Exists(context.files, file)) {
    ORDO_RETURN_IF_ERROR(context.files.RemoveFile(file));
  }
  return workers + supervisors + schedulers;
}

absl::StatusOr<int> StopDeployment(Context& context,
                                   const std::string& folder) {
  // It may be any folder, named by mistake: nothing is left in it.
  if (!DeploymentLock::WasTaken(folder) && !HasLeftovers(folder)) return 0;
  int keepers = 0;
  ORDO_ASSIGN_OR_RETURN(const DeploymentLock lock,
                        TakeFromKeeper(context, folder, &keepers));
  ORDO_ASSIGN_OR_RETURN(const int others, EndLeftovers(context, lock));
  return keepers + others;
}

}  // namespace ordo::services::cli
