// Simulates clusters with faults on virtual time. Examples:
//   tools/simulate --seeds 1000 --first-seed 1
//   tools/simulate --scale
//
// Each seed draws a scenario of its own; with --scenario all take that of a
// file. Prints each seed that fails, with what led to it and the command that
// replays it exactly, and ends with 1 if there is one; --verbose prints a line
// for every seed. --scale measures the scheduler's core at full size; --workers
// and --jobs make it smaller.

#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/sim/scale.h"
#include "tests/sim/simulation.h"

namespace {

using ordo::tests::sim::Describe;
using ordo::tests::sim::DrawScenario;
using ordo::tests::sim::Outcome;
using ordo::tests::sim::ReadScenario;
using ordo::tests::sim::RunScale;
using ordo::tests::sim::ScaleOptions;
using ordo::tests::sim::ScaleResult;
using ordo::tests::sim::Scenario;
using ordo::tests::sim::Simulate;

struct Flags {
  int64_t seeds = 200;
  int64_t first_seed = 1;
  std::string scenario;
  bool verbose = false;
  bool scale = false;
  int64_t workers = ScaleOptions().num_workers;
  int64_t jobs = ScaleOptions().num_jobs;
};

int Usage(const std::string& message) {
  std::fprintf(stderr,
               "simulate: %s\n"
               "usage: tools/simulate [--seeds N] [--first-seed S] "
               "[--scenario FILE] [--verbose]\n"
               "       tools/simulate --scale [--workers N] [--jobs N]\n",
               message.c_str());
  return 2;
}

int RunSeeds(const Flags& flags) {
  Scenario scenario;
  if (!flags.scenario.empty()) {
    const auto read = ReadScenario(flags.scenario);
    if (!read.ok()) return Usage(std::string(read.status().message()));
    scenario = *read;
  }
  int64_t num_events = 0;
  int64_t num_failed = 0;
  for (int64_t i = 0; i < flags.seeds; ++i) {
    const auto seed = static_cast<uint64_t>(flags.first_seed + i);
    if (flags.scenario.empty()) scenario = DrawScenario(seed);
    const Outcome outcome = Simulate(seed, scenario);
    num_events += outcome.num_events;
    num_failed += outcome.status.ok() ? 0 : 1;
    if (!outcome.status.ok() || flags.verbose) {
      std::printf("%s\n", Describe(outcome, scenario).c_str());
    }
  }
  std::printf("%s\n", absl::StrCat(flags.seeds, " seeds, ", num_events,
                                   " events, ", num_failed, " failed")
                          .c_str());
  return num_failed == 0 ? 0 : 1;
}

int RunAtScale(const Flags& flags) {
  ScaleOptions options;
  options.num_workers = static_cast<int>(flags.workers);
  options.num_jobs = static_cast<int>(flags.jobs);
  const ScaleResult result = RunScale(options);
  std::printf("%s\n", Describe(result, options).c_str());
  return result.status.ok() ? 0 : 1;
}

// Whether the argument is a flag with a number, which is then read.
bool TakeNumber(const std::string& argument, const std::string& value,
                Flags* flags) {
  const std::map<std::string, int64_t*> numbers = {
      {"--seeds", &flags->seeds},
      {"--first-seed", &flags->first_seed},
      {"--workers", &flags->workers},
      {"--jobs", &flags->jobs}};
  const auto found = numbers.find(argument);
  return found != numbers.end() && absl::SimpleAtoi(value, found->second) &&
         *found->second > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--verbose") {
      flags.verbose = true;
    } else if (argument == "--scale") {
      flags.scale = true;
    } else if (i + 1 < argc && argument == "--scenario") {
      flags.scenario = argv[++i];
    } else if (i + 1 < argc && TakeNumber(argument, argv[i + 1], &flags)) {
      ++i;
    } else {
      return Usage("unknown or incomplete: " + argument);
    }
  }
  return flags.scale ? RunAtScale(flags) : RunSeeds(flags);
}
