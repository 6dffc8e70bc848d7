#include "scheduler/policy/fair.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using ::testing::ElementsAre;
using testing::Gang;
using ::testing::IsEmpty;
using testing::TestBoard;
using testing::ToText;
using ::testing::UnorderedElementsAre;
using testing::Waiter;
using testing::Within;
using testing::WorkerWith;

Waiter In(const std::string& queue, const Shape& shape = Cpus(1)) {
  Waiter waiter;
  waiter.queue = queue;
  waiter.shape = shape;
  return waiter;
}

std::vector<std::string> Texts(const std::vector<Start>& starts) {
  std::vector<std::string> texts;
  for (const Start& start : starts) texts.push_back(ToText(start));
  return texts;
}

TEST(FairTest, NothingWaits) {
  TestBoard test;
  test.PutWorker("w1", 2);
  EXPECT_TRUE(test.Place().empty());
}

TEST(FairTest, NothingIsFree) {
  TestBoard test;
  test.Wait();
  EXPECT_TRUE(test.Place().empty());
}

TEST(FairTest, TheEarlierJobsStart) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.WaitMany(3);
  EXPECT_THAT(Texts(test.Place().starts),
              ElementsAre("1: w1[cpu:0]", "2: w1[cpu:1]"));
}

TEST(FairTest, MoreThanOneCallHolds) {
  TestBoard test;
  test.PutWorker("w1", 1500);
  test.WaitMany(1600);
  const Decisions first = PlaceFair(test.board, test.now);
  EXPECT_EQ(first.starts.size(), kMaxStarts);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(test.Place().starts.size(), 1500u);
}

TEST(FairTest, APriorityIsWorthSoMuchAgeAndNotMore) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t old = test.WaitMany(60);
  // 61 jobs after the first one: as many seconds.
  test.Wait();
  const int64_t high = test.Wait({Cpus(1), "default", "ann", 1});
  EXPECT_THAT(test.Started(), ElementsAre(old));
  test.End(old);
  EXPECT_THAT(test.Started(), ElementsAre(old + 1));
  test.End(old + 1);
  EXPECT_THAT(test.Started(), ElementsAre(high));
}

TEST(FairTest, QueuesShareByWeight) {
  TestBoard test;
  test.PutQueue("a", {});
  test.PutQueue("b", {0, -1, -1, 3});
  test.PutWorker("w1", 8);
  test.WaitMany(20, In("a"));
  test.WaitMany(20, In("b"));
  test.Place();
  EXPECT_EQ(test.board.NumHeld("a", "cpu"), 2);
  EXPECT_EQ(test.board.NumHeld("b", "cpu"), 6);
}

TEST(FairTest, WhoUsedMuchComesLater) {
  TestBoard test;
  test.PutQueue("a", {});
  test.PutQueue("b", {});
  test.board.SetUsage("a", "cpu", 1e6, test.now);
  test.PutWorker("w1", 4);
  test.WaitMany(4, In("a"));
  test.WaitMany(4, In("b"));
  test.Place();
  EXPECT_EQ(test.board.NumHeld("b", "cpu"), 4);
}

TEST(FairTest, WhatNobodyElseWantsIsBorrowed) {
  TestBoard test;
  test.PutQueue("a", {2});
  test.PutQueue("b", {2});
  test.PutWorker("w1", 4);
  test.WaitMany(9, In("a"));
  test.Place();
  EXPECT_EQ(test.board.NumHeld("a", "cpu"), 4);
}

TEST(FairTest, ALimitIsNeverExceeded) {
  TestBoard test;
  test.PutQueue("a", {0, 3});
  test.PutWorker("w1", 8);
  test.WaitMany(9, In("a", Cpus(2)));
  test.Place();
  EXPECT_EQ(test.board.NumHeld("a", "cpu"), 2);
}

TEST(FairTest, SmallerJobsDoNotKeepALargeOneAboveTheLimit) {
  TestBoard test;
  test.PutQueue("a", {0, 4});
  test.PutWorker("w1", 8);
  test.WaitMany(1, In("a", Cpus(2)));
  const int64_t large = test.Wait(In("a", Cpus(4)));
  test.WaitMany(9, In("a", Cpus(1)));
  EXPECT_THAT(test.Started(), ElementsAre(1));

  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(large));
}

TEST(FairTest, WhatNoLimitAllowsHoldsNobodyUp) {
  TestBoard test;
  test.PutQueue("a", {0, 4, 3});
  test.PutWorker("w1", 8);
  test.Wait(In("a", Cpus(5)));
  test.Wait(In("a", Cpus(4)));
  const int64_t small = test.Wait(In("a", Cpus(1)));
  EXPECT_THAT(test.Started(), ElementsAre(small));
}

