#include "worker/supervisor/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/supervisor/trainer_process.h"

namespace ordo::worker::supervisor {
namespace {

// How often the progress file is looked at, and survivors are.
constexpr int64_t kMaxWatchPeriodMs = 1000;
constexpr int64_t kMinWatchPeriodMs = 20;
constexpr int kSurvivorPeriodMs = 10;
// Time that a trainer without progress has to print its stacks.
constexpr int64_t kStacksLimitMs = 5000;

int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1'000'000;
}

JournalRecord RecordOf(Phase phase) {
  JournalRecord record{};
  record.phase = static_cast<uint32_t>(phase);
  return record;
}

// What names of a rank's files have before their ending.
std::string OfRank(const Options& options) {
  return options.rank == 0 ? "" : "-" + std::to_string(options.rank);
}

}  // namespace

sigset_t WatchedSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGUSR1);
  sigaddset(&watched, SIGCHLD);
  return watched;
}

// The trace that its task is part of, as the worker gave it; empty: none.
std::string TraceField() {
  // "00-<32 digits>-<16 digits>-<2 digits>" of W3C Trace Context.
  constexpr size_t kSize = 55;
  constexpr size_t kTraceId = 3;
  constexpr size_t kTraceIdDigits = 32;
  const char* const parent = std::getenv("TRACEPARENT");
  if (parent == nullptr || std::strlen(parent) != kSize) return "";
  return " trace_id=" + std::string(parent + kTraceId, kTraceIdDigits);
}

void Say(const Options& options, const std::string& text) {
  const std::string line = "ordo-supervisor: " + text + TraceField() + "\n";
  std::fputs(line.c_str(), stderr);
  if (options.attempt_dir.empty()) return;
  const std::string path =
      options.attempt_dir + "/supervisor" + OfRank(options) + ".log";
  const int file =
      open(path.c_str(),
           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
           0644);
  if (file < 0) return;
  // Trainers may write to the folder, hence no links and no pipes. The last
  // place there is for news.
  if (write(file, line.data(), line.size()) < 0) {
  }
  close(file);
}

int Supervisor::Run() {
  if (!SetUp()) return 1;
  if (!StartTrainer()) {
    End();
    return 0;
  }
  while (true) {
    if (!trainer_exited_) Reap();
    if (trainer_exited_) {
      if (IsAlone() || EndSurvivors()) break;
    } else {
      CheckDeadlines();
    }
    pollfd wait{signals_, POLLIN, 0};
    if (poll(&wait, 1, PollTimeoutMs()) > 0) HandleSignals();
  }
  End();
  return 0;
}

void Supervisor::End() {
  std::vector<JournalRecord> last;
  if (trainer_exited_ && !exit_written_) last.push_back(exit_);
  last.push_back(RecordOf(Phase::kGroupEmpty));
  cgroup_.Remove();
  Append(last);
}

bool Supervisor::SetUp() {
  setsid();  // Fails only when it is one already.
  // Whatever the worker had open, ports above all, is none of the trainer's.
  close_range(3, ~0u, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  const sigset_t watched = WatchedSignals();
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  signals_ = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals_ < 0) {
    Say(options_, std::string("signalfd: ") + std::strerror(errno));
    return false;
  }
  const std::string path = options_.task_dir + "/journal";
  JournalRecord record = RecordOf(Phase::kSupervisorStarted);
  ProcessStat self;
  if (ReadProcessStat(getpid(), &self)) record.start_ticks = self.start_ticks;
  record.pid = getpid();
  record.group = getpgrp();
  if (const int error = journal_.Create(path, {record}); error != 0) {
    Say(options_, "cannot write " + path + ": " + std::strerror(error));
    return false;
  }
  ++num_records_;
  // Everything that descends from here is found by it, even when it has left
  // the session and this process is gone.
  setenv("ORDO_TASK", options_.task_dir.c_str(), 1);
  return true;
}

