#include "worker/agent/launcher.h"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "worker/supervisor/launch.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::worker::supervisor::kMaxLaunchBytes;
using ::ordo::worker::supervisor::LaunchHeader;

// For what takes microseconds, on a machine that has stalled.
constexpr absl::Duration kAnswerLimit = absl::Seconds(5);
// How long one that does not serve is not tried again.
constexpr absl::Duration kUnfitPeriod = absl::Minutes(1);

const base::Clock& MachineClock() {
  static const auto* const clock = new base::RealClock();
  return *clock;
}

absl::StatusOr<base::ProcessId> SpawnAlone(const SupervisorCommand& command) {
  base::SpawnOptions spawn;
  spawn.argv = command.argv;
  spawn.environment = command.environment;
  spawn.stdout_file = "/dev/null";
  spawn.stderr_file = "/dev/null";
  spawn.new_session = true;
  return base::Spawn(spawn);
}

// As Spawn says it.
base::ProcessId Started(pid_t pid) {
  base::ProcessId child;
  child.pid = pid;
  // One that has ended has no identity worth guarding.
  const auto id = base::IdentifyProcess(pid);
  return id.ok() ? *id : child;
}

absl::Status HasEnded() {
  return absl::NotFoundError("the launcher of supervisors has ended");
}

absl::Status IsSilent() {
  return absl::DeadlineExceededError("the launcher of supervisors is silent");
}

void AddTexts(const std::vector<std::string>& texts, std::string* bytes) {
  for (const std::string& text : texts) {
    // Up to a zero byte, as arguments and environments are.
    bytes->append(text.c_str());
    bytes->push_back('\0');
  }
}

// As launch.h says it.
std::string RequestOf(const SupervisorCommand& command) {
  std::string texts;
  AddTexts(command.argv, &texts);
  AddTexts(command.environment, &texts);
  LaunchHeader header;
  header.num_bytes = static_cast<uint32_t>(texts.size());
  header.num_arguments = static_cast<uint32_t>(command.argv.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         texts;
}

}  // namespace

Launcher::Launcher() : Launcher(MachineClock(), kAnswerLimit) {}

Launcher::Launcher(const base::Clock& clock, absl::Duration answer_limit)
    : clock_(clock), answer_limit_(answer_limit) {}

Launcher::~Launcher() { End(); }

absl::StatusOr<base::ProcessId> Launcher::Start(
    const SupervisorCommand& command) {
  if (program_ != command.argv[0]) {
    End();
    program_ = command.argv[0];
    unfit_until_ = absl::ZeroDuration();
  }
  const std::string request = RequestOf(command);
  if (request.size() > sizeof(LaunchHeader) + kMaxLaunchBytes ||
      clock_.Monotonic() < unfit_until_) {
    return SpawnAlone(command);
  }
  const bool was_there = pid_ != 0;
  absl::StatusOr<pid_t> pid = Ask(command.deployment, request);
  if (was_there && absl::IsNotFound(pid.status())) {
    // That it died since the last supervisor does not make it unfit.
    End();
    pid = Ask(command.deployment, request);
  }
  if (pid.ok()) return Started(*pid);
  End();
  unfit_until_ = clock_.Monotonic() + kUnfitPeriod;
  base::LogWarning("supervisors are started without a launcher",
                   {{"error", pid.status()}});
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

absl::Status Launcher::Begin(const std::string& deployment) {
  End();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return base::SystemError(errno, "make a socket for supervisors' launcher");
  }
  socket_ = sockets[0];
  const timeval limit = absl::ToTimeval(answer_limit_);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  base::SpawnOptions spawn;
  spawn.argv = {program_, "--launcher", "--deployment", deployment};
  // Supervisors are given their own.
  spawn.environment = std::vector<std::string>();
  spawn.stdin_descriptor = sockets[1];
  spawn.stdout_file = "/dev/null";
  spawn.stderr_file = "/dev/null";
  spawn.new_session = true;
  const absl::StatusOr<base::ProcessId> started = base::Spawn(spawn);
  close(sockets[1]);
  ORDO_RETURN_IF_ERROR(started);
  pid_ = started->pid;
  ORDO_ASSIGN_OR_RETURN(const int unfit, Receive());
  if (unfit == 0) return absl::OkStatus();
  return base::SystemError(-unfit, "prepare a launcher of supervisors");
}

void Launcher::End() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  base::WaitForExit(pid_, absl::InfiniteDuration()).status().IgnoreError();
  pid_ = 0;
}

absl::StatusOr<pid_t> Launcher::Ask(const std::string& deployment,
                                    const std::string& request) {
  if (pid_ == 0) ORDO_RETURN_IF_ERROR(Begin(deployment));
  ORDO_RETURN_IF_ERROR(Send(request));
  ORDO_ASSIGN_OR_RETURN(const int answer, Receive());
  if (answer > 0) return answer;
  // 0 is nobody's number.
  return base::SystemError(answer < 0 ? -answer : EPROTO, "fork a supervisor");
}

absl::Status Launcher::Send(const std::string& request) const {
  size_t sent = 0;
  while (sent < request.size()) {
    const ssize_t count = send(socket_, request.data() + sent,
                               request.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    // What has part of a request starts nothing.
    if (count < 0 && errno == EAGAIN) return IsSilent();
    if (count <= 0) return HasEnded();
    sent += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Launcher::Receive() {
  pollfd entry = {socket_, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1,
                 static_cast<int>(absl::ToInt64Milliseconds(answer_limit_)));
  } while (ready < 0 && errno == EINTR);
  const bool silent = ready <= 0;
  // What has been answered is still read; from here on nobody can answer, and
  // what cannot does not run (launch.h).
  if (silent) shutdown(socket_, SHUT_RD);
  int32_t answer = 0;
  const bool answered =
      recv(socket_, &answer, sizeof(answer), MSG_WAITALL) == sizeof(answer);
  if (silent) End();
  if (answered) return answer;
  return silent ? IsSilent() : HasEnded();
}

}  // namespace ordo::worker::agent
