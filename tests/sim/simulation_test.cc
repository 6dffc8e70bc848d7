#include "tests/sim/simulation.h"

#include <cstdint>
#include <ctime>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::sim {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

// Of a processor, for all seeds together: whoever changes something waits for
// them. Not of the clock, as other tests run beside them; nor with sanitizers,
// which take several times as much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMaxSeconds = 1e9;
#else
constexpr double kMaxSeconds = 60;
#endif

double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

class SeedTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  static void SetUpTestSuite() { started_ = ProcessorSeconds(); }
  static void TearDownTestSuite() {
    EXPECT_LT(ProcessorSeconds() - started_, kMaxSeconds)
        << "the seeds take more time than whoever waits for them should have "
           "to wait";
  }

 private:
  static inline double started_ = 0;
};

TEST_P(SeedTest, EverythingHoldsAndEverythingEnds) {
  const Scenario scenario = DrawScenario(GetParam());
  const Outcome outcome = Simulate(GetParam(), scenario);
  EXPECT_TRUE(outcome.status.ok()) << Describe(outcome, scenario);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SeedTest, ::testing::Range<uint64_t>(1, 201));

TEST(SimulationTest, ASeedReplaysExactly) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome first = Simulate(seed, DrawScenario(seed));
    const Outcome second = Simulate(seed, DrawScenario(seed));
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.last_lines, second.last_lines) << "seed " << seed;
  }
}

TEST(SimulationTest, OtherSeedsGoOtherWays) {
  EXPECT_NE(Simulate(1, DrawScenario(1)).digest,
            Simulate(2, DrawScenario(1)).digest);
}

// A bound that cannot be kept, to see one reported.
TEST(SimulationTest, AFailureTellsHowToSeeItAgain) {
  Scenario scenario = DrawScenario(1);
  scenario.mutable_workload()->set_endless(1);
  scenario.set_settle_seconds(0);
  const Outcome outcome = Simulate(1, scenario);
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kInternal,
                                       HasSubstr("not ended: job ")));
  EXPECT_THAT(Describe(outcome, scenario),
              HasSubstr("again: tools/simulate --seeds 1 --first-seed 1"));
}

TEST(SimulationTest, AScenarioThatLacksSomethingIsRefusedByName) {
  EXPECT_THAT(ReadScenario("tests/sim/testdata/no_workers.textproto"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cluster.workers: must be 1 to 1000")));
}

}  // namespace
}  // namespace ordo::tests::sim
