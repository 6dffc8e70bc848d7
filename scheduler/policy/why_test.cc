#include "scheduler/policy/why.h"

#include <string>

#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::Gang;
using testing::TestBoard;
using testing::Waiter;
using testing::Within;
using testing::WorkerWith;

// After what can start has started.
Reason WhyOf(TestBoard* test, int64_t job) {
  test->Place();
  return Why(test->board, job, test->now);
}

TEST(WhyTest, NothingHoldsWhatIsAboutToStart) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t job = test.Wait();
  const Reason reason = Why(test.board, job, test.now);

  EXPECT_EQ(reason.constraint, Constraint::kNone);
  EXPECT_EQ(reason.start, test.now);
}

TEST(WhyTest, NobodyOffersWhatItAsks) {
  TestBoard test;
  test.PutWorker("w1", 1);

  const Reason reason = WhyOf(&test, test.Wait(Cpus(2)));
  EXPECT_EQ(reason.constraint, Constraint::kUnoffered);
  EXPECT_FALSE(reason.start.has_value());
}

TEST(WhyTest, WhoOffersItTakesNoWork) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 1);
  worker.takes_work = false;
  test.board.PutWorker(worker);
  const int64_t job = test.Wait();
  EXPECT_EQ(WhyOf(&test, job).constraint, Constraint::kClosed);

  worker.takes_work = true;
  worker.drain_at = test.now + absl::Hours(1);
  test.board.PutWorker(worker);
  EXPECT_EQ(WhyOf(&test, job).constraint, Constraint::kClosed);
}

TEST(WhyTest, ADrainIsNothingToWhatEndsBefore) {
  TestBoard test;
  const Shape shape = Within(Cpus(1), absl::Hours(1));
  const auto drain_after = [&](absl::Duration after) {
    Worker worker = WorkerWith("w1", 1);
    worker.drain_at = test.now + after;
    test.board.PutWorker(worker);
  };
  drain_after(absl::Hours(10));
  test.Run(test.Wait(shape), "w1");
  const int64_t job = test.Wait(shape);
  const Reason reason = WhyOf(&test, job);
  EXPECT_EQ(reason.constraint, Constraint::kRoom);
  EXPECT_EQ(reason.start, test.now + absl::Hours(1));

  // It may start, if the other does not take as long as it may.
  drain_after(absl::Hours(1) + absl::Seconds(30));
  EXPECT_EQ(WhyOf(&test, job).constraint, Constraint::kRoom);
  EXPECT_FALSE(WhyOf(&test, job).start.has_value());

  drain_after(absl::Hours(1) + absl::Seconds(29));
  EXPECT_EQ(WhyOf(&test, job).constraint, Constraint::kClosed);
  EXPECT_FALSE(WhyOf(&test, job).start.has_value());
}

TEST(WhyTest, WhatADrainForbidsIsNotWaitedFor) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 2);
  worker.drain_at = test.now + absl::Hours(1);
  test.board.PutWorker(worker);
  test.PutQueue("default", {0, 1});
  test.Run(test.Wait(Within(Cpus(1), absl::Minutes(1))), "w1");
  const int64_t late = test.Wait(Within(Cpus(1), absl::Hours(1)));
  const int64_t brief = test.Wait(Within(Cpus(1), absl::Minutes(1)));

  EXPECT_EQ(WhyOf(&test, late).constraint, Constraint::kClosed);
  EXPECT_EQ(WhyOf(&test, brief).constraint, Constraint::kQueueLimit);
}

TEST(WhyTest, ItsQueueHoldsAllItMay) {
  TestBoard test;
  test.PutQueue("default", {0, 3});
  test.PutWorker("w1", 4);
  test.Run(test.Wait(Cpus(2)), "w1");
  const int64_t job = test.Wait(Cpus(2));
  const int64_t behind = test.Wait(Cpus(1));

  const Reason reason = WhyOf(&test, job);
  EXPECT_EQ(reason.constraint, Constraint::kQueueLimit);
  EXPECT_EQ(reason.wanted, 4);
  EXPECT_EQ(reason.limit, 3);
  EXPECT_EQ(WhyOf(&test, behind).constraint, Constraint::kOrder);
  EXPECT_EQ(WhyOf(&test, behind).other, job);
}

TEST(WhyTest, ItsOwnerHoldsAllTheyMay) {
  TestBoard test;
  test.PutQueue("default", {0, -1, 1});
  test.PutWorker("w1", 4);
  test.Run(test.Wait(), "w1");
  const int64_t job = test.Wait();

  const Reason reason = WhyOf(&test, job);
  EXPECT_EQ(reason.constraint, Constraint::kOwnerLimit);
  EXPECT_EQ(reason.wanted, 2);
  const int64_t never = test.Wait(Cpus(3));
  EXPECT_EQ(WhyOf(&test, never).constraint, Constraint::kOwnerLimit);
  EXPECT_FALSE(WhyOf(&test, never).start.has_value());
}

TEST(WhyTest, AsManyPartsOfItsParentRunAsMay) {
  TestBoard test;
  test.PutWorker("w1", 4);
  Waiter part;
  part.parent = "sweep";
  part.max_parallel = 1;
  test.Run(test.Wait(part), "w1");
  const int64_t first = test.Wait(part);
  const int64_t second = test.Wait(part);
  for (const int64_t job : {first, second}) {
    const Reason reason = WhyOf(&test, job);
    EXPECT_EQ(reason.constraint, Constraint::kParentLimit);
    EXPECT_EQ(reason.limit, 1);
    EXPECT_FALSE(reason.start.has_value());
  }
  // They hold up nobody else.
  EXPECT_EQ(Why(test.board, test.Wait(), test.now).constraint,
            Constraint::kNone);
}

