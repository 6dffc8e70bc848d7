// What `fair` does with workers that will be drained.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/fair.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using ::testing::ElementsAre;
using testing::Gang;
using ::testing::IsEmpty;
using testing::TestBoard;
using testing::Waiter;
using testing::Within;
using testing::WorkerWith;

constexpr absl::Duration kLimit = absl::Minutes(10);
// A grace for those that stop, the limit, and a grace after it.
constexpr absl::Duration kPreempted = absl::Minutes(11);
const absl::Duration kTooNear = kPreempted - absl::Nanoseconds(1);

void PutDrained(const std::string& id, int devices, absl::Duration drain_at,
                TestBoard* test) {
  Worker worker = WorkerWith(id, devices);
  worker.labels = {{"worker", id}};
  worker.drain_at = drain_at;
  test->board.PutWorker(worker);
}

Shape On(const std::string& id, Shape shape) {
  shape.labels = {{"worker", id}};
  return shape;
}

// Two attempts run, a gang waits for both devices, and small jobs wait behind
// it. The first attempt ends; the other does by its limit, and then the gang
// would start.
class FairDrainTest : public ::testing::Test {
 protected:
  void Begin(absl::Duration drained_after, const Shape& gang) {
    PutDrained("w1", 2, begin_ + drained_after, &test_);
    const int64_t first = test_.Wait(Within(Cpus(1), kLimit));
    const int64_t second = test_.Wait(Within(Cpus(1), kLimit));
    test_.Run(first, "w1");
    test_.Run(second, "w1");
    gang_ = test_.Wait(gang);
    small_ = test_.WaitMany(8, {Within(Cpus(1), kLimit)});
    test_.now += absl::Minutes(1);
    test_.End(first);
  }

  TestBoard test_;
  const absl::Duration begin_ = test_.now;
  // When a gang has ended that starts at the second one's limit.
  const absl::Duration gang_ends_ = 2 * (kLimit + absl::Seconds(30));
  int64_t gang_ = 0;
  int64_t small_ = 0;
};

TEST_F(FairDrainTest, RoomIsKeptForAGangThatEndsBeforeTheDrain) {
  Begin(absl::Hours(10), Within(Gang(2, 1), kLimit));
  EXPECT_THAT(test_.Started(), IsEmpty());
  test_.now += absl::Minutes(1);
  test_.End(2);
  EXPECT_THAT(test_.Started(), ElementsAre(gang_));
}

TEST_F(FairDrainTest, AlsoForOneThatEndsJustThen) {
  Begin(gang_ends_, Within(Gang(2, 1), kLimit));
  EXPECT_THAT(test_.Started(), IsEmpty());
}

TEST_F(FairDrainTest, NoneIsKeptForAGangThatMayRunThen) {
  Begin(gang_ends_ - absl::Nanoseconds(1), Within(Gang(2, 1), kLimit));
  EXPECT_THAT(test_.Started(), ElementsAre(small_));
}

TEST_F(FairDrainTest, NoneIsKeptForAGangWithoutALimit) {
  Begin(absl::Hours(10), Gang(2, 1));
  EXPECT_THAT(test_.Started(), ElementsAre(small_));
}

TEST(FairDrainedTest, WhatADrainForbidsKeepsNobodyBehindItWaiting) {
  TestBoard test;
  PutDrained("w1", 2, test.now + kPreempted, &test);
  PutDrained("w2", 2, absl::InfiniteDuration(), &test);
  test.Run(test.Wait(Within(Cpus(2), kLimit)), "w1");
  test.Run(test.Wait(Within(Cpus(1), kLimit)), "w2");
  // It would start in time if w1 were free now.
  test.Wait(On("w1", Within(Gang(2, 1), kLimit)));
  const int64_t large = test.Wait(On("w2", Within(Gang(2, 1), kLimit)));
  test.Wait(Within(Cpus(1), absl::Hours(1)));
  const Decisions decisions = test.Place();
  EXPECT_THAT(decisions.starts, IsEmpty());
  ASSERT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.reservations[0].job, large);
}

// Else a later one would have room kept before it each time.
TEST(FairDrainedTest, WhoWaitsForKeptRoomKeepsItsTurnAlsoBeforeADrain) {
  TestBoard test;
  PutDrained("w1", 2, test.now + absl::Hours(10), &test);
  PutDrained("w2", 1, test.now + absl::Hours(10), &test);
  test.Run(test.Wait(Within(Cpus(1), kLimit)), "w1");
  const int64_t first = test.Wait(On("w1", Within(Cpus(2), kLimit)));
  test.Wait(On("w1", Within(Cpus(2), kLimit)));
  const int64_t small = test.Wait(On("w2", Within(Cpus(1), kLimit)));
  EXPECT_THAT(test.Started(), ElementsAre(small));
  ASSERT_EQ(test.board.Reservations().size(), 1u);
  EXPECT_EQ(test.board.Reservations()[0].job, first);
}

TEST(FairDrainedTest, ALimitIsWaitedForOnlyWhereItCanBeInTime) {
  const auto started = [](absl::Duration drained_after) {
    TestBoard test;
    PutDrained("w1", 3, test.now + drained_after, &test);
    test.PutQueue("default", {0, 2});
    test.Run(test.Wait(Within(Cpus(1), kLimit)), "w1");
    test.Wait(Within(Gang(2, 1), absl::Hours(1)));
    test.Wait(Within(Cpus(1), kLimit));
    return test.Started();
  };
  EXPECT_THAT(started(absl::Hours(10)), IsEmpty());
  EXPECT_THAT(started(absl::Minutes(30)), ElementsAre(3));
}

