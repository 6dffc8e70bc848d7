#include "base/process/process.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"

extern char** environ;

namespace ordo::base {
namespace {

// Longest file of /proc that is read: command lines may take 2 MiB.
constexpr size_t kMaxProcFileBytes = size_t{4} << 20;
constexpr mode_t kOutputMode = 0644;

std::string ProcPath(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

// /proc files report no size, so they are read to their end.
absl::StatusOr<std::string> ReadToEnd(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(errno, "open " + path);
  std::string content;
  char part[4096];
  ssize_t count = 0;
  while (content.size() < kMaxProcFileBytes &&
         (count = ::read(descriptor, part, sizeof part)) > 0) {
    content.append(part, static_cast<size_t>(count));
  }
  const int error_number = count < 0 ? errno : 0;
  ::close(descriptor);
  if (error_number != 0) return SystemError(error_number, "read " + path);
  return content;
}

std::string ReadBootId() {
  auto id = ReadToEnd("/proc/sys/kernel/random/boot_id");
  if (!id.ok()) return "";
  while (!id->empty() && id->back() == '\n') id->pop_back();
  return *std::move(id);
}

absl::Status NoProcess(pid_t pid) {
  return absl::NotFoundError("process " + std::to_string(pid) +
                             " does not run");
}

// A descriptor that becomes readable when the process ends; -1 and errno else.
int OpenPidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

// Waits until the process behind `pidfd` has ended. False at the deadline.
bool PollUntilEnded(int pidfd, absl::Duration timeout) {
  const RealClock clock;
  const absl::Duration deadline = clock.Monotonic() + timeout;
  while (true) {
    const absl::Duration left =
        std::max(deadline - clock.Monotonic(), absl::ZeroDuration());
    const double left_ms = absl::ToDoubleMilliseconds(left) + 1;
    pollfd entry = {pidfd, POLLIN, 0};
    const int wait_ms = left == absl::ZeroDuration() ? 0
                        : left_ms > INT_MAX          ? INT_MAX
                                            : static_cast<int>(left_ms);
    if (::poll(&entry, 1, wait_ms) > 0) return true;
    if (left == absl::ZeroDuration()) return false;
  }
}

absl::Status StillRuns(pid_t pid, absl::Duration timeout) {
  return absl::DeadlineExceededError("process " + std::to_string(pid) +
                                     " still runs after " +
                                     absl::FormatDuration(timeout));
}

// The C arrays that posix_spawn wants; `texts` outlives them.
std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Attributes and file actions of one spawn.
class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnSetup() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  void SetSignals(bool new_session) {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                      (new_session ? POSIX_SPAWN_SETSID : 0);
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }

  void Redirect(int descriptor, const std::string& path) {
    if (path.empty()) return;
    const int flags =
        descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND;
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(),
                                       flags, kOutputMode);
  }

