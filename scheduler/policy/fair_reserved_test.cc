#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/fair.h"
#include "scheduler/policy/testing/boards.h"
#include "scheduler/policy/why.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using ::testing::ElementsAre;
using testing::Gang;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TestBoard;
using testing::ToText;
using testing::WorkerWith;

// Two workers with a device each are kept for a gang: w1's is free, w2's is
// held by an attempt without end.
class FairReservedTest : public ::testing::Test {
 protected:
  FairReservedTest() {
    test_.PutWorker("w1", 1);
    test_.PutWorker("w2", 1);
    running_ = test_.Wait();
    test_.Run(running_, "w2");
  }

  int64_t KeepRoomForGang(int priority) {
    const int64_t gang = test_.Wait({Gang(2, 1), "default", "ann", priority});
    const int64_t other = test_.Wait();
    const Decisions decisions = test_.Place();
    EXPECT_THAT(decisions.reservations, SizeIs(1));
    EXPECT_THAT(decisions.starts, IsEmpty());
    test_.board.StopWaiting(other);
    return gang;
  }

  TestBoard test_;
  int64_t running_ = 0;
};

TEST_F(FairReservedTest, AGangStartsOnWhatIsKeptForItAndWhatElseIsFree) {
  const int64_t gang = KeepRoomForGang(0);
  test_.PutWorker("w3", 1);
  EXPECT_EQ(Why(test_.board, gang, test_.now).constraint, Constraint::kNone);

  const Decisions decisions = test_.Place();
  ASSERT_THAT(decisions.starts, SizeIs(1));
  EXPECT_EQ(ToText(decisions.starts[0]), "2: w1[cpu:0] w3[cpu:0]");
  EXPECT_THAT(test_.board.Reservations(), IsEmpty());
}

// It has had its turn; what it lacks is due to those that have theirs now.
TEST_F(FairReservedTest, OthersAreGivenWhatIsFreeElsewhereFirst) {
  KeepRoomForGang(0);
  test_.PutWorker("w3", 1);
  const int64_t urgent = test_.Wait({Cpus(1), "default", "bob", 100});

  EXPECT_THAT(test_.Started(), ElementsAre(urgent));
  EXPECT_THAT(test_.board.Reservations(), SizeIs(1));
}

TEST_F(FairReservedTest, NobodyStopsForAGangThatHasRoomWithWhatIsKeptForIt) {
  const int64_t gang = KeepRoomForGang(10);
  // What runs may be stopped from now on.
  test_.now += absl::Minutes(5);
  test_.PutWorker("w3", 1);

  const Decisions decisions = test_.Place();
  EXPECT_THAT(decisions.preemptions, IsEmpty());
  ASSERT_THAT(decisions.starts, SizeIs(1));
  EXPECT_EQ(decisions.starts[0].job, gang);
}

TEST_F(FairReservedTest, AGangStopsOnlyThoseThatItLacksBesideWhatIsKeptForIt) {
  test_.PutWorker("w0", 1);
  const int64_t low = test_.Wait({Cpus(1), "default", "ann", -10});
  test_.Run(low, "w0");
  const int64_t gang = KeepRoomForGang(10);
  test_.now += absl::Minutes(5);

  EXPECT_THAT(test_.Place().preemptions,
              ElementsAre(Preemption{low, gang, Preemption::Why::kPriority}));
}

// Where devices of a worker differ, nothing of it is open beside what is kept.
TEST(FairReservedMixedTest,
     AGangStartsWithMoreRanksOnAWorkerThanWereToBeThere) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 2);
  worker.devices[0].lacking = {"attention/a"};
  test.board.PutWorker(worker);
  test.PutWorker("w2", 1);
  const int64_t first = test.Wait();
  test.Run(first, "w1");
  test.Run(test.Wait(), "w2");
  const int64_t gang = test.Wait(Gang(2, 1));
  test.board.Reserve({gang, absl::InfiniteDuration(), {{"w1", 1}, {"w2", 1}}});
  EXPECT_THAT(test.Started(), IsEmpty());

  test.End(first);
  const Decisions decisions = test.Place();
  ASSERT_THAT(decisions.starts, SizeIs(1));
  EXPECT_EQ(ToText(decisions.starts[0]), "3: w1[cpu:0] w1[cpu:1]");
}

}  // namespace
}  // namespace ordo::scheduler::policy
