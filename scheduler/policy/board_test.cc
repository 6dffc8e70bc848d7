#include "scheduler/policy/board.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/check.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using ::ordo::base::testing::IsOk;
using testing::Cpus;
using testing::Gang;
using testing::TestBoard;
using testing::Waiter;
using testing::Within;

TEST(BoardTest, AJobWaitsThenRunsThenIsForgotten) {
  TestBoard test;
  test.PutWorker("w1", 2);
  const int64_t job = test.Wait(Cpus(2));
  EXPECT_TRUE(test.board.IsWaiting(job));
  EXPECT_EQ(test.board.NumWaiting("default"), 1);

  test.Run(job, "w1");
  EXPECT_FALSE(test.board.IsWaiting(job));
  EXPECT_TRUE(test.board.IsRunning(job));
  EXPECT_EQ(test.board.NumHeld("default", "cpu"), 2);
  EXPECT_TRUE(test.board.IsInUse("default"));

  test.End(job);
  EXPECT_FALSE(test.board.IsRunning(job));
  EXPECT_EQ(test.board.NumHeld("default", "cpu"), 0);
  EXPECT_FALSE(test.board.IsInUse("default"));
  EXPECT_TRUE(test.board.tables().lane_ids.empty());
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, RanksComeFreeOneByOne) {
  TestBoard test;
  test.PutWorker("w1", 4);
  const int64_t job = test.Wait(Gang(2, 2));
  test.Run(job, "w1");

  test.board.EndPart(job, 1, test.now);
  test.board.EndPart(job, 1, test.now);
  EXPECT_EQ(test.board.NumHeld("default", "cpu"), 2);
  EXPECT_TRUE(test.board.IsRunning(job));
  EXPECT_EQ(test.Wait(Cpus(2)), 2);
  EXPECT_THAT(test.Started(), ::testing::ElementsAre(2));
  test.End(job);
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, ALargerPriorityIsWorthMinutesOfAge) {
  TestBoard test;
  const int64_t first = test.Wait(Cpus(1));
  const int64_t second = test.Wait(Cpus(1));
  test.board.SetPriority(second, 1);
  test.PutWorker("w1", 1);
  EXPECT_THAT(test.Started(), ::testing::ElementsAre(second));

  test.End(second);
  EXPECT_THAT(test.Started(), ::testing::ElementsAre(first));
}

TEST(BoardTest, UsageIsOfDevicesOverTime) {
  TestBoard test;
  test.PutWorker("w1", 4);
  const int64_t job = test.Wait(Cpus(4));
  test.Run(job, "w1");
  test.now += absl::Seconds(100);

  EXPECT_NEAR(test.board.Usage("default", "cpu", test.now), 400, 1);
  test.End(job);
  EXPECT_NEAR(test.board.Usage("default", "cpu", test.now + absl::Hours(24)),
              200, 1);
  EXPECT_THAT(test.board.Kinds("default"), ::testing::ElementsAre("cpu"));
  EXPECT_EQ(test.board.Usage("default", "cuda", test.now), 0);
}

TEST(BoardTest, UsageMayBeSet) {
  TestBoard test;
  test.board.SetUsage("default", "cuda", 700, test.now);

  EXPECT_DOUBLE_EQ(test.board.Usage("default", "cuda", test.now), 700);
}

TEST(BoardTest, AnAttemptCountsSinceTheUsageThatWasSaved) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.board.SetUsage("default", "cpu", 1000, test.now - absl::Seconds(60));
  // Since before, and since after.
  for (const auto age : {absl::Seconds(100), absl::Seconds(50)}) {
    const int64_t job = test.Wait(Cpus(1));
    const absl::Duration now = test.now;
    test.now -= age;
    test.Run(job, "w1");
    test.now = now;
  }

  EXPECT_NEAR(test.board.Usage("default", "cpu", test.now), 1000 + 60 + 50, 1);
}

TEST(BoardTest, AReservationGoesWithTheWaiting) {
  TestBoard test;
  test.PutWorker("w1", 4);
  const int64_t job = test.Wait(Cpus(4));
  const Reservation reservation{job, absl::Seconds(2000), {{"w1", 1}}};
  test.board.Reserve(reservation);
  EXPECT_THAT(test.board.Reservations(), ::testing::ElementsAre(reservation));
  EXPECT_THAT(Check(test.board), IsOk());

  test.board.StopWaiting(job);
  EXPECT_THAT(test.board.Reservations(), ::testing::IsEmpty());
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, AReservationTakesThePlaceOfTheOneBefore) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutWorker("w2", 4);
  const int64_t job = test.Wait(Cpus(4));
  test.board.Reserve({job, absl::Seconds(2000), {{"w1", 1}}});
  test.board.Reserve({job, absl::Seconds(1500), {{"w2", 1}}});

  ASSERT_EQ(test.board.Reservations().size(), 1u);
  EXPECT_EQ(test.board.Reservations()[0].workers[0].worker, "w2");
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, ChangingAQueueGivesUpItsReservations) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.board.Reserve({test.Wait(Cpus(4)), absl::Seconds(2000), {{"w1", 1}}});
  test.PutQueue("other", {});
  EXPECT_EQ(test.board.Reservations().size(), 1u);

  test.PutQueue("default", {});
  EXPECT_THAT(test.board.Reservations(), ::testing::IsEmpty());
}

TEST(BoardTest, AQueueThatIsRemovedIsGone) {
  TestBoard test;
  test.PutQueue("a", {});
  test.board.RemoveQueue("a");
  EXPECT_FALSE(test.board.HasQueue("a"));

  test.PutQueue("b", {});
  Waiter waiter;
  waiter.queue = "b";
  test.Wait(waiter);
  EXPECT_EQ(test.board.NumWaiting("b"), 1);
  EXPECT_EQ(test.board.tables().queues.size(), 2u);
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, AnAttemptThatStopsEndsByThen) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t job = test.Wait(Within(Cpus(1), absl::Hours(1)));
  test.Run(job, "w1");
  const auto& occupant = test.board.tables().workers[0].occupants[0];
  EXPECT_EQ(occupant.ends_by, test.now + absl::Hours(1) + absl::Seconds(30));

  test.board.NoteStopping(job, test.now + absl::Seconds(5));
  EXPECT_EQ(occupant.ends_by, test.now + absl::Seconds(5));
  test.board.NoteStopping(job, test.now + absl::Seconds(9));
  EXPECT_EQ(occupant.ends_by, test.now + absl::Seconds(5));
  EXPECT_THAT(Check(test.board), IsOk());
  test.End(job);
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardTest, IsAValue) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const Board before = test.board;
  const int64_t job = test.Wait(Cpus(1));
  test.Run(job, "w1");

  EXPECT_FALSE(before.IsRunning(job));
  EXPECT_THAT(Check(before), IsOk());
}

}  // namespace
}  // namespace ordo::scheduler::policy
