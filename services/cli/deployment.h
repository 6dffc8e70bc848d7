#ifndef ORDO_SERVICES_CLI_DEPLOYMENT_H_
#define ORDO_SERVICES_CLI_DEPLOYMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/process/process.h"

namespace ordo::services::cli {

// A scheduler and a worker of one machine, all in one folder:
//   config/*.textproto, config/settings.yaml, endpoints.json, scheduler/,
//   worker/, log/, storage/

struct DeploymentOptions {
  // Absolute, links resolved.
  std::string folder;
  // HOST:PORT of the API; port 0 lets the kernel choose.
  std::string listen = "127.0.0.1:7420";
  bool insecure = false;
  // Another trainer than the one beside our own program; empty: that one.
  std::string trainer;
  // "NAME=value" for trainers.
  std::vector<std::string> trainer_environment;
  // "scheduler.lease=2s", "worker.stop_grace=5s": fields of the configurations.
  std::vector<std::string> settings;
  // Folders that jobs may read data from: absolute, links resolved. They come
  // on top of those that settings name.
  std::vector<std::string> data_roots;
};

// Who runs in a deployment and where it answers: endpoints.json.
struct Endpoints {
  std::string api;
  // By process, "scheduler", "worker".
  std::map<std::string, std::string> metrics;
  // By process, those and "keeper".
  std::map<std::string, base::ProcessId> processes;
  // Everything answers.
  bool ready = false;
};

// Where the programs of a user keep their data: XDG_DATA_HOME if it is an
// absolute path, else ~/.local/share; nothing without a HOME.
std::optional<std::string> DataHome(
    const std::function<std::optional<std::string>(const std::string&)>&
        environment);

// The folder that --dir or ORDO_DIR names, or when neither does (`named` is
// empty) the one in `data_home`; made if `create`. INVALID_ARGUMENT when it
// cannot be used.
absl::StatusOr<std::string> DeploymentFolder(
    base::Filesystem& files, const std::string& named,
    const std::optional<std::string>& data_home, bool create);

std::string LogFile(const std::string& folder, const std::string& process);
std::string ConfigFile(const std::string& folder, const std::string& process);
// Where a process writes the ports it got.
std::string PortsFile(const std::string& folder, const std::string& process);

// Writes both configurations; `api` is the scheduler's address for the worker,
// empty before it is known.
absl::Status WriteSchedulerConfig(base::Filesystem& files,
                                  const DeploymentOptions& options,
                                  const std::string& listen);
absl::Status WriteWorkerConfig(base::Filesystem& files,
                               const DeploymentOptions& options,
                               const std::string& api);

// Where the scheduler of a folder listened when it was last up; empty where it
// never was.
std::string ConfiguredListen(base::Filesystem& files,
                             const std::string& folder);

// Sees to it that writing the configurations loses no change by hand:
// FAILED_PRECONDITION, naming the fix, when one was changed since it was
// written. One without a mark of its writer, as earlier versions left it, is
// copied aside; gives the paths of such copies.
absl::StatusOr<std::vector<std::string>> KeepHandEdits(
    base::Filesystem& files, const std::string& folder);

// The longest grace that the configurations in a folder give trainers to write
// a checkpoint and leave; the default where none is set.
absl::Duration ConfiguredStopGrace(base::Filesystem& files,
                                   const std::string& folder);

// Checks that every setting names a field and can be read.
absl::Status CheckSettings(const DeploymentOptions& options);

// The absolute path of a folder that jobs are to read data from, links
// resolved. INVALID_ARGUMENT, naming --data-root, when it is none, cannot be
// read, or has a colon in its path, which workers refuse.
absl::StatusOr<std::string> DataRoot(const std::string& path);

absl::Status WriteEndpoints(base::Filesystem& files, const std::string& folder,
                            const Endpoints& endpoints);
// Nothing when there is no (readable) file.
std::optional<Endpoints> ReadEndpoints(base::Filesystem& files,
                                       const std::string& folder);
// As JSON, on one line.
std::string EndpointsJson(const Endpoints& endpoints);

// {"api": ..., "metrics": ...} as the scheduler and the worker write it;
// nothing until the file is there and whole.
struct Ports {
  std::string api;
  std::string metrics;
};
std::optional<Ports> ReadPorts(base::Filesystem& files,
                               const std::string& folder,
                               const std::string& process);

// An address that this machine's clients can use for a server that listens on
// `listen`: any-address hosts become loopback.
std::string LocalAddress(const std::string& listen);

// OK when a server could listen there now; else says what to do.
absl::Status CheckPortFree(const std::string& listen);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_DEPLOYMENT_H_
