#ifndef ORDO_TESTS_SIM_SIMULATION_H_
#define ORDO_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/sim/scenario.pb.h"

// A whole cluster on virtual time: scheduler, store, network, workers,
// trainers, users, and what goes wrong with each of them. Everything follows
// from a seed and a scenario.

namespace ordo::tests::sim {

struct Outcome {
  uint64_t seed = 0;
  // INTERNAL: what did not hold.
  absl::Status status;
  // Of everything that happened; the same for the same seed and scenario.
  uint64_t digest = 0;
  // The newest things that happened, oldest first.
  std::vector<std::string> last_lines;

  int64_t num_events = 0;
  int64_t num_applies = 0;
  int64_t num_lives = 0;
  int num_jobs = 0;
  int num_attempts = 0;
  // Times that a device was put in quarantine.
  int num_quarantines = 0;
  double virtual_seconds = 0;
  // From the end of a trainer that something else ended to the start of its
  // job's next one, the longest.
  double longest_gap_seconds = 0;
  // Of attempts with several ranks: from the first trainer that failed to the
  // end of the last, the longest.
  double longest_straggle_seconds = 0;
  // How long a job was the first in order of those that wait in its queue, the
  // longest.
  double longest_first_seconds = 0;
  int num_queues_deleted = 0;
  int num_stopped_early = 0;
  // Reports that were taken over from others.
  int num_taken = 0;
  // Trainers that said something before they said how they begin.
  int num_began_late = 0;
};

// A scenario drawn from the seed: any size of cluster, each fault absent, rare
// or frequent, so that some seeds have few kinds of trouble and much of it.
Scenario DrawScenario(uint64_t seed);

// INVALID_ARGUMENT, with what to write, when the file has no scenario that can
// be simulated.
absl::StatusOr<Scenario> ReadScenario(const std::string& path);

// Runs users and faults, lets everything settle, and checks (Oracle) all along.
// After the settling every job has ended, no worker runs or keeps anything, and
// the folders of deleted checkpoints are gone.
Outcome Simulate(uint64_t seed, const Scenario& scenario);

// The outcome in a line; of a failed one, also what led to it and how to see it
// again.
std::string Describe(const Outcome& outcome, const Scenario& scenario);

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_SIMULATION_H_