TEST(FairDrainedTest, WhatComesTooLateIsWaitedForUntilThen) {
  TestBoard test;
  const absl::Duration drain_at = test.now + absl::Hours(10);
  PutDrained("w1", 3, drain_at, &test);
  test.PutQueue("default", {0, 2});
  test.Run(test.Wait(Within(Cpus(1), kLimit)), "w1");
  test.Wait(Within(Gang(2, 1), absl::Hours(1)));
  const int64_t small = test.Wait(Within(Cpus(1), kLimit));
  EXPECT_THAT(test.Started(), IsEmpty());
  const absl::Duration lapses_at = PlaceFair(test.board, test.now).lapses_at;
  EXPECT_EQ(lapses_at, drain_at - absl::Hours(1) - absl::Seconds(30) +
                           absl::Nanoseconds(1));

  test.now = lapses_at - absl::Nanoseconds(1);
  EXPECT_THAT(test.Started(), IsEmpty());
  EXPECT_EQ(PlaceFair(test.board, test.now).lapses_at, lapses_at);
  test.now = lapses_at;
  EXPECT_THAT(test.Started(), ElementsAre(small));
  EXPECT_EQ(PlaceFair(test.board, test.now).lapses_at,
            absl::InfiniteDuration());
}

TEST(FairDrainedTest, APriorityStopsOthersWhereItEndsBeforeTheDrain) {
  const auto num_stopped = [](absl::Duration drained_after,
                              const Shape& shape) {
    TestBoard test;
    const absl::Duration begin = test.now + absl::Minutes(5);
    PutDrained("w1", 1, begin + drained_after, &test);
    test.Run(test.Wait(Within(Cpus(1), absl::Minutes(6))), "w1");
    test.now = begin;
    test.Wait({shape, "default", "ann", 10});
    return test.Place().preemptions.size();
  };
  const Shape limited = Within(Cpus(1), kLimit);
  EXPECT_EQ(num_stopped(absl::Hours(10), limited), 1u);
  EXPECT_EQ(num_stopped(kPreempted, limited), 1u);
  EXPECT_EQ(num_stopped(kTooNear, limited), 0u);
  EXPECT_EQ(num_stopped(absl::Hours(10), Cpus(1)), 0u);
}

TEST(FairDrainedTest, AQueueTakesBackWhatItUsesBeforeTheDrain) {
  const auto num_stopped = [](absl::Duration drained_after) {
    TestBoard test;
    test.PutQueue("owed", {1});
    test.PutQueue("borrower", {});
    const absl::Duration begin = test.now + absl::Minutes(5);
    PutDrained("w1", 1, begin + drained_after, &test);
    test.Run(test.Wait({Within(Cpus(1), absl::Minutes(6)), "borrower"}), "w1");
    test.now = begin;
    test.Wait({Within(Cpus(1), kLimit), "owed"});
    return test.Place().preemptions.size();
  };
  EXPECT_EQ(num_stopped(absl::Hours(10)), 1u);
  EXPECT_EQ(num_stopped(kPreempted), 1u);
  EXPECT_EQ(num_stopped(kTooNear), 0u);
}

// The first of those who may stop others is one for whom it would be too late.
TEST(FairDrainedTest, WhoIsTooLateForADrainKeepsNobodyFromStoppingOthers) {
  TestBoard test;
  PutDrained("w1", 1, test.now + absl::Minutes(15), &test);
  test.Run(test.Wait(Within(Cpus(1), absl::Minutes(6))), "w1");
  test.now += absl::Minutes(5);
  test.Wait({Within(Cpus(1), kLimit), "default", "ann", 11});
  const int64_t brief =
      test.Wait({Within(Cpus(1), absl::Minutes(5)), "default", "ann", 10});
  const Decisions decisions = test.Place();
  EXPECT_THAT(decisions.preemptions,
              ElementsAre(Preemption{1, brief, Preemption::Why::kPriority}));
}

// Those before it left later than they might.
TEST(FairDrainedTest, RoomThatCameTooLateIsKeptElsewhere) {
  TestBoard test;
  const absl::Duration ends = test.now + kLimit + absl::Seconds(30);
  PutDrained("w1", 2, ends + kLimit + absl::Seconds(35), &test);
  PutDrained("w2", 2, absl::InfiniteDuration(), &test);
  test.Run(test.Wait(Within(Cpus(1), kLimit)), "w1");
  const int64_t slow = test.Wait(Within(Cpus(1), absl::Hours(1)));
  test.Run(slow, "w2");
  const int64_t large = test.Wait(Within(Cpus(2), kLimit));
  test.Wait(Within(Cpus(1), absl::Hours(1)));
  test.Place();
  ASSERT_EQ(test.board.Reservations().size(), 1u);
  EXPECT_EQ(test.board.Reservations()[0].workers[0].worker, "w1");

  test.now = ends + absl::Seconds(6);
  test.End(slow);
  test.Wait(Within(Cpus(1), absl::Hours(1)));
  EXPECT_THAT(test.Started(), IsEmpty());
  ASSERT_EQ(test.board.Reservations().size(), 1u);
  EXPECT_EQ(test.board.Reservations()[0].job, large);
  EXPECT_EQ(test.board.Reservations()[0].workers[0].worker, "w2");
}

}  // namespace
}  // namespace ordo::scheduler::policy
