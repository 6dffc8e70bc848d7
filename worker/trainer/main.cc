// ordo-trainer train task.json --out /tmp/addition-rope
//
// One task of one rank: training, evaluation, or a question to a checkpoint.
// SIGTERM and SIGINT ask it to write a checkpoint and leave; SIGQUIT makes it
// print the stacks of all its threads and die. Exit codes:
// proto/ordo/training/v1/exit_code.proto.

#include <climits>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/log/log.h"
#include "base/process/stacks.h"
#include "base/status/status.h"
#include "base/trace/trace.h"
#include "model/guard.h"
#include "worker/trainer/command_line.h"
#include "worker/trainer/commands.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void OnStopSignal(int) { stop_requested = 1; }

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnStopSignal;
  // Writes and waits go on.
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

// The OpenMP runtime lets threads that wait spin for as long as it takes, which
// stalls training a hundredfold when another process wants the core. It reads
// its settings while it is loaded, before main: so set them and start again,
// unless whoever started this process has set them.
void LimitSpinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", /*overwrite=*/0);
  // By its own path: a process started as /proc/self/exe is called "exe".
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return;
  path[length] = '\0';
  execv(path, argv);
  // Still correct without it, only slower beside others.
}

// Each line says the trace that the job is part of, if it is part of one.
void LogTrace() {
  const char* const parent = std::getenv(base::kTraceParentVariable);
  if (parent == nullptr) return;
  base::LogOptions log;
  log.common = {base::LogField::IfAny(
      "trace_id", base::TraceIdOf(base::ParseTraceParent(parent)))};
  // Fails where a file is named only.
  base::StartLogging(log).IgnoreError();
}

int Main(int argc, char** argv) {
  LimitSpinning(argv);
  LogTrace();
  base::PrintStacksOnQuit();
  const auto line = ParseCommandLine({argv + 1, argv + argc});
  if (!line.ok()) {
    std::cerr << "ordo-trainer: " << line.status().message()
              << "; see ordo-trainer help" << std::endl;
    return ordo::training::v1::BAD_SPEC;
  }
  // What trains a tokenizer cannot be asked to stop, and writes nothing before
  // it is done: a signal ends it at once.
  if (line->command != "train-tokenizer") InstallSignalHandlers();
  base::PosixFilesystem files;
  base::RealClock clock;
  const CommandContext context{files, clock, [] { return stop_requested != 0; },
                               [](ExitCode code) { _exit(code); }};
  const absl::StatusOr<ExitCode> code = model::Guard(
      "run the trainer",
      [&]() -> absl::StatusOr<ExitCode> { return RunCommand(context, *line); });
  if (!code.ok()) {
    std::cerr << "ordo-trainer: " << MessageForPeople(code.status())
              << std::endl;
  }
  return code.ok() ? *code : ExitCodeOf(code.status());
}

}  // namespace
}  // namespace ordo::worker::trainer

int main(int argc, char** argv) {
  const int code = ordo::worker::trainer::Main(argc, argv);
  std::cout.flush();
  // Everything durable is on disk; unloading LibTorch only takes time.
  _exit(code);
}