TEST(FairTest, WhatNoWorkerOffersHoldsNobodyUp) {
  TestBoard test;
  test.PutQueue("a", {0, 4});
  test.PutWorker("w1", 8);
  test.WaitMany(2, In("a", Cpus(2)));
  Shape nowhere = Cpus(4);
  nowhere.labels = {{"zone", "nowhere"}};
  test.Wait(In("a", nowhere));
  EXPECT_THAT(test.Started(), ElementsAre(1, 2));
  test.End(1);
  const int64_t small = test.Wait(In("a", Cpus(1)));
  EXPECT_THAT(test.Started(), ElementsAre(small));
}

TEST(FairTest, AnOwnerHoldsNoMoreThanIsAllowed) {
  TestBoard test;
  test.PutQueue("a", {0, -1, 2});
  test.PutWorker("w1", 8);
  test.WaitMany(4, {Cpus(1), "a", "ann"});
  test.WaitMany(1, {Cpus(1), "a", "bob"});
  EXPECT_THAT(test.Started(), ElementsAre(1, 2, 5));
}

// Part of `sweep`, of which `most` run at a time.
Waiter PartOf(const Shape& shape, int most) {
  Waiter part{shape};
  part.parent = "sweep";
  part.max_parallel = most;
  return part;
}

TEST(FairTest, NoMorePartsRunThanTheirParentLetsAndOthersPass) {
  TestBoard test;
  test.PutWorker("w1", 8);
  test.WaitMany(2, PartOf(Cpus(1), 2));
  test.WaitMany(2, PartOf(Cpus(2), 2));
  const int64_t other = test.Wait(Cpus(1));
  EXPECT_THAT(test.Started(), ElementsAre(1, 2, other));
  test.End(2);
  EXPECT_THAT(test.Started(), ElementsAre(3));
}

TEST(FairTest, APartThatWaitsForItsParentsLimitHasNoRoomKept) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(PartOf(Within(Cpus(3), absl::Hours(1)), 1)), "w1");
  test.Wait(PartOf(Cpus(4), 1));
  const int64_t other = test.Wait(Cpus(1));
  const Decisions decisions = test.Place();
  EXPECT_TRUE(decisions.reservations.empty());
  ASSERT_EQ(decisions.starts.size(), 1u);
  EXPECT_EQ(decisions.starts[0].job, other);
}

TEST(FairTest, APartWithRoomKeptForItCountsForItsParent) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(Within(Cpus(3), absl::Hours(1))), "w1");
  const int64_t large = test.Wait(PartOf(Cpus(4), 1));
  test.Wait(PartOf(Within(Cpus(1), absl::Minutes(1)), 1));
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.reservations[0].job, large);
  EXPECT_TRUE(decisions.starts.empty());
  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(large));
}

TEST(FairTest, PartsThatWaitForTheirParentsLimitKeepNobodyFromStoppingOthers) {
  TestBoard test;
  test.PutWorker("w1", 2);
  Waiter part = PartOf(Cpus(1), 1);
  part.priority = 20;
  test.Run(test.Wait(part), "w1");
  const int64_t victim = test.Wait();
  test.Run(victim, "w1");
  // Each in a lane of its own.
  for (int i = 1; i <= 70; ++i) {
    part.shape = Within(Cpus(1), absl::Hours(i));
    test.Wait(part);
  }
  test.now += absl::Minutes(5);
  const int64_t urgent = test.Wait({Cpus(1), "default", "ann", 10});
  EXPECT_THAT(
      test.Place().preemptions,
      ElementsAre(Preemption{victim, urgent, Preemption::Why::kPriority}));
}

TEST(FairTest, AGangStartsWholeOrNotAtAll) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Wait(Gang(3, 1));
  EXPECT_TRUE(test.Place().starts.empty());

  test.PutWorker("w2", 1);
  EXPECT_THAT(Texts(test.Place().starts),
              ElementsAre("1: w1[cpu:0] w1[cpu:1] w2[cpu:0]"));
}

TEST(FairTest, CoresAndMemoryRunOut) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 8);
  worker.cpus = 10;
  test.board.PutWorker(worker);
  Shape shape = Cpus(1);
  shape.cpus = 4;
  test.WaitMany(4, {shape});
  EXPECT_THAT(test.Started(), ElementsAre(1, 2));

  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(3));
}

