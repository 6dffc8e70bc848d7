#include "worker/agent/sandbox.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "worker/supervisor/landlock.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::config::v1::WorkerConfig;

constexpr int kDefaultProcesses = 4096;
constexpr int kMaxProcesses = 1 << 22;
constexpr int kMinOpenFiles = 64;
constexpr int kMaxOpenFiles = 1 << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
// What a trainer without a cgroup may map to write for itself: so often the
// main memory set aside for it, and so much more. What it does not touch counts
// too: stacks of threads, what malloc keeps, data of libraries.
constexpr int64_t kDataPerMemory = 2;
constexpr int64_t kDataRoom = int64_t{1} << 30;
// Names of GPUs begin so.
constexpr char kGpus[] = "cuda:";
// The name of the cgroup for what was in the folder before.
constexpr char kOwnCgroup[] = "worker";
// Rounds of moving processes, which may start others meanwhile.
constexpr int kMoveRounds = 10;
constexpr size_t kMaxCgroupFileBytes = 1 << 20;

// What trainers may write whatever their job is: devices have rights of their
// own.
constexpr char kDevices[] = "/dev";
// Where programs and their settings lie; beside them what kSettings has.
constexpr const char* kSystemFolders[] = {"/bin", "/lib",  "/lib32", "/lib64",
                                          "/opt", "/proc", "/sys",   "/usr"};
constexpr char kSettings[] = "/etc";
// Below it: keys, tokens and configurations of the services.
constexpr char kOwnSettings[] = "ordo";
constexpr const char* kPassedOn[] = {"GOMP_SPINCOUNT",  "LANG", "LC_ALL",
                                     "LD_LIBRARY_PATH", "PATH", "TZ"};
// Where programs lie unless the worker or the configuration says.
constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";
// How long waiting threads of the trainer spin. It would set this itself and
// start again, which takes as long as loading its libraries.
constexpr char kDefaultSpinCount[] = "1000";

template <typename Number>
void CheckRange(const std::string& field, Number value,
                const std::pair<Number, Number>& range,
                std::vector<base::FieldViolation>* violations) {
  if (value >= range.first && value <= range.second) return;
  violations->push_back({absl::StrCat("sandbox.", field),
                         absl::StrCat("must be ", range.first, "..",
                                      range.second, ", is ", value)});
}

void CheckFolder(const std::string& field, const std::string& path,
                 std::vector<base::FieldViolation>* violations) {
  if (!path.empty() && path.front() == '/' &&
      path.find('\0') == std::string::npos) {
    return;
  }
  violations->push_back(
      {absl::StrCat("sandbox.", field),
       absl::StrCat("'", path, "' must be an absolute folder")});
}

absl::Status BadUser(const std::string& why) {
  return base::InvalidField("sandbox.user", why);
}

absl::StatusOr<SandboxUser> FindUser(const std::string& text) {
  SandboxUser user;
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (!absl::SimpleAtoi(parts.first, &user.uid) ||
      !absl::SimpleAtoi(parts.second, &user.gid)) {
    char texts[16384];
    passwd entry{};
    passwd* found = nullptr;
    getpwnam_r(text.c_str(), &entry, texts, sizeof(texts), &found);
    if (found == nullptr) {
      return BadUser(absl::StrCat("there is no user '", text,
                                  "' on this machine; name one, or UID:GID"));
    }
    user = {found->pw_uid, found->pw_gid};
  }
  // -1 leaves them as they are.
  if (user.uid == 0 || user.gid == 0 || user.uid == static_cast<uid_t>(-1) ||
      user.gid == static_cast<gid_t>(-1)) {
    return BadUser(absl::StrCat(
        "'", text, "' is root, or of its group; name a user without rights"));
  }
  if (geteuid() != 0) {
    return BadUser(
        "only a worker that is root can start trainers as another user; start "
        "it so, or leave this out");
  }
  return user;
}

absl::Status Missing(const std::string& folder, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(
      folder, " ", what,
      "; it must be a cgroup of version 2 that is delegated to the worker, "
      "with the controllers memory and pids (systemd: Delegate=memory pids)"));
}

// Moves what is in a cgroup to another.
absl::Status MoveProcesses(base::Filesystem& files, const std::string& from,
                           const std::string& to) {
  for (int round = 0; round < kMoveRounds; ++round) {
    ORDO_ASSIGN_OR_RETURN(
        const std::string text,
        base::ReadFile(files, from + "/cgroup.procs", kMaxCgroupFileBytes));
    const std::vector<std::string> processes =
        absl::StrSplit(text, '\n', absl::SkipEmpty());
    if (processes.empty()) return absl::OkStatus();
    ORDO_RETURN_IF_ERROR(files.MakeFolders(to));
    for (const std::string& process : processes) {
      ORDO_ASSIGN_OR_RETURN(
          auto file,
          files.OpenForWrite(to + "/cgroup.procs", base::WriteMode::kExisting));
      // One that is gone meanwhile is what was wanted; others are seen again.
      file->Append(process).IgnoreError();
    }
  }
  return Missing(from, "has processes that cannot be moved");
}

