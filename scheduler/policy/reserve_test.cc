#include "scheduler/policy/reserve.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::Gang;
using testing::TestBoard;
using testing::Within;

constexpr absl::Duration kGrace = absl::Seconds(30);

std::optional<FutureRoom> FutureOf(const TestBoard& test, const Shape& shape) {
  TestBoard copy = test;
  const int64_t job = copy.Wait(shape);
  const Tables& tables = copy.board.tables();
  return FindFutureRoom(Plan(copy.board, copy.now),
                        tables.lanes[tables.waiting.at(job).lane].shape);
}

// Two workers of two devices; attempts that end after 1, 2, 3 hours and never.
TestBoard FourRun() {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), "w1");
  test.Run(test.Wait(Cpus(1)), "w1");
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(3))), "w2");
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(2))), "w2");
  return test;
}

TEST(ReserveTest, ThereIsRoomWhenEnoughHaveReachedTheirLimits) {
  const TestBoard test = FourRun();

  const auto one = FutureOf(test, Cpus(1));
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->at, test.now + absl::Hours(1) + kGrace);
  EXPECT_EQ(one->where[0].worker, 0);
  const auto two = FutureOf(test, Cpus(2));
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->at, test.now + absl::Hours(3) + kGrace);
  EXPECT_EQ(two->where[0].worker, 1);
}

TEST(ReserveTest, AGangMayBeOnSeveralWorkers) {
  const TestBoard test = FourRun();

  const auto room = FutureOf(test, Gang(2, 1));
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, test.now + absl::Hours(2) + kGrace);
  EXPECT_EQ(room->where.size(), 2u);
}

// Most of the workers have room for fewer ranks than the largest has.
TEST(ReserveTest, AGangThatNeedsNearlyAllWorkersFindsThem) {
  TestBoard test;
  test.PutWorker("large", 8);
  for (int i = 0; i < 300; ++i) test.PutWorker(absl::StrCat("w", i), 1);
  const auto room = FutureOf(test, Gang(308, 1));
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->where.size(), 301u);
}

TEST(ReserveTest, WithoutLimitsNobodyKnowsWhen) {
  const TestBoard test = FourRun();

  const auto room = FutureOf(test, Gang(4, 1));
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, absl::InfiniteDuration());
}

TEST(ReserveTest, WhatLingersIsSoonFree) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.board.SetLingering("w1", {"cpu:1"});

  const auto room = FutureOf(test, Cpus(2));
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, test.now + kGrace);
}

TEST(ReserveTest, WhatLingersIsNotFreeBeforeWhatEndsSooner) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(Within(Cpus(1), absl::Seconds(1))), "w1");
  test.board.SetLingering("w1", {"cpu:1"});
  test.now += absl::Seconds(10);

  const auto room = FutureOf(test, Cpus(2));
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, test.now + kGrace);
}

TEST(ReserveTest, WorkersThatAreKeptOrDrainedDoNotCount) {
  TestBoard test = FourRun();
  test.board.Reserve(
      {test.Wait(Cpus(2)), absl::InfiniteDuration(), {{"w2", 1}}});
  EXPECT_EQ(FutureOf(test, Cpus(2))->where[0].worker, 0);

  Worker worker = testing::WorkerWith("w1", 2);
  worker.drain_at = test.now + absl::Hours(9);
  test.board.PutWorker(worker);
  EXPECT_FALSE(FutureOf(test, Cpus(2)).has_value());
}

TEST(ReserveTest, AWorkerCountsWhereWhatStartsThenEndsBeforeItIsDrained) {
  TestBoard test = FourRun();
  const Shape gang = Within(Gang(2, 1), absl::Hours(1));
  const absl::Duration second = test.now + absl::Hours(2) + kGrace;
  const absl::Duration third = test.now + absl::Hours(3) + kGrace;
  const auto drain = [&](absl::Duration at) {
    Worker worker = testing::WorkerWith("w1", 2);
    worker.drain_at = at;
    test.board.PutWorker(worker);
  };
  drain(second + absl::Hours(1) + kGrace);
  auto room = FutureOf(test, gang);
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, second);
  EXPECT_EQ(room->where.size(), 2u);

  // What it has room for before is too late with the other's.
  drain(second + absl::Hours(1) + kGrace - absl::Nanoseconds(1));
  room = FutureOf(test, gang);
  ASSERT_TRUE(room.has_value());
  EXPECT_EQ(room->at, third);
  ASSERT_EQ(room->where.size(), 1u);
  EXPECT_EQ(room->where[0].worker, 1);
}

TEST(ReserveTest, WhatIsMoreThanThereIsHasNoFuture) {
  EXPECT_FALSE(FutureOf(FourRun(), Cpus(3)).has_value());
}

TEST(ReserveTest, OnlyWhatOthersCouldTakeInPartsNeedsAReservation) {
  EXPECT_FALSE(NeedsReservation(Cpus(1)));
  EXPECT_TRUE(NeedsReservation(Cpus(2)));
  EXPECT_TRUE(NeedsReservation(Gang(2, 1)));
  Shape shape = Cpus(1);
  shape.cpus = 1;
  EXPECT_TRUE(NeedsReservation(shape));
}

}  // namespace
}  // namespace ordo::scheduler::policy