TEST(WhyTest, ThereIsNoRoom) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), "w1");

  EXPECT_EQ(WhyOf(&test, test.Wait()).constraint, Constraint::kRoom);
}

TEST(WhyTest, TheRoomIsKeptForAnother) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(), "w1");
  const int64_t large = test.Wait(Cpus(2));
  const int64_t small = test.Wait();

  const Reason reason = WhyOf(&test, small);
  EXPECT_EQ(reason.constraint, Constraint::kReservation);
  EXPECT_EQ(reason.other, large);
  EXPECT_EQ(WhyOf(&test, large).constraint, Constraint::kRoom);
}

TEST(WhyTest, AnotherOfItsLaneIsBeforeIt) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Run(test.Wait(), "w1");
  const int64_t first = test.WaitMany(3);

  const Reason reason = WhyOf(&test, first + 2);
  EXPECT_EQ(reason.constraint, Constraint::kOrder);
  EXPECT_EQ(reason.other, first);
  EXPECT_EQ(reason.jobs_ahead, 2);
}

TEST(WhyTest, JobsAheadAreThoseOfAllLanesOfItsQueue) {
  TestBoard test;
  test.PutQueue("other", {});
  test.WaitMany(3, {Cpus(1), "other"});
  test.WaitMany(2, {Cpus(1), "default", "ann"});
  test.WaitMany(2, {Cpus(2), "default", "bob"});
  const int64_t job = test.Wait();
  test.Wait();

  EXPECT_EQ(WhyOf(&test, job).jobs_ahead, 4);
}

TEST(WhyTest, AReservedJobStartsWhenItsRoomIsFree) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), "w1");
  const int64_t gang = test.Wait(Gang(2, 1));
  test.Wait();

  EXPECT_EQ(WhyOf(&test, gang).start, test.now + absl::Hours(1));
}

TEST(WhyTest, AReservedJobStartsNoLaterThanItsRoomIsKeptFrom) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), "w1");
  const int64_t gang = test.Wait(Gang(2, 1));
  test.Wait();
  test.Place();
  ASSERT_EQ(test.board.Reservations().size(), 1u);
  // Which is before it in the queue.
  Waiter urgent{Within(Cpus(2), absl::Hours(9))};
  urgent.priority = 1000;
  test.Wait(urgent);

  EXPECT_EQ(Why(test.board, gang, test.now).start,
            test.now + absl::Hours(1) + absl::Seconds(30));
}

TEST(WhyTest, TheGuessIsTheWorkAheadOverTheDevices) {
  TestBoard test;
  test.PutQueue("other", {});
  test.PutWorker("w1", 4);
  test.Run(test.Wait({Within(Cpus(4), absl::Hours(1)), "other"}), "w1");
  // Half of the devices are due to either queue.
  test.Wait({Cpus(1), "other"});
  const int64_t first = test.WaitMany(4, {Within(Cpus(1), absl::Hours(1))});

  EXPECT_EQ(WhyOf(&test, first + 3).start, test.now + absl::Hours(2));
}

TEST(WhyTest, WithoutAnyLimitOrPastThereIsNoGuess) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Run(test.Wait(), "w1");
  const int64_t job = test.Wait();
  EXPECT_FALSE(WhyOf(&test, job).start.has_value());

  // Attempts took ten minutes so far.
  test.now += absl::Minutes(10);
  test.End(1);
  EXPECT_EQ(test.Started().size(), 1u);
  EXPECT_EQ(WhyOf(&test, test.Wait()).start, test.now + absl::Minutes(10));
}

TEST(WhyTest, WhatThereIsTooLittleOfIsNamed) {
  const auto lack_of = [](const Shape& runs, const Shape& waits) {
    TestBoard test;
    test.PutWorker("w1", 3);
    test.Run(test.Wait(runs), "w1");
    const Reason reason = WhyOf(&test, test.Wait(waits));
    EXPECT_EQ(reason.constraint, Constraint::kRoom);
    return reason.lack;
  };
  Shape cores = Cpus(1);
  cores.cpus = 600;
  Shape memory = Cpus(1);
  memory.memory_bytes = 600;
  Shape alone = Cpus(1);
  alone.exclusive = true;

  EXPECT_EQ(lack_of(Cpus(2), Cpus(2)), Lack::kDevices);
  EXPECT_EQ(lack_of(cores, cores), Lack::kCpus);
  EXPECT_EQ(lack_of(memory, memory), Lack::kMemory);
  EXPECT_EQ(lack_of(Cpus(1), alone), Lack::kEmptyWorkers);
  EXPECT_EQ(lack_of(alone, alone), Lack::kEmptyWorkers);
  EXPECT_EQ(lack_of(alone, Cpus(1)), Lack::kSharedWorkers);
  // Cores, and a device too.
  Shape both = Cpus(3);
  both.cpus = 600;
  EXPECT_EQ(lack_of(cores, both), Lack::kDevices);
}

}  // namespace
}  // namespace ordo::scheduler::policy
