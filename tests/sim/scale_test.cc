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

TEST(ScaleTest, AQueuedJobTakesLessThanAKibibyteWithASpecOfItsOwn) {
  ScaleOptions options;
  options.num_workers = 1;
  options.num_jobs = 20'000;
  options.check_period = 1'000'000;
  const ScaleResult own = RunScale(options);
  EXPECT_THAT(own.status, base::testing::IsOk());
  EXPECT_LT(own.bytes_per_queued_job, 1024);
  options.distinct_specs = false;
  const ScaleResult shared = RunScale(options);
  EXPECT_THAT(shared.status, base::testing::IsOk());
  EXPECT_LE(shared.bytes_per_queued_job, own.bytes_per_queued_job);
}

}  // namespace
}  // namespace ordo::tests::sim