bool Supervisor::StartTrainer() {
  StartedTrainer started;
  started.failed = Operation::kConfine;
  started.error_number = cgroup_.Make(options_.confinement);
  if (started.error_number == 0) {
    started = StartTrainerProcess(options_, cgroup_.file());
  }
  JournalRecord record = RecordOf(Phase::kTrainerStarted);
  if (started.pid == 0) {
    record.phase = static_cast<uint32_t>(Phase::kStartFailed);
    record.operation = static_cast<uint32_t>(started.failed);
    record.error_number = started.error_number;
    Append({record});
    return false;
  }
  record.time_ns = WallClockNs();
  trainer_ = started.pid;
  progress_changed_at_ms_ = NowMs();
  record.pid = trainer_;
  record.group = trainer_;
  // The supervisor's own phase was written before there was a trainer, so that
  // a worker finds who has it. Durable need neither be: a crash of the machine,
  // which alone could take the records away, ends both.
  Append({record});
  return true;
}

void Supervisor::HandleSignals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo == SIGCHLD) continue;
    const int64_t grace_ms = info.ssi_code == SI_QUEUE
                                 ? std::max(info.ssi_int, 0)
                                 : options_.grace_ms;
    Request(info.ssi_signo == SIGTERM ? Phase::kStopRequested
                                      : Phase::kKillRequested,
            grace_ms);
  }
}

void Supervisor::Request(Phase phase, int64_t grace_ms) {
  if (trainer_exited_) return;
  const bool stop = phase == Phase::kStopRequested;
  if (!stop && kill_requested_) {
    SignalGroup(SIGKILL);
    killed_ = true;
    return;
  }
  bool& requested = stop ? stop_requested_ : kill_requested_;
  if (!requested) {
    JournalRecord record = RecordOf(phase);
    record.detail = static_cast<uint32_t>(grace_ms);
    Record(record);
    if (stop) {
      if (kill(trainer_, SIGTERM) != 0) RecordError(Operation::kSignal, errno);
    } else {
      SignalGroup(SIGTERM);
    }
  }
  requested = true;
  const int64_t kill_at_ms = NowMs() + grace_ms;
  kill_at_ms_ =
      kill_at_ms_ == 0 ? kill_at_ms : std::min(kill_at_ms_, kill_at_ms);
}

void Supervisor::CheckDeadlines() {
  if (killed_) return;
  const int64_t now_ms = NowMs();
  if (kill_at_ms_ != 0) {
    // What stops on request has its grace and is not taken for hung.
    if (now_ms >= kill_at_ms_) {
      SignalGroup(SIGKILL);
      killed_ = true;
    }
    return;
  }
  if (options_.step_timeout_ms == 0) return;
  if (ProgressChanged()) progress_changed_at_ms_ = now_ms;
  if (now_ms - progress_changed_at_ms_ < options_.step_timeout_ms) return;
  // It prints its stacks and dies of it; what has no way to print dies at once,
  // what does not die is killed.
  if (kill(trainer_, SIGQUIT) != 0) RecordError(Operation::kSignal, errno);
  hung_ = true;
  kill_at_ms_ = now_ms + kStacksLimitMs;
  JournalRecord record = RecordOf(Phase::kHang);
  record.detail = static_cast<uint32_t>(now_ms - progress_changed_at_ms_);
  Record(record);
}

bool Supervisor::ProgressChanged() {
  struct stat status {};
  const std::string path =
      options_.attempt_dir + "/progress" + OfRank(options_) + ".records";
  if (stat(path.c_str(), &status) != 0) {
    // Not there before the trainer's first record.
    if (errno != ENOENT && !progress_error_recorded_) {
      RecordError(Operation::kReadProgress, errno);
      progress_error_recorded_ = true;
    }
    return false;
  }
  const int64_t modified_ns =
      status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  const bool changed =
      status.st_size != progress_bytes_ || modified_ns != progress_modified_ns_;
  progress_bytes_ = status.st_size;
  progress_modified_ns_ = modified_ns;
  return changed;
}

void Supervisor::Reap() {
  while (true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      RecordError(Operation::kWait, errno);
      return;
    }
    if (info.si_pid == 0) return;
    if (info.si_pid != trainer_) {
      waitpid(info.si_pid, nullptr, WNOHANG);
      continue;
    }
    trainer_exited_ = true;
    killed_ = killed_ || hung_;
    exit_ = RecordOf(Phase::kExited);
    exit_.time_ns = WallClockNs();
    exit_.pid = trainer_;
    if (info.si_code == CLD_EXITED) {
      exit_.exit_code = info.si_status;
    } else {
      exit_.signal = info.si_status;
    }
    exit_.detail = cgroup_.LimitsMet();
    survivors_kill_at_ms_ = NowMs() + (killed_ ? 0 : kSurvivorGraceMs);
    return;
  }
}