TEST(FairTest, AnExclusiveJobIsAlone) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  test.Run(test.Wait(), "w1");
  Shape shape = Cpus(1);
  shape.exclusive = true;
  test.Wait(shape);
  test.WaitMany(2);
  EXPECT_THAT(Texts(test.Place().starts),
              ElementsAre("2: w2[cpu:0]", "3: w1[cpu:1]"));
}

TEST(FairTest, RoomIsKeptForABlockedGang) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(), "w1");
  const int64_t gang = test.Wait(Gang(4, 1));
  test.WaitMany(3);
  const Decisions decisions = test.Place();
  EXPECT_TRUE(decisions.starts.empty());
  ASSERT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.reservations[0].job, gang);

  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(gang));
}

TEST(FairTest, NothingIsKeptWhileNobodyElseWouldTakeIt) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(), "w1");
  test.Wait(Gang(4, 1));
  EXPECT_TRUE(test.Place().empty());
}

TEST(FairTest, WhatEndsBeforeTheReservedStartRunsBeforeIt) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), "w1");
  const int64_t gang = test.Wait(Gang(4, 1));
  const int64_t endless = test.Wait();
  const int64_t longer = test.Wait(Within(Cpus(1), absl::Minutes(61)));
  const int64_t brief = test.Wait(Within(Cpus(1), absl::Minutes(50)));
  EXPECT_THAT(test.Started(), ElementsAre(brief));
  EXPECT_TRUE(test.board.IsWaiting(endless));
  EXPECT_TRUE(test.board.IsWaiting(longer));

  test.now += absl::Minutes(59);
  test.End(brief);
  EXPECT_THAT(test.Started(), IsEmpty());
  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(gang));
}

TEST(FairTest, WhatAReservationLeavesOverIsGiven) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.Run(test.Wait(Within(Cpus(2), absl::Hours(1))), "w1");
  const int64_t large = test.Wait(Cpus(3));
  test.WaitMany(2);
  EXPECT_THAT(test.Started(), ElementsAre(3));

  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(large));
}

TEST(FairTest, OneReservationALane) {
  TestBoard test;
  for (const char* id : {"w1", "w2", "w3"}) {
    test.PutWorker(id, 2);
    test.Run(test.Wait(), id);
  }
  test.WaitMany(3, {Cpus(2)});
  test.Wait();
  const Decisions decisions = test.Place();
  EXPECT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.starts.size(), 1u);
}

TEST(FairTest, SoManyReservationsAndNotMore) {
  BoardOptions options;
  options.max_reservations = 2;
  TestBoard test(options);
  for (const char* id : {"w1", "w2", "w3"}) {
    test.PutWorker(id, 2);
    test.Run(test.Wait(), id);
  }
  for (const char* owner : {"ann", "bob", "cleo"}) {
    test.Wait({Cpus(2), "default", owner});
  }
  test.Wait();
  const Decisions decisions = test.Place();
  EXPECT_EQ(decisions.reservations.size(), 2u);
  EXPECT_EQ(decisions.starts.size(), 1u);
}

TEST(FairTest, TheFirstThatIsBlockedIsNeverOneTooMany) {
  BoardOptions options;
  options.max_reservations = 1;
  TestBoard test(options);
  for (const char* id : {"w1", "w2", "w3"}) {
    test.PutWorker(id, 2);
    test.Run(test.Wait(), id);
  }
  test.Wait({Cpus(2), "default", "ann"});
  test.Wait();
  ASSERT_EQ(test.Place().reservations.size(), 1u);

  const int64_t urgent = test.Wait({Cpus(2), "default", "bob", 100});
  test.Wait();
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.reservations[0].job, urgent);
}

// Otherwise gangs that come later could keep it waiting for ever.
TEST(FairTest, ASmallJobIsKeptRoomBeforeALaterGangIs) {
  TestBoard test;
  Worker labelled = WorkerWith("w1", 2);
  labelled.labels = {{"zone", "a"}};
  test.board.PutWorker(labelled);
  test.PutWorker("w2", 2);
  test.Run(test.Wait(Within(Cpus(2), absl::Hours(1))), "w1");
  test.Run(test.Wait(), "w2");
  Shape in_zone = Cpus(1);
  in_zone.labels = labelled.labels;
  const int64_t small = test.Wait(in_zone);
  const int64_t gang = test.Wait(Cpus(2));
  const int64_t other = test.Wait();
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.reservations.size(), 2u);
  EXPECT_EQ(decisions.reservations[0].job, small);
  EXPECT_EQ(decisions.reservations[0].workers[0].worker, "w1");
  EXPECT_EQ(decisions.reservations[1].job, gang);

  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(small, other));
}

