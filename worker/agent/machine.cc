#include "worker/agent/machine.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sched.h>
#include <set>
#include <string>
#include <sys/utsname.h>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/log/log.h"
#include "base/process/process.h"
#include "base/text/labels.h"
#include "base/text/lines.h"
#include "proto/ordo/workers/v1/workers.pb.h"

namespace ordo::worker::agent {
namespace {

constexpr size_t kMaxInfoBytes = 1 << 20;
constexpr int64_t kBytesPerKib = 1024;
constexpr char kCgroups[] = "/sys/fs/cgroup";

std::string TextOf(const std::string& path) {
  base::PosixFilesystem files;
  return base::ReadFile(files, path, kMaxInfoBytes).value_or("");
}

int AllowedCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // Fails on machines with more cores than the set has room for.
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores)
                                                          : 0;
}

// The folders of this process's cgroup and of those above it. A container may
// see its own as the root.
std::vector<std::string> CgroupFolders(const std::string& root) {
  const std::string top = root + kCgroups;
  std::vector<std::string> folders = {top};
  for (const absl::string_view line :
       absl::StrSplit(TextOf(root + "/proc/self/cgroup"), '\n')) {
    // Version 2 has the one line that begins so.
    if (line.substr(0, 3) != "0::") continue;
    std::string folder = top;
    for (const absl::string_view part :
         absl::StrSplit(line.substr(3), '/', absl::SkipEmpty())) {
      if (part == "..") break;
      folder += "/" + std::string(part);
      folders.push_back(folder);
    }
  }
  return folders;
}

// The smaller of two of which 0 is unknown.
template <typename T>
T Least(T a, T b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// "max" and what cannot be read are no limit.
int64_t MemoryLimit(const std::string& folder) {
  int64_t bytes = 0;
  const std::string text = TextOf(folder + "/memory.max");
  return absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &bytes) ? bytes : 0;
}

// Time in a period, as whole cores.
int CoreLimit(const std::string& folder) {
  const std::vector<std::string> parts = absl::StrSplit(
      TextOf(folder + "/cpu.max"), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double quota = 0;
  double period = 0;
  if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &quota) ||
      !absl::SimpleAtod(parts[1], &period) || period <= 0) {
    return 0;
  }
  return std::max(1, static_cast<int>(std::floor(quota / period)));
}

// Whether the trainer can load it shows when it does: here is no LibTorch.
bool HasNccl(const std::string& trainer) {
  std::error_code error;
  const std::string program = std::filesystem::canonical(trainer, error);
  base::PosixFilesystem files;
  return !error &&
         base::Exists(files, base::NcclLibraryIn(base::FolderOf(program)));
}

// Below the storage root: what every job may read.
constexpr char kDataFolder[] = "data";

// As they are called and as they are with links resolved: the trainer goes by
// the latter.
void AddDataRoots(const ::ordo::config::v1::WorkerConfig& config,
                  ::ordo::workers::v1::DataRoots* roots) {
  std::vector<std::string> folders(config.data_roots().begin(),
                                   config.data_roots().end());
  if (!config.storage_root().empty()) {
    folders.push_back(base::JoinPath(config.storage_root(), kDataFolder));
  }
  std::set<std::string> paths;
  for (const std::string& folder : folders) {
    std::error_code error;
    const auto resolved = std::filesystem::weakly_canonical(folder, error);
    paths.insert(folder);
    if (!error) paths.insert(resolved.string());
  }
  std::set<std::string> bare;
  for (std::string path : paths) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (path.front() == '/') bare.insert(std::move(path));
  }
  for (const std::string& path : bare) roots->add_paths(path);
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  Machine machine;
  utsname name{};
  if (uname(&name) == 0) {
    machine.host = name.nodename;
    machine.architecture = name.machine;
  }
  machine.cpus = AllowedCores();
  const std::string total =
      base::LineValue(TextOf(root + "/proc/meminfo"), "MemTotal");
  int64_t kib = 0;
  if (absl::SimpleAtoi(total.substr(0, total.find(' ')), &kib)) {
    machine.memory_bytes = kib * kBytesPerKib;
  }
  for (const std::string& folder : CgroupFolders(root)) {
    machine.memory_bytes = Least(machine.memory_bytes, MemoryLimit(folder));
    machine.cpus = Least(machine.cpus, CoreLimit(folder));
  }
  return machine;
}

void Describe(const Machine& machine,
              const ::ordo::config::v1::WorkerConfig& config,
              ::ordo::agent::v1::AnnounceRequest* identity) {
  identity->set_cpus(config.cpus() > 0 ? config.cpus() : machine.cpus);
  identity->set_memory_bytes(config.memory_bytes() > 0 ? config.memory_bytes()
                                                       : machine.memory_bytes);
  identity->set_nccl(HasNccl(config.trainer()));
  AddDataRoots(config, identity->mutable_data_roots());
  *identity->mutable_labels() = config.labels();
  base::Labels found;
  if (!machine.host.empty()) found["host"] = machine.host;
  if (!machine.architecture.empty()) found["arch"] = machine.architecture;
  for (const auto& each : base::TakeOutBadLabels("labels", &found)) {
    base::LogWarning("a label of the machine is left out; configure another",
                     {{"field", each.field}, {"error", each.description}});
  }
  // Where the configuration has one of the name, it stays.
  identity->mutable_labels()->insert(found.begin(), found.end());
  for (auto& device : *identity->mutable_devices()) {
    if (device.kind() == "cpu") {
      device.set_memory_bytes(identity->memory_bytes());
    }
  }
}

}  // namespace ordo::worker::agent
