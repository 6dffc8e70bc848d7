#include "worker/supervisor/trainer_process.h"

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "worker/supervisor/confinement.h"

namespace ordo::worker::supervisor {
namespace {

// Out of memory, the kernel ends trainers first, not who watches them.
constexpr char kTrainerOomScore[] = "500";

// What the child needs to become the trainer, made before there is one: the
// child has its parent's memory until then, and takes none. It leaves here why
// it failed.
struct TrainerImage {
  TrainerImage(const Options& options, int cgroup_file)
      : log_path(options.attempt_dir + "/rank-" + std::to_string(options.rank) +
                 ".log"),
        confiner(options.confinement, cgroup_file) {
    for (const std::string& argument : options.trainer) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
  }

  const std::string log_path;
  Confiner confiner;
  std::vector<char*> arguments;
  const pid_t supervisor = getpid();
  volatile Operation failed = Operation::kNone;
  volatile int error_number = 0;
};

[[noreturn]] void FailStart(TrainerImage& image, Operation operation) {
  image.error_number = errno;
  image.failed = operation;
  _exit(127);
}

// Best effort: a container may forbid it.
void BeEndedFirst() {
  const int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (oom < 0) return;
  if (write(oom, kTrainerOomScore, sizeof(kTrainerOomScore) - 1) < 0) {
  }
  close(oom);
}

// In the child: its input and output.
void OpenFiles(TrainerImage& image) {
  const int input = open("/dev/null", O_RDONLY);
  // Other ranks of the attempt may write there, too: no link is followed, and
  // no pipe waited for.
  const int log =
      open(image.log_path.c_str(),
           O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (log < 0 || input < 0) FailStart(image, Operation::kOpenLog);
  fcntl(log, F_SETFL, O_APPEND);
  dup2(input, 0);
  dup2(log, 1);
  dup2(log, 2);
  if (log > 2) close(log);
  if (input > 2) close(input);
}

// In the child: becomes the trainer. System calls only.
[[noreturn]] void BecomeTrainer(TrainerImage& image) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  BeEndedFirst();
  if ((errno = image.confiner.TakeLimits()) != 0) {
    FailStart(image, Operation::kConfine);
  }
  // Who becomes another user loses this.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The supervisor may have died before the line above; then nobody would ever
  // send the signal.
  if (getppid() != image.supervisor) _exit(127);
  if ((errno = image.confiner.TakeRules()) != 0) {
    FailStart(image, Operation::kConfine);
  }
  OpenFiles(image);
  execv(image.arguments[0], image.arguments.data());
  FailStart(image, Operation::kExecute);
}

// Returns when the child is the trainer or has failed to become it: its number,
// or -1. A frame of its own, which the child does not leave.
__attribute__((noinline)) pid_t StartChild(TrainerImage& image) {
  // A copy of the page tables, which fork makes, takes longer than all that the
  // child does. NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork)
  const pid_t child = vfork();
  if (child == 0) BecomeTrainer(image);
  return child;
}

}  // namespace

StartedTrainer StartTrainerProcess(const Options& options, int cgroup_file) {
  TrainerImage image(options, cgroup_file);
  StartedTrainer started;
  started.error_number = image.confiner.Prepare();
  if (started.error_number != 0) {
    started.failed = Operation::kConfine;
    return started;
  }
  const pid_t child = StartChild(image);
  // A child that becomes another user takes this from the memory that it shares
  // until then, and with it from the worker what /proc shows of this process.
  if (options.confinement.uid >= 0) prctl(PR_SET_DUMPABLE, 1);
  if (child < 0) {
    started.failed = Operation::kFork;
    started.error_number = errno;
    return started;
  }
  if (image.failed == Operation::kNone) {
    started.pid = child;
    return started;
  }
  waitpid(child, nullptr, 0);
  started.failed = image.failed;
  started.error_number = image.error_number;
  return started;
}

}  // namespace ordo::worker::supervisor
