#include "base/process/apart.h"

#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock/clock.h"
#include "base/process/process.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

// How long a process may take to leave once it was killed or has answered.
constexpr absl::Duration kLeaveLimit = absl::Seconds(10);

// Whole, or not at all: the size comes last.
void WriteAll(int file, const std::string& text) {
  std::string bytes = text;
  const auto size = static_cast<uint64_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

// Until the other end is closed; false at the deadline.
bool ReadAll(int file, absl::Duration timeout, std::string* bytes) {
  const RealClock clock;
  const absl::Duration deadline = clock.Monotonic() + timeout;
  char part[4096];
  while (true) {
    const absl::Duration left = deadline - clock.Monotonic();
    if (left <= absl::ZeroDuration()) return false;
    pollfd wait{file, POLLIN, 0};
    const auto left_ms =
        absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
    if (::poll(&wait, 1, static_cast<int>(left_ms)) <= 0) continue;
    const ssize_t count = ::read(file, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    bytes->append(part, static_cast<size_t>(count));
  }
}

// Takes the size off; false if it is not all there.
bool Unpack(std::string* bytes) {
  uint64_t size = 0;
  if (bytes->size() < sizeof size) return false;
  bytes->copy(reinterpret_cast<char*>(&size), sizeof size,
              bytes->size() - sizeof size);
  bytes->resize(bytes->size() - sizeof size);
  return bytes->size() == size;
}

[[noreturn]] void Work(const std::function<std::string()>& work, int file) {
  // Nobody waits for it any more when this process's maker is gone.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  WriteAll(file, work());
  ::_exit(0);
}

}  // namespace

absl::StatusOr<std::string> RunApart(const std::function<std::string()>& work,
                                     absl::Duration timeout) {
  int ends[2];
  if (::pipe(ends) != 0) return SystemError(errno, "make a pipe");
  const pid_t child = ::fork();
  if (child == 0) Work(work, ends[1]);
  const int error_number = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return SystemError(error_number, "make a process");
  }
  std::string bytes;
  const bool ended = ReadAll(ends[0], timeout, &bytes);
  ::close(ends[0]);
  if (!ended) ::kill(child, SIGKILL);
  ORDO_ASSIGN_OR_RETURN(const ExitStatus status,
                        WaitForExit(child, kLeaveLimit));
  if (!ended) {
    return absl::DeadlineExceededError("it did not end in " +
                                       absl::FormatDuration(timeout));
  }
  if (!status.ok() || !Unpack(&bytes)) {
    return absl::AbortedError(status.ToString());
  }
  return bytes;
}

}  // namespace ordo::base