// The folders that trainers may read besides what they may write.
std::vector<std::string> ReadableFolders(const WorkerConfig& config) {
  std::vector<std::string> readable(config.sandbox().readable().begin(),
                                    config.sandbox().readable().end());
  if (readable.empty()) return readable;
  readable.insert(readable.end(), std::begin(kSystemFolders),
                  std::end(kSystemFolders));
  readable.insert(readable.end(), config.data_roots().begin(),
                  config.data_roots().end());
  readable.push_back(config.storage_root());
  std::error_code error;
  // What lies in it apart, since a rule holds for all that is below.
  for (std::filesystem::directory_iterator entry(kSettings, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() != kOwnSettings && !entry->is_symlink(error)) {
      readable.push_back(entry->path().string());
    }
  }
  const auto program = std::filesystem::canonical(config.trainer(), error);
  if (!error) readable.push_back(program.parent_path().string());
  return readable;
}

}  // namespace

void CheckSandbox(::ordo::config::v1::Sandbox* config,
                  std::vector<base::FieldViolation>* violations) {
  if (!config->has_processes()) config->set_processes(kDefaultProcesses);
  if (!config->cgroup().empty()) {
    CheckFolder("cgroup", config->cgroup(), violations);
  }
  CheckRange("processes", config->processes(), {1, kMaxProcesses}, violations);
  CheckRange("file_bytes", config->file_bytes(), {int64_t{0}, kMaxBytes},
             violations);
  if (config->has_open_files()) {
    CheckRange("open_files", config->open_files(),
               {kMinOpenFiles, kMaxOpenFiles}, violations);
  }
  CheckRange("address_space_bytes", config->address_space_bytes(),
             {int64_t{0}, kMaxBytes}, violations);
  for (int i = 0; i < config->writable_size(); ++i) {
    CheckFolder(absl::StrCat("writable[", i, "]"), config->writable(i),
                violations);
  }
  for (int i = 0; i < config->readable_size(); ++i) {
    CheckFolder(absl::StrCat("readable[", i, "]"), config->readable(i),
                violations);
  }
}

absl::Status CheckReadable(const ::ordo::config::v1::Sandbox& config,
                           int landlock) {
  if (landlock > 0 || config.readable().empty() || !config.user().empty()) {
    return absl::OkStatus();
  }
  return base::InvalidField(
      "sandbox.readable",
      "this kernel has no Landlock (Linux 5.19 and later, where it is not "
      "switched off), so trainers would read whatever the worker may, its keys "
      "too; name another user in `sandbox.user`, or leave this out");
}

absl::StatusOr<Sandbox> MakeSandbox(const WorkerConfig& config,
                                    base::Filesystem& files) {
  const auto& wanted = config.sandbox();
  const int landlock = supervisor::LandlockVersion();
  ORDO_RETURN_IF_ERROR(CheckReadable(wanted, landlock));
  Sandbox sandbox;
  if (!wanted.user().empty()) {
    ORDO_ASSIGN_OR_RETURN(sandbox.user, FindUser(wanted.user()));
  } else if (geteuid() == 0) {
    base::LogWarning(
        "trainers run as root; name another user in `sandbox.user`");
  }
  sandbox.cgroup = wanted.cgroup();
  if (!sandbox.cgroup.empty()) {
    const absl::Status status = PrepareCgroup(sandbox.cgroup);
    if (!status.ok()) {
      return base::InvalidField("sandbox.cgroup",
                                std::string(status.message()));
    }
  }
  sandbox.processes = wanted.processes();
  sandbox.file_bytes = wanted.file_bytes();
  sandbox.open_files = wanted.open_files();
  sandbox.address_space_bytes = wanted.address_space_bytes();
  // Made here, since trainers may not make it.
  const std::string stores = config.storage_root() + "/data/.stores";
  if (base::Exists(files, config.storage_root()) &&
      files.MakeFolders(stores).ok()) {
    ORDO_RETURN_IF_ERROR(GiveToTrainer(sandbox, {stores}));
  }
  sandbox.writable = {wanted.writable().begin(), wanted.writable().end()};
  sandbox.writable.emplace_back(kDevices);
  sandbox.writable.push_back(stores);
  sandbox.readable = ReadableFolders(config);
  if (landlock == 0) {
    base::LogWarning(
        "this kernel has no Landlock: trainers may read and write whatever "
        "their user may");
  }
  return sandbox;
}

