#ifndef ORDO_WORKER_AGENT_LAUNCHER_H_
#define ORDO_WORKER_AGENT_LAUNCHER_H_

#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
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
// again when it has died. Limits, affinity and cgroup of supervisors are those
// that this process had when it started that one. Where it does not serve, as
// where the kernel is built without what it needs, it is ended and tried again
// after a minute; until then each supervisor is a program of its own, which
// takes longer to start. Not thread-safe.
class Launcher {
 public:
  // With the machine's clock, and patience for one that has stalled.
  Launcher();
  // `clock` outlives it. The process is silent that does not take a request,
  // or does not answer it, for `answer_limit`.
  Launcher(const base::Clock& clock, absl::Duration answer_limit);
  // Ends the process; the supervisors go on.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // The supervisor is a child of this process, which reaps it. After an error
  // there is none.
  absl::StatusOr<base::ProcessId> Start(const SupervisorCommand& command);

  // The process that is kept; 0: none.
  pid_t pid() const { return pid_; }
  // Whether a child that was reaped was this process.
  bool OnExit(pid_t pid);

 private:
  // Starts the process, and waits for its word that it can serve.
  absl::Status Begin(const std::string& deployment);
  // Kills the process, if it still runs.
  void End();
  // The number of a supervisor, by a process that is started unless there is
  // one. After an error there is no supervisor; NOT_FOUND: the process has
  // ended.
  absl::StatusOr<pid_t> Ask(const std::string& deployment,
                            const std::string& request);
  // After an error it has no whole request, and starts nothing.
  absl::Status Send(const std::string& request) const;
  // The next answer. After an error there will be none, and what should have
  // given it does not run; DEADLINE_EXCEEDED: the process was silent, and is
  // ended.
  absl::StatusOr<int> Receive();

  const base::Clock& clock_;
  const absl::Duration answer_limit_;
  // What the process is made of.
  std::string program_;
  pid_t pid_ = 0;
  int socket_ = -1;
  // Monotonic; until then supervisors are started without it.
  absl::Duration unfit_until_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_LAUNCHER_H_
