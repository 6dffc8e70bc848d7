#ifndef ORDO_WORKER_AGENT_FACTS_H_
#define ORDO_WORKER_AGENT_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "worker/supervisor/journal.h"

// What a supervisor's journal says, and what an attempt's end is called. Pure.

namespace ordo::worker::agent {

struct SupervisorFacts {
  // Of the supervisor; pid 0 when there is no journal yet.
  int32_t supervisor_pid = 0;
  uint64_t supervisor_start_ticks = 0;
  // When its trainer began, nanoseconds since 1970, and its process; 0: it has
  // not.
  int64_t trainer_start_ns = 0;
  int32_t trainer_pid = 0;
  bool stop_requested = false;
  bool kill_requested = false;
  // How long the trainer was silent before it was killed for that.
  std::optional<uint32_t> hang_ms;
  // Why the trainer did not start: the journal's operation and errno.
  std::optional<supervisor::JournalRecord> start_failure;
  // How the trainer ended.
  std::optional<supervisor::JournalRecord> exit;
  // Nothing of the task is left, and since when, nanoseconds since 1970.
  bool group_empty = false;
  int64_t group_empty_ns = 0;
};

SupervisorFacts FactsOf(const std::vector<supervisor::JournalRecord>& journal);

// What is wrong, and what names the program.
std::string CannotExecute(const std::string& trainer, const std::string& error);

// Fills cause, exit code, signal and message of an attempt whose trainer has
// left (facts.exit or facts.start_failure is set). A trainer that left by
// itself is an EXIT, whatever was asked of it; `kill_asked`: the signal that
// ended it was ours.
void DescribeEnd(const SupervisorFacts& facts, bool kill_asked,
                 const std::string& trainer,
                 ::ordo::agent::v1::ObservedAttempt* observed);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_FACTS_H_
