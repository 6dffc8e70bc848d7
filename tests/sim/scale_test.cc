#include "tests/sim/scale.h"

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::tests::sim {
namespace {

TEST(ScaleTest, EveryJobStartsOnceAndEnds) {
  ScaleOptions options;
  options.num_workers = 50;
  options.num_jobs = 3000;
  options.check_period = 500;
  const ScaleResult result = RunScale(options);
  EXPECT_THAT(result.status, base::testing::IsOk());
  EXPECT_EQ(result.num_decisions, 3000);
}

}  // namespace
}  // namespace ordo::tests::sim
