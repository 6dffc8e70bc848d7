#include "worker/agent/launcher.h"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "worker/supervisor/launch.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::worker::supervisor::LaunchHeader;

// What takes microseconds, on a machine that has stalled.
constexpr int kAnswerLimitMs = 5000;

absl::StatusOr<base::ProcessId> SpawnAlone(const SupervisorCommand& command) {
  base::SpawnOptions spawn;
  spawn.argv = command.argv;
  spawn.environment = command.environment;
  spawn.stdout_file = "/dev/null";
  spawn.stderr_file = "/dev/null";
  spawn.new_session = true;
  return base::Spawn(spawn);
}

// From a launcher's answer, as Spawn says it.
absl::StatusOr<base::ProcessId> Started(const SupervisorCommand& command,
                                        int answer) {
  if (answer < 0) {
    return base::SystemError(-answer, absl::StrCat("start ", command.argv[0]));
  }
  base::ProcessId child;
  child.pid = answer;
  // One that has ended has no identity worth guarding.
  const auto id = base::IdentifyProcess(child.pid);
  return id.ok() ? *id : child;
}

absl::Status HasEnded() {
  return absl::NotFoundError("the launcher of supervisors has ended");
}

void AddTexts(const std::vector<std::string>& texts, std::string* bytes) {
  for (const std::string& text : texts) {
    // Up to a zero byte, as arguments and environments are.
    bytes->append(text.c_str());
    bytes->push_back('\0');
  }
}

}  // namespace

Launcher::~Launcher() { End(); }

absl::StatusOr<base::ProcessId> Launcher::Start(
    const SupervisorCommand& command) {
  if (program_ != command.argv[0]) {
    End();
    unfit_ = false;
  }
  // One that died since the last supervisor is no reason to fail.
  for (int i = 0; i < 2 && !unfit_; ++i) {
    if (pid_ == 0) {
      ORDO_ASSIGN_OR_RETURN(const bool began, Begin(command));
      if (!began) break;
    }
    const absl::StatusOr<int> answer = Ask(command);
    if (answer.ok()) return Started(command, *answer);
    End();
    if (!absl::IsNotFound(answer.status())) return answer.status();
  }
  return SpawnAlone(command);
}

bool Launcher::OnExit(pid_t pid) {
  if (pid_ == 0 || pid != pid_) return false;
  base::LogWarning("launcher of supervisors ended; there will be another",
                   {{"pid", pid}});
  pid_ = 0;
  End();
  return true;
}

absl::StatusOr<bool> Launcher::Begin(const SupervisorCommand& command) {
  End();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return base::SystemError(errno, "make a socket for supervisors' launcher");
  }
  socket_ = sockets[0];
  base::SpawnOptions spawn;
  spawn.argv = {command.argv[0], "--launcher", "--deployment",
                command.deployment};
  // Supervisors are given their own.
  spawn.environment = std::vector<std::string>();
  spawn.stdin_descriptor = sockets[1];
  spawn.stdout_file = "/dev/null";
  spawn.stderr_file = "/dev/null";
  spawn.new_session = true;
  const absl::StatusOr<base::ProcessId> started = base::Spawn(spawn);
  close(sockets[1]);
  ORDO_RETURN_IF_ERROR(started);
  program_ = command.argv[0];
  pid_ = started->pid;
  const absl::StatusOr<int> fit = Receive();
  if (fit.ok() && *fit == 0) return true;
  unfit_ = fit.ok();
  base::LogWarning(
      "supervisors are started without a launcher",
      {{"error", fit.ok() ? base::SystemError(-*fit, "prctl") : fit.status()}});
  End();
  return false;
}

void Launcher::End() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  base::WaitForExit(pid_, absl::InfiniteDuration()).status().IgnoreError();
  pid_ = 0;
}

absl::StatusOr<int> Launcher::Ask(const SupervisorCommand& command) const {
  std::string texts;
  AddTexts(command.argv, &texts);
  AddTexts(command.environment, &texts);
  LaunchHeader header;
  header.num_bytes = static_cast<uint32_t>(texts.size());
  header.num_arguments = static_cast<uint32_t>(command.argv.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += texts;
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return HasEnded();
    sent += static_cast<size_t>(count);
  }
  return Receive();
}

absl::StatusOr<int> Launcher::Receive() const {
  pollfd entry = {socket_, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1, kAnswerLimitMs);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) {
    return absl::UnavailableError("the launcher of supervisors is silent");
  }
  int32_t answer = 0;
  const ssize_t count = recv(socket_, &answer, sizeof(answer), MSG_WAITALL);
  if (count != sizeof(answer)) {
    return HasEnded();
  }
  return answer;
}

}  // namespace ordo::worker::agent
