// Whether the simulation catches broken cores: each mistake of mutations.txt is
// made in copies of their sources (tests/mutations/mutate.py) that this program
// is linked with, and tried with seeds 1, 2, ... in a process of its own, until
// a seed fails.
//
//   bazel test //tests/sim:mutations_test
//   ORDO_MUTANT=7 bazel-bin/tests/sim/mutations_test
//
// The second form shows how mistake 7 is caught.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/mutations/mutants.h"
#include "tests/sim/simulation.h"

namespace ordo::tests::sim {
namespace {

using mutations::Mutant;
using mutations::Mutants;

constexpr uint64_t kMaxSeeds = 1000;

// The first seed that fails, 0 when none does.
uint64_t FirstFailure(int number) {
  mutations::active = number;
  for (uint64_t seed = 1; seed <= kMaxSeeds; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const Outcome outcome = Simulate(seed, scenario);
    if (outcome.status.ok()) continue;
    const bool whole = std::getenv("ORDO_MUTANT") != nullptr;
    std::printf("%s\n", whole ? Describe(outcome, scenario).c_str()
                              : outcome.status.ToString().c_str());
    return seed;
  }
  return 0;
}

// The same in a process of its own; whether a seed failed. One that a check in
// the core ends counts as caught.
bool IsCaught(const Mutant& mutant) {
  std::printf("%d, %s: %s\n  ", mutant.number, mutant.file, mutant.what);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const uint64_t seed = FirstFailure(mutant.number);
    std::printf("  seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(nullptr);
    _exit(seed == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return child > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

TEST(MutationsTest, EachBrokenCoreIsCaughtWithinAThousandSeeds) {
  ASSERT_GE(Mutants().size(), 10u);
  for (const Mutant& mutant : Mutants()) {
    if (const char* chosen = std::getenv("ORDO_MUTANT");
        chosen != nullptr && std::atoi(chosen) != mutant.number) {
      continue;
    }
    EXPECT_TRUE(IsCaught(mutant))
        << mutant.file << ": " << mutant.what
        << " (ORDO_MUTANT=" << mutant.number << ") is not caught";
  }
}

}  // namespace
}  // namespace ordo::tests::sim
