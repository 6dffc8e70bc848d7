#include "worker/agent/facts.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/ordo/training/v1/exit_code.pb.h"

namespace ordo::worker::agent {

using ::ordo::agent::v1::ObservedAttempt;
using supervisor::JournalRecord;
using supervisor::Operation;
using supervisor::Phase;

SupervisorFacts FactsOf(const std::vector<JournalRecord>& journal) {
  SupervisorFacts facts;
  for (const JournalRecord& record : journal) {
    switch (static_cast<Phase>(record.phase)) {
      case Phase::kSupervisorStarted:
        facts.supervisor_pid = record.pid;
        facts.supervisor_start_ticks = record.start_ticks;
        break;
      case Phase::kTrainerStarted:
        facts.trainer_start_ns = record.time_ns;
        facts.trainer_pid = record.pid;
        break;
      case Phase::kStopRequested:
        facts.stop_requested = true;
        break;
      case Phase::kKillRequested:
        facts.kill_requested = true;
        break;
      case Phase::kHang:
        facts.hang_ms = record.detail;
        break;
      case Phase::kStartFailed:
        facts.start_failure = record;
        break;
      case Phase::kExited:
        facts.exit = record;
        break;
      case Phase::kGroupEmpty:
        facts.group_empty = true;
        facts.group_empty_ns = record.time_ns;
        break;
      case Phase::kError:
        break;
    }
  }
  return facts;
}

std::string CannotExecute(const std::string& trainer,
                          const std::string& error) {
  return absl::StrCat(
      "cannot execute ", trainer, ": ", error,
      "; `trainer` in the worker's configuration names the program");
}

namespace {

// How the trainer itself ended; `asked`: it was to.
void DescribeExit(const JournalRecord& exit, bool asked,
                  ObservedAttempt* observed) {
  if (exit.signal != 0 && asked) {
    observed->set_cause(ObservedAttempt::KILLED);
    observed->set_message("killed after its grace period");
    return;
  }
  if (exit.signal == SIGKILL && (exit.detail & supervisor::kMemoryLimit) != 0) {
    observed->set_cause(ObservedAttempt::EXIT);
    observed->set_exit_code(::ordo::training::v1::OUT_OF_MEMORY);
    observed->set_message(
        "the kernel ended it at the main memory that it had asked for "
        "(resources.memory_bytes), or that its worker has");
    return;
  }
  observed->set_cause(exit.signal == 0 ? ObservedAttempt::EXIT
                                       : ObservedAttempt::SIGNAL);
  std::string said = exit.signal == 0 ? observed->finished().message()
                                      : strsignal(exit.signal);
  const bool failed = exit.signal != 0 || exit.exit_code != 0;
  if (failed && (exit.detail & supervisor::kProcessLimit) != 0) {
    absl::StrAppend(&said, said.empty() ? "" : "; ",
                    "it had as many processes and threads as its worker lets "
                    "it have (`sandbox.processes`)");
  }
  observed->set_message(said);
}

}  // namespace

void DescribeEnd(const SupervisorFacts& facts, bool kill_asked,
                 const std::string& trainer, ObservedAttempt* observed) {
  if (facts.start_failure) {
    const char* error = std::strerror(facts.start_failure->error_number);
    observed->set_cause(ObservedAttempt::START_FAILED);
    switch (static_cast<Operation>(facts.start_failure->operation)) {
      case Operation::kOpenLog:
        observed->set_message(absl::StrCat(
            "cannot open its log file in the storage root: ", error));
        break;
      case Operation::kExecute:
        // Of who has become a user that has too many.
        if (facts.start_failure->error_number == EAGAIN) {
          observed->set_cause(ObservedAttempt::HOST_FAILED);
          observed->set_message(
              "cannot execute the trainer: its user has as many processes and "
              "threads on this machine as `sandbox.processes` in the worker's "
              "configuration lets it have");
          break;
        }
        observed->set_message(CannotExecute(trainer, error));
        break;
      case Operation::kConfine:
        observed->set_cause(ObservedAttempt::HOST_FAILED);
        observed->set_message(absl::StrCat(
            "cannot confine the trainer as `sandbox` in the worker's "
            "configuration says: ",
            error));
        break;
      default:
        observed->set_cause(ObservedAttempt::HOST_FAILED);
        observed->set_message(absl::StrCat("cannot start a process: ", error));
    }
    return;
  }
  if (!facts.exit) return;
  observed->set_exit_code(facts.exit->exit_code);
  observed->set_signal(facts.exit->signal);
  if (facts.hang_ms) {
    observed->set_cause(ObservedAttempt::HANG);
    observed->set_message(
        absl::StrCat("no progress for ", *facts.hang_ms / 1000.0, " s"));
  } else {
    DescribeExit(*facts.exit,
                 kill_asked || facts.kill_requested || facts.stop_requested,
                 observed);
  }
}

}  // namespace ordo::worker::agent