// Otherwise they could keep the first from ever having all workers.
TEST(FairTest, NobodyIsKeptRoomBehindOneForWhomNoneCanBeKept) {
  TestBoard test;
  for (const char* id : {"w1", "w2"}) {
    test.PutWorker(id, 2);
    test.Run(test.Wait(Within(Cpus(1), absl::Hours(1))), id);
  }
  const int64_t before = test.Wait({Cpus(2), "default", "ann"});
  test.Wait(Within(Cpus(1), absl::Hours(2)));
  ASSERT_EQ(test.Place().reservations.size(), 1u);

  // It wants both workers, and one of them is kept.
  const int64_t gang = test.Wait(Gang(2, 2));
  test.Wait({Cpus(2), "default", "bob"});
  const int64_t brief = test.Wait(Within(Cpus(1), absl::Minutes(30)));
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.starts.size(), 1u);
  EXPECT_EQ(decisions.starts[0].job, brief);
  EXPECT_THAT(decisions.reservations, IsEmpty());

  test.End(brief);
  test.End(1);
  EXPECT_THAT(test.Started(), ElementsAre(before));
  test.Wait();
  test.End(2);
  const Decisions next = test.Place();
  EXPECT_THAT(next.starts, IsEmpty());
  ASSERT_GE(next.reservations.size(), 1u);
  EXPECT_EQ(next.reservations[0].job, gang);
}

// Room is kept for a gang of queue a; a free worker is left.
class FairPassedOverTest : public ::testing::Test {
 protected:
  FairPassedOverTest() {
    for (const char* queue : {"a", "b"}) test_.PutQueue(queue, {});
    test_.PutWorker("w1", 1);
    test_.PutWorker("w2", 1);
    test_.Run(test_.Wait(Within(Cpus(1), absl::Hours(1))), "w1");
    first_ = test_.Wait(In("a", Gang(2, 1)));
    const int64_t other = test_.Wait(In("a"));
    EXPECT_EQ(test_.Place().reservations.size(), 1u);
    test_.board.StopWaiting(other);
    test_.PutWorker("w3", 1);
    // Its turn is before that of a.
    test_.board.SetUsage("a", "cpu", 1e6, test_.now);
  }

  TestBoard test_;
  int64_t first_ = 0;
};

// Otherwise they would use its queue's share, and room would always be kept for
// those of other queues first.
TEST_F(FairPassedOverTest, WhoCannotHaveRoomKeptHasItsQueueComeLast) {
  const int64_t gang = test_.Wait(In("b", Gang(2, 1)));
  const int64_t behind = test_.Wait(In("b"));
  const int64_t other = test_.Wait(In("a"));
  ASSERT_THAT(test_.Started(), ElementsAre(other));

  test_.End(1);
  ASSERT_THAT(test_.Started(), ElementsAre(first_));
  test_.End(first_);
  test_.End(other);
  ASSERT_THAT(test_.Started(), UnorderedElementsAre(gang, behind));
}

TEST_F(FairPassedOverTest, WhatNobodyElseWantsIsGivenToThoseBehind) {
  test_.Wait(In("b", Gang(2, 1)));
  const int64_t behind = test_.Wait(In("b"));
  test_.Wait(In("a", Gang(2, 1)));
  ASSERT_THAT(test_.Started(), ElementsAre(behind));
}

TEST_F(FairPassedOverTest, WhatTheQueueIsGuaranteedComesFirstStill) {
  test_.PutQueue("b", {1});
  test_.Wait(In("b", Gang(2, 1)));
  const int64_t behind = test_.Wait(In("b"));
  test_.Wait(In("a"));
  ASSERT_THAT(test_.Started(), ElementsAre(behind));
}

TEST(FairTest, NothingStartsThatADrainWouldMeet) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 2);
  worker.drain_at = test.now + absl::Hours(1);
  test.board.PutWorker(worker);
  test.Wait();
  test.Wait(Within(Cpus(1), absl::Hours(1)));
  const int64_t brief = test.Wait(Within(Cpus(1), absl::Minutes(59)));
  EXPECT_THAT(test.Started(), ElementsAre(brief));
}

