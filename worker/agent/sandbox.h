#ifndef ORDO_WORKER_AGENT_SANDBOX_H_
#define ORDO_WORKER_AGENT_SANDBOX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"

// What trainers may take and do: what an administrator configures of it, and
// how a supervisor is told (worker/supervisor/confinement.h).

namespace ordo::worker::agent {

struct SandboxUser {
  uid_t uid = 0;
  gid_t gid = 0;
};

// What holds of all trainers of a worker. Of the numbers, 0 is none; without
// anything it confines nothing.
struct Sandbox {
  // Whom they run as; none: as the worker does.
  std::optional<SandboxUser> user = {};
  // The folder that their cgroups are made in; empty: they have none.
  std::string cgroup = {};
  int64_t processes = 0;
  int64_t file_bytes = 0;
  int64_t open_files = 0;
  int64_t address_space_bytes = 0;
  // Folders beside their job's that they may write; empty: they may write, and
  // read, whatever their user may.
  std::vector<std::string> writable = {};
  // And read; empty: whatever their user may.
  std::vector<std::string> readable = {};
};

// Fills in the defaults and judges the fields by themselves.
void CheckSandbox(::ordo::config::v1::Sandbox* config,
                  std::vector<base::FieldViolation>* violations);

// Whether `readable` holds on a kernel with this version of Landlock
// (supervisor::LandlockVersion), or who trainers are keeps from them what they
// must not read. INVALID_ARGUMENT: neither, and what to do.
absl::Status CheckReadable(const ::ordo::config::v1::Sandbox& config,
                           int landlock);

// What this machine makes of a configuration that is valid: looks up the user,
// and readies the cgroup and the folder of tokens that are kept.
// INVALID_ARGUMENT names the field that does not fit this machine.
absl::StatusOr<Sandbox> MakeSandbox(
    const ::ordo::config::v1::WorkerConfig& config, base::Filesystem& files);

// The part of it that readies a folder for the cgroups of trainers: enables the
// controllers, moves processes that are in it to a cgroup `worker` below, and
// removes empty ones that an earlier process left. FAILED_PRECONDITION says
// what is missing.
absl::Status PrepareCgroup(const std::string& folder);

// A trainer that is about to be started.
struct Sandboxed {
  // Its job's folder, which it may write.
  const std::string& job_folder;
  // Its name among those of the worker.
  const std::string& name;
  // Main memory set aside for it in bytes; 0: any. A cgroup bounds it to that;
  // without one, and without a GPU, whose driver maps far more than there is
  // memory, each of its processes is bound to twice that and 1 GiB of what it
  // maps to write for itself.
  int64_t memory_bytes = 0;
  bool holds_gpu = false;
};

// Main memory set aside for each rank of a task, in bytes; 0: none.
int64_t MemoryOf(const ::ordo::agent::v1::DesiredAttempt& desired);

// Whether a device of the attempt is a GPU.
bool HoldsGpu(const ::ordo::agent::v1::DesiredAttempt& desired);

// The folder of its cgroup; empty: it has none.
std::string CgroupOf(const Sandbox& sandbox, const std::string& name);

// How a supervisor is told of it: flags with their values.
std::vector<std::string> SandboxArguments(const Sandbox& sandbox,
                                          const Sandboxed& trainer);

// Gives what lies at these paths, links themselves, to the trainers' user;
// nothing where they run as the worker does.
absl::Status GiveToTrainer(const Sandbox& sandbox,
                           const std::vector<std::string>& paths);

// "NAME=value", what all trainers of a worker have in their environment: of
// `own`, the worker's (as `environ`), what is listed in the configuration's
// proto, and what the configuration adds.
std::vector<std::string> TrainerEnvironment(
    const ::ordo::config::v1::WorkerConfig& config, char** own);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_SANDBOX_H_
