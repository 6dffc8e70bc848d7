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
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
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
  bool shared_specs = false;
  int64_t workers = ScaleOptions().num_workers;
  int64_t jobs = ScaleOptions().num_jobs;
};

constexpr char kUsage[] =
    "usage: tools/simulate [--seeds N] [--first-seed S] [--scenario FILE] "
    "[--verbose]\n"
    "       tools/simulate --scale [--workers N] [--jobs N] "
    "[--shared-specs]\n";

int Refuse(const absl::Status& status) {
  std::fprintf(stderr, "simulate: %s\n%s",
               std::string(status.message()).c_str(), kUsage);
  return 2;
}

int RunSeeds(const Flags& flags) {
  Scenario scenario;
  if (!flags.scenario.empty()) {
    const auto read = ReadScenario(flags.scenario);
    if (!read.ok()) return Refuse(read.status());
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
  options.distinct_specs = !flags.shared_specs;
  const ScaleResult result = RunScale(options);
  std::printf("%s\n", Describe(result, options).c_str());
  return result.status.ok() ? 0 : 1;
}

absl::Status Bad(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status ReadNumber(const std::string& flag, const std::string& value,
                        int64_t* number) {
  constexpr int64_t kMax = 2'000'000'000;
  if (absl::SimpleAtoi(value, number) && *number >= 1 && *number <= kMax) {
    return absl::OkStatus();
  }
  return Bad(absl::StrCat(flag, " is '", value,
                          "'; give a whole number from 1 to ", kMax));
}

// Reads the flag at arguments[*i], whose value may be the next argument; *i is
// left at the last one.
absl::Status ReadFlag(const std::vector<std::string>& arguments, size_t* i,
                      Flags* flags) {
  const std::string flag = arguments[*i];
  const std::map<std::string, bool*> switches = {
      {"--verbose", &flags->verbose},
      {"--scale", &flags->scale},
      {"--shared-specs", &flags->shared_specs}};
  if (const auto found = switches.find(flag); found != switches.end()) {
    *found->second = true;
    return absl::OkStatus();
  }
  const std::map<std::string, int64_t*> numbers = {
      {"--seeds", &flags->seeds},
      {"--first-seed", &flags->first_seed},
      {"--workers", &flags->workers},
      {"--jobs", &flags->jobs}};
  const auto number = numbers.find(flag);
  if (number == numbers.end() && flag != "--scenario") {
    std::vector<std::string> names = {"--scenario", "--help"};
    for (const auto& [name, target] : switches) names.push_back(name);
    for (const auto& [name, target] : numbers) names.push_back(name);
    return Bad(absl::StrCat("unknown argument '", flag, "'",
                            ordo::base::SuggestName(flag, names)));
  }
  if (*i + 1 == arguments.size()) {
    return Bad(absl::StrCat(flag, " needs a value"));
  }
  const std::string& value = arguments[++*i];
  if (number != numbers.end()) return ReadNumber(flag, value, number->second);
  flags->scenario = value;
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Flags flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    const absl::Status status = ReadFlag(arguments, &i, &flags);
    if (!status.ok()) return Refuse(status);
  }
  return flags.scale ? RunAtScale(flags) : RunSeeds(flags);
}