TEST(FairTest, ALargerPriorityStopsASmallerOfItsQueue) {
  TestBoard test;
  test.PutQueue("other", {});
  test.PutWorker("w1", 2);
  test.Run(test.Wait(In("other")), "w1");
  test.Run(test.Wait(), "w1");
  test.now += absl::Minutes(5);
  const int64_t urgent = test.Wait({Cpus(1), "default", "ann", 10});
  const Decisions decisions = test.Place();
  EXPECT_THAT(decisions.preemptions,
              ElementsAre(Preemption{2, urgent, Preemption::Why::kPriority}));
  ASSERT_EQ(decisions.reservations.size(), 1u);
  EXPECT_EQ(decisions.reservations[0].at, test.now + absl::Seconds(30));

  // What it stopped waits again and comes after it.
  test.Requeue(2);
  EXPECT_THAT(test.Started(), ElementsAre(urgent));
}

TEST(FairTest, JobsOfSeveralQueuesStopOthersInOneCall) {
  TestBoard test;
  for (const char* name : {"a", "b"}) {
    test.PutQueue(name, {});
    test.PutWorker(name, 1);
    test.Run(test.Wait(In(name)), name);
  }
  test.now += absl::Minutes(5);
  const int64_t urgent = test.Wait({Cpus(1), "a", "ann", 10});
  const int64_t more_urgent = test.Wait({Cpus(1), "b", "ann", 20});
  const Decisions decisions = PlaceFair(test.board, test.now);
  EXPECT_THAT(
      decisions.preemptions,
      ElementsAre(Preemption{2, more_urgent, Preemption::Why::kPriority},
                  Preemption{1, urgent, Preemption::Why::kPriority}));
  EXPECT_EQ(decisions.reservations.size(), 2u);
  test.Place();
}

TEST(FairTest, WhatWasStoppedForAJobIsNotGivenToAnother) {
  TestBoard test;
  test.PutWorker("w1", 2);
  const int64_t old = test.WaitMany(2);
  test.Place();
  test.now += absl::Minutes(5);
  const int64_t urgent = test.Wait({Cpus(2), "default", "ann", 10});
  EXPECT_EQ(test.Place().preemptions.size(), 2u);

  test.Requeue(old);
  EXPECT_THAT(test.Started(), IsEmpty());
  test.Requeue(old + 1);
  EXPECT_THAT(test.Started(), ElementsAre(urgent));
}

TEST(FairTest, AQueueTakesBackWhatItIsGuaranteed) {
  TestBoard test;
  test.PutQueue("owed", {2});
  test.PutQueue("borrower", {});
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  test.WaitMany(4, In("borrower"));
  test.Place();
  test.now += absl::Minutes(5);
  test.WaitMany(4, In("owed"));
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.preemptions.size(), 2u);
  EXPECT_EQ(decisions.preemptions[0].why, Preemption::Why::kReclaim);

  for (const Preemption& preemption : decisions.preemptions) {
    test.Requeue(preemption.victim);
  }
  EXPECT_THAT(test.Started(), UnorderedElementsAre(5, 6));
  EXPECT_EQ(test.board.NumHeld("borrower", "cpu"), 2);
}

TEST(FairTest, WhoIsTooYoungIsLookedAtAgain) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.Run(test.Wait(), "w1");
  test.now += absl::Milliseconds(59500);
  test.Wait({Cpus(1), "default", "ann", 10});
  const Decisions early = PlaceFair(test.board, test.now);
  EXPECT_TRUE(early.empty());
  EXPECT_EQ(early.ask_again_at, test.now + absl::Seconds(1));
  test.Place();

  test.now += absl::Milliseconds(900);
  EXPECT_TRUE(test.Place().empty());
  test.now += absl::Milliseconds(100);
  EXPECT_EQ(test.Place().preemptions.size(), 1u);
}

TEST(FairTest, NobodyIsStoppedWhileThereIsRoom) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.Run(test.Wait(), "w1");
  test.now += absl::Minutes(5);
  const int64_t urgent = test.Wait({Cpus(1), "default", "ann", 10});
  const Decisions decisions = test.Place();
  EXPECT_THAT(decisions.preemptions, IsEmpty());
  EXPECT_EQ(decisions.starts[0].job, urgent);
}

TEST(FairTest, KindsOfDevicesDoNotWaitForEachOther) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 1);
  worker.devices.push_back({"cuda:0", "cuda", 100, {}, true});
  test.board.PutWorker(worker);
  test.WaitMany(2);
  Shape cuda = Cpus(1);
  cuda.kind = "cuda";
  const int64_t other = test.Wait(cuda);
  EXPECT_THAT(test.Started(), UnorderedElementsAre(1, other));
}

}  // namespace
}  // namespace ordo::scheduler::policy
