#ifndef ORDO_BASE_PROCESS_PROCESS_H_
#define ORDO_BASE_PROCESS_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Processes of this machine (Linux: /proc and pidfd).

namespace ordo::base {

// The path of this process's own program, links resolved.
absl::StatusOr<std::string> ExecutablePath();

// The path of another of our programs, which lies beside this one. NOT_FOUND
// when it is not there.
absl::StatusOr<std::string> SiblingBinary(std::string_view name);

// The library of kernels for GPUs that belongs to the programs in a folder,
// whether it is there or not.
std::string GpuKernelsIn(const std::string& folder);

// Likewise the library through which ranks on GPUs add up.
std::string NcclLibraryIn(const std::string& folder);

// Likewise the one through which text is cut as SentencePiece does it.
std::string SentencePieceIn(const std::string& folder);

// Names the machine's current boot; empty where the kernel does not tell.
const std::string& BootId();

// A process and not a later one that got the same pid, nor one of another boot
// that got the same pid at the same time after it.
struct ProcessId {
  pid_t pid = 0;
  // Start time in clock ticks since boot, from /proc/<pid>/stat.
  uint64_t start_ticks = 0;
  std::string boot_id;
};

inline bool operator==(const ProcessId& a, const ProcessId& b) {
  return a.pid == b.pid && a.start_ticks == b.start_ticks &&
         a.boot_id == b.boot_id;
}

// The identity of a process now. NOT_FOUND when there is none, or only a
// zombie.
absl::StatusOr<ProcessId> IdentifyProcess(pid_t pid);

// True while exactly this process runs (a zombie does not run, nor does one of
// another boot).
bool IsRunning(const ProcessId& process);

struct SpawnOptions {
  // The program's path, then its arguments.
  std::vector<std::string> argv;
  // "NAME=value"; nothing passes this process's own on.
  std::optional<std::vector<std::string>> environment;
  // Opened for reading, and for appending (created when missing). Empty
  // inherits this process's own.
  std::string stdin_file = "/dev/null";
  std::string stdout_file;
  std::string stderr_file;
  // A descriptor of this process that is its standard input, not `stdin_file`.
  std::optional<int> stdin_descriptor = {};
  // Leader of a new session and process group: signals from the terminal and
  // to this group do not reach it.
  bool new_session = false;
};

// Starts a child. It begins with default signal handlers and no signal blocked.
// Fails with the reason when the program cannot be executed or a file cannot be
// opened. The caller reaps it with WaitForExit.
absl::StatusOr<ProcessId> Spawn(const SpawnOptions& options);

// How a process ended.
struct ExitStatus {
  // Exit code, when it exited.
  int exit_code = 0;
  // The signal that killed it, else 0.
  int signal = 0;

  bool ok() const { return exit_code == 0 && signal == 0; }
  // "exit code 2", "killed by signal 9 (Killed)".
  std::string ToString() const;
};

// Waits for a child to end and reaps it. DEADLINE_EXCEEDED when it still runs
// after `timeout`; NOT_FOUND when it is not (or no longer) a child.
absl::StatusOr<ExitStatus> WaitForExit(pid_t child, absl::Duration timeout);

// Waits until a process, child or not, no longer runs. Does not reap.
absl::Status WaitUntilGone(const ProcessId& process, absl::Duration timeout);

// Sends a signal to exactly this process. NOT_FOUND when it is gone.
absl::Status SignalProcess(const ProcessId& process, int signal);

// Sends a signal to all processes of a group. NOT_FOUND when it is empty.
absl::Status SignalGroup(pid_t group, int signal);

struct RunningProcess {
  ProcessId id;
  // The program as it was called, then its arguments.
  std::vector<std::string> arguments;
  // Those joined by blanks.
  std::string command_line;
};

// The file `name` of /proc about a process, as "environ": its first 4 MiB. An
// error if the process is gone, even in the middle of reading.
absl::StatusOr<std::string> ReadProcFile(pid_t pid, std::string_view name);

// All running processes, other than this one, whose command line contains
// `text`, by pid. One that is being started has no command line for a moment
// after Spawn returns, and is not found in it.
std::vector<RunningProcess> FindProcesses(std::string_view text);

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_PROCESS_H_
