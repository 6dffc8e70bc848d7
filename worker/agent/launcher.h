#ifndef ORDO_WORKER_AGENT_LAUNCHER_H_
#define ORDO_WORKER_AGENT_LAUNCHER_H_

#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/process.h"

namespace ordo::worker::agent {

// How a supervisor is started.
struct SupervisorCommand {
  // The program's path, then its arguments.
  std::vector<std::string> argv;
  // "NAME=value".
  std::vector<std::string> environment;
  // Shown by the launcher's own command line.
  std::string deployment;
};

// Starts supervisors by a process that is kept for it
// (worker/supervisor/launcher.h), which is started by the first of them, and
// again when it has died. Where the kernel is built without what that needs,
// each is a program of its own; nobody sees a difference but in time. Not
// thread-safe.
class Launcher {
 public:
  Launcher() = default;
  // Ends the process; the supervisors go on.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // The supervisor is a child of this process, which reaps it. After an error
  // there is none; UNAVAILABLE: nobody knows, as the process that was to start
  // it did not answer and was killed.
  absl::StatusOr<base::ProcessId> Start(const SupervisorCommand& command);

  // The process that is kept; 0: none.
  pid_t pid() const { return pid_; }
  // Whether a child that was reaped was this process.
  bool OnExit(pid_t pid);

 private:
  // Starts the process. False where supervisors must be started without it.
  absl::StatusOr<bool> Begin(const SupervisorCommand& command);
  // Kills the process, if it still runs.
  void End();
  // Its answer to a request, and its next one. NOT_FOUND: it has ended, and
  // there is no supervisor; UNAVAILABLE: it is silent.
  absl::StatusOr<int> Ask(const SupervisorCommand& command) const;
  absl::StatusOr<int> Receive() const;

  // The program that it was made of.
  std::string program_;
  pid_t pid_ = 0;
  int socket_ = -1;
  bool unfit_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_LAUNCHER_H_
