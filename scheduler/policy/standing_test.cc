#include "scheduler/policy/standing.h"

#include <string>

#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"
#include "scheduler/policy/why.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::Gang;
using testing::TestBoard;
using testing::Waiter;
using testing::Within;
using testing::WorkerWith;

// Of a job that was submitted before all of the board's.
Standing OldestOf(const TestBoard& test, const Waiter& waiter = Waiter()) {
  return StandingOf(test.board,
                    {1000, waiter.queue, waiter.owner, waiter.shape,
                     waiter.priority, absl::UnixEpoch()},
                    test.now);
}

// Of one that was submitted after them.
Standing NewestOf(const TestBoard& test, const Waiter& waiter = Waiter()) {
  return StandingOf(test.board,
                    {1000, waiter.queue, waiter.owner, waiter.shape,
                     waiter.priority, absl::UnixEpoch() + absl::Hours(1)},
                    test.now);
}

TEST(StandingTest, OnlyEarlierJobsOfItsQueueAreAhead) {
  TestBoard test;
  test.PutQueue("other", {});
  test.WaitMany(3, {Cpus(1), "other"});
  test.WaitMany(2, {Cpus(2), "default", "bob"});

  EXPECT_EQ(NewestOf(test).jobs_ahead, 2);
  EXPECT_EQ(OldestOf(test).jobs_ahead, 0);
}

TEST(StandingTest, PriorityIsWorthAPlace) {
  TestBoard test;
  test.WaitMany(2);
  Waiter waiter;
  waiter.priority = 1000;

  EXPECT_EQ(NewestOf(test, waiter).jobs_ahead, 0);
}

TEST(StandingTest, WithRoomAndNobodyBeforeItItStartsNow) {
  TestBoard test;
  test.PutWorker("w1", 2);
  EXPECT_EQ(NewestOf(test).start, test.now);
  EXPECT_EQ(NewestOf(test, {Gang(2, 1)}).start, test.now);
}

TEST(StandingTest, WhatTheWorkersDoNotHaveNeverStarts) {
  TestBoard test;
  test.PutWorker("w1", 2);
  Shape labeled = Cpus(1);
  labeled.labels["zone"] = "a";
  Shape other = Cpus(1);
  other.kind = "cuda";

  EXPECT_FALSE(NewestOf(test, {Cpus(3)}).start.has_value());
  EXPECT_FALSE(NewestOf(test, {labeled}).start.has_value());
  EXPECT_FALSE(NewestOf(test, {other}).start.has_value());
  Worker worker = WorkerWith("w1", 2);
  worker.labels["zone"] = "a";
  test.board.PutWorker(worker);
  EXPECT_EQ(NewestOf(test, {labeled}).start, test.now);
}

TEST(StandingTest, BeyondALimitItNeverStarts) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutQueue("default", {0, 3, 2});

  EXPECT_TRUE(NewestOf(test, {Cpus(2)}).start.has_value());
  EXPECT_FALSE(NewestOf(test, {Cpus(3)}).start.has_value());
  test.PutQueue("default", {0, 3, 4});
  EXPECT_FALSE(NewestOf(test, {Cpus(4)}).start.has_value());
}

TEST(StandingTest, ItWaitsWhileItsOwnerHoldsAllTheyMay) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutQueue("default", {0, -1, 1});
  const Shape shape = Within(Cpus(1), absl::Minutes(4));
  test.Run(test.Wait(shape), "w1");

  EXPECT_EQ(NewestOf(test, {shape}).start, test.now + absl::Minutes(4));
  EXPECT_EQ(NewestOf(test, {shape, "default", "bob"}).start, test.now);
}

TEST(StandingTest, NobodyCanTellWhenItsParentsLimitLetsItStart) {
  TestBoard test;
  test.PutWorker("w1", 4);
  Waiter part;
  part.parent = "sweep";
  part.max_parallel = 1;
  const int64_t first = test.Wait(part);
  test.Run(first, "w1");
  const auto of_part = [&](const Shape& shape) {
    WaitingJob job{1000, "default", "ann", shape, 0, absl::UnixEpoch()};
    job.parent = "sweep";
    job.max_parallel = 1;
    return StandingOf(test.board, job, test.now);
  };
  EXPECT_FALSE(of_part(Cpus(1)).start.has_value());
  test.Wait(part);
  test.End(first);
  EXPECT_TRUE(of_part(Cpus(1)).start.has_value());
}

// As if it waited already: the same words for the same place.
TEST(StandingTest, WithoutRoomItIsAsIfItWaited) {
  TestBoard test;
  test.PutQueue("other", {});
  test.PutWorker("w1", 4);
  test.Run(test.Wait({Within(Cpus(4), absl::Hours(1)), "other"}), "w1");
  test.Wait({Cpus(1), "other"});
  const Waiter waiter{Within(Cpus(1), absl::Hours(1))};
  test.WaitMany(3, waiter);
  test.Place();
  const Standing standing = NewestOf(test, waiter);
  const Reason reason = Why(test.board, test.Wait(waiter), test.now);

  EXPECT_EQ(standing.jobs_ahead, 3);
  EXPECT_EQ(standing.start, test.now + absl::Hours(2));
  EXPECT_EQ(reason.jobs_ahead, standing.jobs_ahead);
  EXPECT_EQ(reason.start, standing.start);
}

TEST(StandingTest, WhatIsBeforeItTakesTheRoomFirst) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Wait(Within(Cpus(1), absl::Hours(1)));
  const Waiter waiter{Within(Cpus(1), absl::Hours(1))};

  EXPECT_EQ(NewestOf(test, waiter).start, test.now + absl::Hours(1));
  EXPECT_EQ(OldestOf(test, waiter).start, test.now);
}

TEST(StandingTest, ADrainIsNothingToWhatEndsBefore) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 1);
  worker.drain_at = test.now + absl::Hours(10);
  test.board.PutWorker(worker);
  const Waiter waiter{Within(Cpus(1), absl::Hours(1))};
  test.Run(test.Wait(waiter), "w1");

  EXPECT_EQ(NewestOf(test, waiter).start, test.now + absl::Hours(1));
  EXPECT_FALSE(NewestOf(test).start.has_value());
  worker.drain_at = test.now + absl::Minutes(90);
  test.board.PutWorker(worker);
  EXPECT_FALSE(NewestOf(test, waiter).start.has_value());
}

TEST(StandingTest, WithoutAnyLimitOrPastThereIsNoGuess) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Run(test.Wait(), "w1");

  EXPECT_FALSE(NewestOf(test).start.has_value());
}

}  // namespace
}  // namespace ordo::scheduler::policy
