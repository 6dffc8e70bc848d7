#include "base/process/stacks.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// All but the last function runs in a signal handler of a program that hangs,
// with any of its locks held: only system calls, and what is known to take no
// memory.

namespace ordo::base {
namespace {

constexpr int kMaxFrames = 128;
constexpr int64_t kThreadLimitMs = 200;
// Of a thread that has begun to print.
constexpr int64_t kPrintLimitMs = 1000;
constexpr int64_t kLimitMs = 3000;

// The thread whose turn it is to print: its id; the same, negative, once it has
// begun; 0 when it has ended, or was given up before it began.
std::atomic<pid_t> turn{0};
std::atomic<bool> begun{false};

pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1'000'000;
}

void Put(const char* text, size_t num_bytes) {
  while (num_bytes > 0) {
    const ssize_t written = write(STDERR_FILENO, text, num_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    num_bytes -= static_cast<size_t>(written);
  }
}

void Put(const char* text) { Put(text, std::strlen(text)); }

void PutNumber(int64_t value) {
  std::array<char, 24> digits{};
  size_t begin = digits.size();
  do {
    digits[--begin] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  Put(digits.data() + begin, digits.size() - begin);
}

// "/proc/self/task/<thread>/<name>".
class ThreadPath {
 public:
  ThreadPath(pid_t thread, const char* name) {
    Add("/proc/self/task/");
    std::array<char, 12> digits{};
    size_t begin = digits.size() - 1;
    for (; thread > 0; thread /= 10) {
      digits[--begin] = static_cast<char>('0' + thread % 10);
    }
    Add(digits.data() + begin);
    Add("/");
    Add(name);
  }
  const char* text() const { return text_.data(); }

 private:
  void Add(const char* part) {
    const size_t length = std::strlen(part);
    if (size_ + length >= text_.size()) return;
    std::memcpy(text_.data() + size_, part, length);
    size_ += length;
  }

  std::array<char, 64> text_{};
  size_t size_ = 0;
};

// The first line of a file about a thread.
void PutLineOf(pid_t thread, const char* name) {
  const int file = open(ThreadPath(thread, name).text(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<char, 256> text{};
  const ssize_t num_bytes = read(file, text.data(), text.size());
  close(file);
  if (num_bytes <= 0) return;
  const auto* end = static_cast<const char*>(
      std::memchr(text.data(), '\n', static_cast<size_t>(num_bytes)));
  Put(text.data(), end == nullptr ? static_cast<size_t>(num_bytes)
                                  : static_cast<size_t>(end - text.data()));
}

void PutHead(pid_t thread) {
  Put("thread ");
  PutNumber(thread);
  Put(" (");
  PutLineOf(thread, "comm");
  Put(")\n");
}

void PutOwnStack() {
  PutHead(ThreadId());
  std::array<void*, kMaxFrames> frames{};
  const int count = backtrace(frames.data(), kMaxFrames);
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

// Waits while it is `value`'s turn; false at the deadline.
bool AwaitEndOf(pid_t value, int64_t deadline_ms) {
  while (turn.load() == value) {
    if (NowMs() >= deadline_ms) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

// Has another thread print its stack, or says what it waits in.
void AskThread(pid_t thread, int64_t deadline_ms) {
  turn.store(thread);
  const auto limit = [&](int64_t duration_ms) {
    const int64_t end_ms = NowMs() + duration_ms;
    return end_ms < deadline_ms ? end_ms : deadline_ms;
  };
  // One that has ended meanwhile has nothing to say.
  if (syscall(SYS_tgkill, getpid(), thread, SIGQUIT) != 0) return;
  AwaitEndOf(thread, limit(kThreadLimitMs));
  pid_t expected = thread;
  if (!turn.compare_exchange_strong(expected, 0)) {
    AwaitEndOf(-thread, limit(kPrintLimitMs));
    return;
  }
  PutHead(thread);
  Put("  does not answer; the kernel has it in ");
  PutLineOf(thread, "wchan");
  Put(", in the system call ");
  PutLineOf(thread, "syscall");
  Put("\n");
}

// As the kernel lists a folder's entries (getdents64(2)).
struct FolderEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t num_bytes;
  uint8_t type;
  char name[1];
};

void AskAllThreads() {
  const int64_t deadline_ms = NowMs() + kLimitMs;
  const int folder =
      open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(FolderEntry) std::array<char, 4096> entries;
  while (true) {
    const long num_bytes =
        syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (num_bytes <= 0) break;
    for (long offset = 0; offset < num_bytes;) {
      const auto* entry =
          reinterpret_cast<const FolderEntry*>(entries.data() + offset);
      offset += entry->num_bytes;
      const pid_t thread = std::atoi(entry->name);
      if (thread > 0 && thread != ThreadId()) AskThread(thread, deadline_ms);
    }
  }
  close(folder);
}

[[noreturn]] void Leave() {
  // Whoever looks for a hang wants no image of the memory.
  prctl(PR_SET_DUMPABLE, 0);
  signal(SIGQUIT, SIG_DFL);
  raise(SIGQUIT);
  sigset_t quit;
  sigemptyset(&quit);
  sigaddset(&quit, SIGQUIT);
  pthread_sigmask(SIG_UNBLOCK, &quit, nullptr);
  _exit(128 + SIGQUIT);
}

void OnQuit(int) {
  const int saved_errno = errno;
  if (!begun.exchange(true)) {
    Put("stacks of process ");
    PutNumber(getpid());
    Put(", asked for by SIGQUIT:\n");
    PutOwnStack();
    AskAllThreads();
    Put("end of stacks\n");
    Leave();
  }
  const pid_t thread = ThreadId();
  pid_t expected = thread;
  if (turn.compare_exchange_strong(expected, -thread)) {
    PutOwnStack();
    turn.store(0);
  }
  errno = saved_errno;
}

}  // namespace

void PrintStacksOnQuit() {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);
  struct sigaction action = {};
  action.sa_handler = OnQuit;
  action.sa_flags = SA_RESTART;
  sigaction(SIGQUIT, &action, nullptr);
}

}  // namespace ordo::base