bool Supervisor::IsAlone() {
  // The kernel's list of this thread's children; the trainer's zombie is one,
  // and what a descendant leaves behind becomes one.
  const std::string path =
      "/proc/self/task/" + std::to_string(getpid()) + "/children";
  char text[64];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t num_bytes = read(file, text, sizeof(text) - 1);
  close(file);
  if (num_bytes <= 0) return false;
  text[num_bytes] = '\0';
  char* end = nullptr;
  if (std::strtol(text, &end, 10) != trainer_) return false;
  return *(end + std::strspn(end, " ")) == '\0' && ReapAll();
}

bool Supervisor::ReapAll() {
  waitpid(trainer_, nullptr, WNOHANG);
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

bool Supervisor::EndSurvivors() {
  if (!exit_written_) {
    // What is left may take its time.
    Record(exit_);
    exit_written_ = true;
  }
  const pid_t self = getpid();
  std::vector<ProcessStat> survivors;
  for (const ProcessStat& process : ListProcesses()) {
    if (process.pid == trainer_) continue;
    const bool mine = process.parent == self;
    if (mine && process.state == 'Z') {
      waitpid(process.pid, nullptr, WNOHANG);
    } else if (mine || (process.group == trainer_ && process.state != 'Z')) {
      survivors.push_back(process);
    }
  }
  if (!survivors.empty()) {
    const bool ask = !survivors_asked_ && !killed_;
    survivors_asked_ = true;
    if (ask) {
      SignalSurvivors(survivors, SIGTERM);
    } else if (NowMs() >= survivors_kill_at_ms_) {
      SignalSurvivors(survivors, SIGKILL);
    }
    return false;
  }
  // The list may have missed a process that was just born. The kernel's own
  // word is exact: as long as any descendant lives, this process has a child.
  return ReapAll();
}

void Supervisor::SignalSurvivors(const std::vector<ProcessStat>& survivors,
                                 int signal) {
  for (const ProcessStat& process : survivors) {
    if (kill(process.pid, signal) != 0 && errno != ESRCH) {
      RecordError(Operation::kSignal, errno);
    }
  }
}

int Supervisor::PollTimeoutMs() const {
  if (trainer_exited_) return kSurvivorPeriodMs;
  if (killed_) return static_cast<int>(kMaxWatchPeriodMs);
  if (kill_at_ms_ != 0) {
    return static_cast<int>(
        std::clamp<int64_t>(kill_at_ms_ - NowMs(), 0, kMaxWatchPeriodMs));
  }
  if (options_.step_timeout_ms == 0) return -1;
  return static_cast<int>(std::clamp(options_.step_timeout_ms / 10,
                                     kMinWatchPeriodMs, kMaxWatchPeriodMs));
}

void Supervisor::SignalGroup(int signal) {
  if (kill(-trainer_, signal) != 0 && errno != ESRCH) {
    RecordError(Operation::kSignal, errno);
  }
}

void Supervisor::Append(const std::vector<JournalRecord>& records) {
  Complain(records.front().phase, journal_.Append(records));
  num_records_ += records.size();
}

void Supervisor::Record(const JournalRecord& record) {
  Append({record});
  Sync(static_cast<Phase>(record.phase));
}

void Supervisor::Sync(Phase phase) {
  Complain(static_cast<uint32_t>(phase), journal_.Sync());
}

void Supervisor::Complain(uint32_t phase, int error_number) {
  if (error_number == 0) return;
  Say(options_, "journal of " + options_.task_dir + ", phase " +
                    std::to_string(phase) + ": " + std::strerror(error_number));
}

void Supervisor::RecordError(Operation operation, int error_number) {
  if (num_records_ >= kMaxErrorSlots) return;
  JournalRecord record = RecordOf(Phase::kError);
  record.operation = static_cast<uint32_t>(operation);
  record.error_number = error_number;
  Record(record);
}

}  // namespace ordo::worker::supervisor
