#include "base/version/worker_protocol.h"

#include <limits>
#include <utility>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WorkerProtocolTest, NeighboursWorkTogether) {
  for (const auto& [worker, scheduler] :
       {std::pair(1, 1), std::pair(1, 2), std::pair(2, 1), std::pair(3, 2)}) {
    ORDO_EXPECT_OK(CheckNeighbours({"w", worker, scheduler}));
  }
}

TEST(WorkerProtocolTest,
     AWorkerOfTheReleaseBeforeIsNotAskedForSummariesAndGates) {
  ORDO_ASSERT_OK(CheckNeighbours({"w", 2, kWorkerProtocol}));
  EXPECT_FALSE(KnowsSummaries(2));
  EXPECT_FALSE(KnowsGates(2));
  EXPECT_TRUE(KnowsSummaries(kWorkerProtocol));
  EXPECT_TRUE(KnowsGates(kWorkerProtocol));
}

TEST(WorkerProtocolTest, WhatIsNotSaidIsTheFirst) {
  ORDO_EXPECT_OK(CheckNeighbours({"w", 0, 2}));
  ORDO_EXPECT_OK(CheckNeighbours({"w", 2, 0}));
  EXPECT_THAT(CheckNeighbours({"w", 0, 3}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(WorkerProtocolTest, ARefusalNamesBothVersionsAndWhatToUpgrade) {
  EXPECT_THAT(
      CheckNeighbours({"node-7", 2, 4}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("worker node-7 speaks version 2"),
                     HasSubstr("its scheduler version 4"),
                     HasSubstr("upgrade the worker to the scheduler's"))));
  EXPECT_THAT(
      CheckNeighbours({"node-7", 5, 2}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("upgrade the scheduler to the worker's release")));
}

TEST(WorkerProtocolTest, NumbersOfNoVersionAreRefused) {
  EXPECT_THAT(CheckNeighbours({"w", -1, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckNeighbours({"w", std::numeric_limits<int32_t>::max(), 2}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace ordo::base