absl::Status PrepareCgroup(const std::string& folder) {
  base::PosixFilesystem files;
  const auto controllers = base::ReadFile(files, folder + "/cgroup.controllers",
                                          kMaxCgroupFileBytes);
  if (!controllers.ok()) return Missing(folder, "is no such cgroup");
  const std::vector<std::string> names =
      absl::StrSplit(*controllers, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  for (const char* name : {"memory", "pids"}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Missing(folder, absl::StrCat("has the controllers '",
                                          absl::StrJoin(names, " "), "'"));
    }
  }
  ORDO_RETURN_IF_ERROR(
      MoveProcesses(files, folder, absl::StrCat(folder, "/", kOwnCgroup)));
  ORDO_ASSIGN_OR_RETURN(auto control,
                        files.OpenForWrite(folder + "/cgroup.subtree_control",
                                           base::WriteMode::kExisting));
  ORDO_RETURN_IF_ERROR(control->Append("+memory +pids"));
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> entries,
                        files.List(folder));
  for (const std::string& entry : entries) {
    // Those of trainers have a dot in their names, as the kernel's files have,
    // which no rmdir takes away; nor does it what is in use.
    if (entry.find('.') != std::string::npos) {
      rmdir(absl::StrCat(folder, "/", entry).c_str());
    }
  }
  return absl::OkStatus();
}

int64_t MemoryOf(const DesiredAttempt& desired) {
  switch (desired.task_case()) {
    case DesiredAttempt::kTrain:
      return desired.train().resources().memory_bytes();
    case DesiredAttempt::kEvaluate:
      return desired.evaluate().resources().memory_bytes();
    case DesiredAttempt::kBenchmark:
      return desired.benchmark().resources().memory_bytes();
    case DesiredAttempt::kGate:
      return desired.gate().resources().memory_bytes();
    default:
      return 0;
  }
}

bool HoldsGpu(const DesiredAttempt& desired) {
  return std::any_of(
      desired.devices().begin(), desired.devices().end(),
      [](const auto& device) { return absl::StartsWith(device, kGpus); });
}

std::string CgroupOf(const Sandbox& sandbox, const std::string& name) {
  return sandbox.cgroup.empty() ? "" : absl::StrCat(sandbox.cgroup, "/", name);
}

std::vector<std::string> SandboxArguments(const Sandbox& sandbox,
                                          const Sandboxed& trainer) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* flag, const std::string& value) {
    arguments.emplace_back(flag);
    arguments.push_back(value);
  };
  const auto add_number = [&](const char* flag, int64_t value) {
    if (value > 0) add(flag, absl::StrCat(value));
  };
  if (sandbox.user) {
    add("--user", absl::StrCat(sandbox.user->uid, ":", sandbox.user->gid));
  }
  if (!sandbox.cgroup.empty()) {
    add("--cgroup", CgroupOf(sandbox, trainer.name));
    add_number("--memory-bytes", trainer.memory_bytes);
  } else if (trainer.memory_bytes > 0 && !trainer.holds_gpu) {
    add_number(
        "--data-bytes",
        std::min(trainer.memory_bytes, kMaxBytes) * kDataPerMemory + kDataRoom);
  }
  add_number("--processes", sandbox.processes);
  add_number("--file-bytes", sandbox.file_bytes);
  add_number("--open-files", sandbox.open_files);
  add_number("--address-space-bytes", sandbox.address_space_bytes);
  if (sandbox.writable.empty()) return arguments;
  add("--writable", trainer.job_folder);
  for (const std::string& path : sandbox.writable) add("--writable", path);
  for (const std::string& path : sandbox.readable) add("--readable", path);
  return arguments;
}

absl::Status GiveToTrainer(const Sandbox& sandbox,
                           const std::vector<std::string>& paths) {
  if (!sandbox.user) return absl::OkStatus();
  for (const std::string& path : paths) {
    if (lchown(path.c_str(), sandbox.user->uid, sandbox.user->gid) != 0) {
      return base::SystemError(errno,
                               "give " + path + " to the trainers' user");
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> TrainerEnvironment(const WorkerConfig& config,
                                            char** own) {
  std::map<std::string, std::string> environment = {
      {"GOMP_SPINCOUNT", kDefaultSpinCount}, {"PATH", kDefaultPath}};
  for (char** entry = own; *entry != nullptr; ++entry) {
    for (const char* name : kPassedOn) {
      const size_t length = std::strlen(name);
      if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
        environment[name] = *entry + length + 1;
      }
    }
  }
  for (const auto& [name, value] : config.trainer_environment()) {
    environment[name] = value;
  }
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) {
    texts.push_back(absl::StrCat(name, "=", value));
  }
  return texts;
}

}  // namespace ordo::worker::agent