  void PassAsInput(int descriptor) {
    ::posix_spawn_file_actions_adddup2(&actions_, descriptor, STDIN_FILENO);
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

// posix_spawn does not say which of its steps failed.
absl::Status SpawnError(const SpawnOptions& options, int error_number) {
  for (const std::string* path :
       {&options.stdin_file, &options.stdout_file, &options.stderr_file}) {
    const int mode = path == &options.stdin_file ? R_OK : W_OK;
    const std::string target =
        ::access(path->c_str(), F_OK) == 0 ? *path : FolderOf(*path);
    if (!path->empty() && ::access(target.c_str(), mode) != 0) {
      return SystemError(errno, "start " + options.argv[0] + ": open " + *path);
    }
  }
  return SystemError(error_number, "start " + options.argv[0]);
}

}  // namespace

absl::StatusOr<std::string> ExecutablePath() {
  std::string path(PATH_MAX, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size < 0) return SystemError(errno, "read link /proc/self/exe");
  path.resize(static_cast<size_t>(size));
  return path;
}

absl::StatusOr<std::string> SiblingBinary(std::string_view name) {
  ORDO_ASSIGN_OR_RETURN(const std::string own, ExecutablePath());
  const std::string path = JoinPath(FolderOf(own), name);
  if (::access(path.c_str(), X_OK) != 0) {
    return SystemError(errno, "find program " + path +
                                  " (Ordo's programs belong in one folder)");
  }
  return path;
}

std::string GpuKernelsIn(const std::string& folder) {
  // As it is built.
  return JoinPath(folder, "kernels/cuda/libordo_cuda.so");
}

std::string NcclLibraryIn(const std::string& folder) {
  return JoinPath(folder, "model/training/nccl/libordo_nccl.so");
}

std::string SentencePieceIn(const std::string& folder) {
  return JoinPath(
      folder, "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so");
}

const std::string& BootId() {
  // Never changes while a process lives.
  static const auto* const id = new std::string(ReadBootId());
  return *id;
}

absl::StatusOr<std::string> ReadProcFile(pid_t pid, std::string_view name) {
  return ReadToEnd(ProcPath(pid, name));
}

absl::StatusOr<ProcessId> IdentifyProcess(pid_t pid) {
  const auto stat = ReadProcFile(pid, "stat");
  if (!stat.ok()) return NoProcess(pid);
  // The name, in parentheses, may hold anything; fields are counted after it
  // (proc(5)): field 3 is the state, field 22 the start time.
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return NoProcess(pid);
  std::vector<std::string_view> fields;
  std::string_view rest = std::string_view(*stat).substr(name_end + 1);
  while (!rest.empty()) {
    const size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    const std::string_view field = rest.substr(0, rest.find(' '));
    fields.push_back(field);
    rest.remove_prefix(field.size());
  }
  constexpr size_t kState = 3 - 3;
  constexpr size_t kStartTime = 22 - 3;
  if (fields.size() <= kStartTime || fields[kState] == "Z" ||
      fields[kState] == "X") {
    return NoProcess(pid);
  }
  ProcessId id;
  id.pid = pid;
  id.boot_id = BootId();
  const std::string_view ticks = fields[kStartTime];
  std::from_chars(ticks.data(), ticks.data() + ticks.size(), id.start_ticks);
  return id;
}

bool IsRunning(const ProcessId& process) {
  const auto now = IdentifyProcess(process.pid);
  return now.ok() && *now == process;
}

absl::StatusOr<ProcessId> Spawn(const SpawnOptions& options) {
  if (options.argv.empty()) {
    return absl::InvalidArgumentError("start a program: no path is given");
  }
  SpawnSetup setup;
  setup.SetSignals(options.new_session);
  if (options.stdin_descriptor) {
    setup.PassAsInput(*options.stdin_descriptor);
  } else {
    setup.Redirect(STDIN_FILENO, options.stdin_file);
  }
  setup.Redirect(STDOUT_FILENO, options.stdout_file);
  setup.Redirect(STDERR_FILENO, options.stderr_file);
  std::vector<char*> environment;
  if (options.environment) environment = Pointers(*options.environment);
  ProcessId child;
  const int error_number =
      ::posix_spawn(&child.pid, options.argv[0].c_str(), setup.actions(),
                    setup.attributes(), Pointers(options.argv).data(),
                    options.environment ? environment.data() : environ);
  if (error_number != 0) return SpawnError(options, error_number);
  // Even a child that has ended keeps its entry until it is reaped, but then
  // has no identity worth guarding.
  const auto id = IdentifyProcess(child.pid);
  if (id.ok()) child = *id;
  return child;
}

std::string ExitStatus::ToString() const {
  if (signal == 0) return "exit code " + std::to_string(exit_code);
  return "killed by signal " + std::to_string(signal) + " (" +
         ::strsignal(signal) + ")";
}

absl::StatusOr<ExitStatus> WaitForExit(pid_t child, absl::Duration timeout) {
  const int pidfd = OpenPidfd(child);
  if (pidfd < 0) {
    return SystemError(errno == ESRCH ? ENOENT : errno,
                       "wait for process " + std::to_string(child));
  }
  const bool ended = PollUntilEnded(pidfd, timeout);
  ::close(pidfd);
  if (!ended) return StillRuns(child, timeout);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    return SystemError(errno == ECHILD ? ENOENT : errno,
                       "reap process " + std::to_string(child));
  }
  ExitStatus result;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

absl::Status WaitUntilGone(const ProcessId& process, absl::Duration timeout) {
  const int pidfd = OpenPidfd(process.pid);
  if (pidfd < 0 && errno != ESRCH) {
    return SystemError(errno, "watch process " + std::to_string(process.pid));
  }
  // Asked after opening, so that the descriptor is that of this process.
  const bool ended =
      pidfd < 0 || !IsRunning(process) || PollUntilEnded(pidfd, timeout);
  if (pidfd >= 0) ::close(pidfd);
  return ended ? absl::OkStatus() : StillRuns(process.pid, timeout);
}

absl::Status SignalProcess(const ProcessId& process, int signal) {
  const int pidfd = OpenPidfd(process.pid);
  if (pidfd < 0) return NoProcess(process.pid);
  absl::Status status;
  if (!IsRunning(process)) {
    status = NoProcess(process.pid);
  } else if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) != 0) {
    status = errno == ESRCH
                 ? NoProcess(process.pid)
                 : SystemError(errno,
                               "signal process " + std::to_string(process.pid));
  }
  ::close(pidfd);
  return status;
}

absl::Status SignalGroup(pid_t group, int signal) {
  // 0 and 1 would reach this process's own group or everything there is.
  if (group <= 1) return absl::InvalidArgumentError("no such process group");
  if (::kill(-group, signal) == 0) return absl::OkStatus();
  return SystemError(errno == ESRCH ? ENOENT : errno,
                     "signal process group " + std::to_string(group));
}

std::vector<RunningProcess> FindProcesses(std::string_view text) {
  std::vector<RunningProcess> found;
  const auto names = PosixFilesystem().List("/proc");
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    pid_t pid = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, pid).ptr != end) continue;
    if (pid == ::getpid()) continue;
    auto command_line = ReadProcFile(pid, "cmdline");
    const auto id = IdentifyProcess(pid);
    if (!command_line.ok() || command_line->empty() || !id.ok()) continue;
    std::string joined = *command_line;
    std::replace(joined.begin(), joined.end(), '\0', ' ');
    if (joined.find(text) == std::string::npos) continue;
    // Each argument ends with a NUL.
    if (command_line->back() == '\0') command_line->pop_back();
    std::vector<std::string> arguments = absl::StrSplit(*command_line, '\0');
    found.push_back({*id, std::move(arguments), std::move(joined)});
  }
  std::sort(found.begin(), found.end(),
            [](const RunningProcess& a, const RunningProcess& b) {
              return a.id.pid < b.id.pid;
            });
  return found;
}

}  // namespace ordo::base
