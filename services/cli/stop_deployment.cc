#include "services/cli/stop_deployment.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {
namespace {

constexpr absl::Duration kKillTimeout = absl::Seconds(5);
// What a drain takes beyond the grace of its trainers.
constexpr absl::Duration kDrainMargin = absl::Seconds(60);

// Processes of a program of ours that carry `folder` on their command line.
std::vector<base::ProcessId> FindOurs(const std::string& program,
                                      const std::string& option,
                                      const std::string& folder) {
  std::vector<base::ProcessId> found;
  const std::string mark = absl::StrCat(" ", option, " ", folder, " ");
  for (const base::RunningProcess& process :
       base::FindProcesses(absl::StrCat(option, " ", folder))) {
    const std::string line = process.command_line + " ";
    const std::string name =
        base::NameOf(std::string(line.substr(0, line.find(' '))));
    if (name == program && line.find(mark) != std::string::npos) {
      found.push_back(process.id);
    }
  }
  return found;
}

// Ends processes of one kind and says so; gives their number.
absl::StatusOr<int> EndAll(Context& context, const std::string& name,
                           const std::vector<base::ProcessId>& ids,
                           absl::Duration timeout) {
  for (const base::ProcessId& id : ids) {
    if (context.output == OutputForm::kTable) {
      context.out << "stopping the " << name << " (" << id.pid << ")"
                  << std::endl;
    }
    ORDO_RETURN_IF_ERROR(EndProcess(name, id, timeout));
  }
  return static_cast<int>(ids.size());
}

}  // namespace

absl::Status EndProcess(const std::string& name, const base::ProcessId& id,
                        absl::Duration timeout) {
  const absl::Status signalled = base::SignalProcess(id, SIGTERM);
  if (signalled.code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(base::AddContext(signalled, "end the " + name));
  if (base::WaitUntilGone(id, timeout).ok()) return absl::OkStatus();
  const absl::Status killed = base::SignalProcess(id, SIGKILL);
  if (killed.code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(base::AddContext(killed, "kill the " + name));
  return base::AddContext(base::WaitUntilGone(id, kKillTimeout),
                          "wait for the killed " + name);
}

absl::Duration WorkerStopTimeout(base::Filesystem& files,
                                 const std::string& folder) {
  return ConfiguredStopGrace(files, folder) + kDrainMargin;
}

absl::StatusOr<int> EndSupervisors(Context& context,
                                   const std::string& folder) {
  return EndAll(context, "supervisor",
                FindOurs("ordo-supervisor", "--deployment", folder),
                WorkerStopTimeout(context.files, folder));
}

absl::Status StopDeployment(Context& context, const std::string& folder,
                            int* num_stopped) {
  *num_stopped = 0;
  const absl::Duration worker_timeout =
      WorkerStopTimeout(context.files, folder);
  const std::optional<Endpoints> endpoints =
      ReadEndpoints(context.files, folder);
  // The one that endpoints.json names, else by the command line. A keeper's is
  // not unlike other calls of ours, so it is only taken from the file.
  const auto find = [&](const std::string& name, const std::string& program) {
    std::vector<base::ProcessId> ids;
    if (endpoints.has_value() && endpoints->processes.count(name) > 0) {
      const base::ProcessId id = endpoints->processes.at(name);
      if (base::IsRunning(id)) ids.push_back(id);
    }
    if (ids.empty() && !program.empty()) {
      ids = FindOurs(program, "--deployment", folder);
    }
    return ids;
  };
  // A keeper ends the others, supervisors without a worker among them.
  ORDO_ASSIGN_OR_RETURN(
      const int keepers,
      EndAll(context, "keeper", find("keeper", ""),
             2 * worker_timeout + kSchedulerStopTimeout + 3 * kKillTimeout));
  ORDO_ASSIGN_OR_RETURN(
      const int workers,
      EndAll(context, "worker", find("worker", "ordo-worker"), worker_timeout));
  ORDO_ASSIGN_OR_RETURN(const int supervisors, EndSupervisors(context, folder));
  ORDO_ASSIGN_OR_RETURN(
      const int schedulers,
      EndAll(context, "scheduler", find("scheduler", "ordo-scheduler"),
             kSchedulerStopTimeout));
  *num_stopped = keepers + workers + supervisors + schedulers;
  const std::string file = base::JoinPath(folder, "endpoints.json");
  if (base::Exists(context.files, file)) {
    ORDO_RETURN_IF_ERROR(context.files.RemoveFile(file));
  }
  return absl::OkStatus();
}

}  // namespace ordo::services::cli
