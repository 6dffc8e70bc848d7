#ifndef ORDO_TESTS_SIM_REQUESTS_H_
#define ORDO_TESTS_SIM_REQUESTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/shape.h"
#include "tests/sim/scenario.pb.h"

// What machines have for jobs, and whether jobs get what they ask of machines.

namespace ordo::tests::sim {

// Key of the label that says in which zone a machine is.
inline constexpr char kZone[] = "zone";

// Of one machine.
struct Offer {
  int devices = 0;
  int cpus = 0;
  int64_t memory_bytes = 0;
  std::map<std::string, std::string> labels;
};

// By machine, in the order of their numbers.
std::vector<Offer> OffersOf(const Cluster& cluster);

// How many ranks of the shape there is room for if nothing else runs.
int RanksWhenEmpty(const std::vector<Offer>& offers,
                   const scheduler::policy::Shape& shape);

// Of a job that has just begun: its workers have the labels that it asks for,
// all that runs on them asks for no more cores and memory than they have, and
// nothing else runs there if it, or what runs there, is to be alone. INTERNAL,
// naming the worker. `offers` by worker.
absl::Status CheckRequests(const scheduler::core::State& state,
                           const std::string& job,
                           const std::map<std::string, Offer>& offers);

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_REQUESTS_H_
