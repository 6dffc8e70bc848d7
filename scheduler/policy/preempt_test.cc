#include "scheduler/policy/preempt.h"

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
using testing::Waiter;

int64_t RunOn(TestBoard* test, const std::string& worker,
              const Waiter& waiter) {
  const int64_t job = test->Wait(waiter);
  test->Run(job, worker);
  return job;
}

// Who would have to stop for a job.
std::vector<int64_t> VictimsOf(const TestBoard& test, int64_t job,
                               bool reclaim) {
  const Plan plan(test.board, test.now);
  Stopped stopped;
  return ChooseVictims(plan, {job, reclaim}, &stopped).jobs;
}

TEST(PreemptTest, TheSmallestPriorityIsStoppedFirst) {
  TestBoard test;
  test.PutWorker("w1", 3);
  RunOn(&test, "w1", {Cpus(1), "default", "ann", 2});
  const int64_t low = RunOn(&test, "w1", {Cpus(1), "default", "ann", 1});
  RunOn(&test, "w1", {Cpus(1), "default", "ann", 2});
  test.now += absl::Minutes(5);

  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(low));
  const int64_t equal = test.Wait({Cpus(1), "default", "ann", 1});
  EXPECT_THAT(VictimsOf(test, equal, false), IsEmpty());
}

TEST(PreemptTest, ThenWhatLosesLeast) {
  TestBoard test;
  test.PutWorker("w1", 2);
  RunOn(&test, "w1", {});
  const int64_t saved = RunOn(&test, "w1", {});
  test.now += absl::Minutes(5);
  test.board.NoteCheckpoint(saved, test.now);

  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(saved));
}

TEST(PreemptTest, NoneIsYoungerThanTheLeastRunTime) {
  TestBoard test;
  test.PutWorker("w1", 1);
  RunOn(&test, "w1", {});
  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});
  test.now += absl::Seconds(59);
  EXPECT_THAT(VictimsOf(test, job, false), IsEmpty());

  test.now += absl::Seconds(1);
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(1));
}

TEST(PreemptTest, WhatIsNotNeededGoesOn) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  RunOn(&test, "w1", {});
  RunOn(&test, "w2", {});
  RunOn(&test, "w2", {});
  RunOn(&test, "w1", {Cpus(1), "default", "ann", 9});
  test.now += absl::Minutes(5);

  // w1 cannot be emptied for it.
  const int64_t job = test.Wait({Cpus(2), "default", "ann", 3});
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(2, 3));
}

TEST(PreemptTest, WhoeverIsStoppedFirstTheOthersOfItsWorkerFollow) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  RunOn(&test, "w1", {});
  test.now += absl::Minutes(5);
  RunOn(&test, "w1", {});
  RunOn(&test, "w2", {});
  RunOn(&test, "w2", {});
  test.now += absl::Minutes(5);
  // It loses least, and is beside what loses most.
  test.board.NoteCheckpoint(2, test.now);

  const int64_t job = test.Wait({Cpus(2), "default", "ann", 3});
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(2, 1));
}

TEST(PreemptTest, AGangIsStoppedWhole) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.PutWorker("w2", 1);
  const int64_t gang = test.Wait(Gang(2, 1));
  test.board.Start(
      gang, {{{"w1", 0, {"cpu:0"}}, {"w2", 1, {"cpu:0"}}}, test.now, test.now});
  test.now += absl::Minutes(5);

  const int64_t job = test.Wait({Gang(2, 1), "default", "ann", 1});
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(gang));
}

TEST(PreemptTest, ReclaimStopsOnlyWhatIsBorrowed) {
  TestBoard test;
  test.PutQueue("owed", {4});
  test.PutQueue("borrower", {2});
  test.PutWorker("w1", 4);
  for (int i = 0; i < 4; ++i) RunOn(&test, "w1", {Cpus(1), "borrower"});
  test.now += absl::Minutes(5);

  const int64_t two = test.Wait({Cpus(2), "owed"});
  EXPECT_EQ(VictimsOf(test, two, true).size(), 2u);
  EXPECT_THAT(VictimsOf(test, two, false), IsEmpty());
  const int64_t three = test.Wait({Cpus(3), "owed"});
  EXPECT_THAT(VictimsOf(test, three, true), IsEmpty());
}

TEST(PreemptTest, WhatStopsAlreadyIsNotStoppedAgain) {
  TestBoard test;
  test.PutWorker("w1", 1);
  RunOn(&test, "w1", {});
  test.now += absl::Minutes(5);
  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});
  test.board.NoteStopping(1, test.now + absl::Seconds(30));

  EXPECT_THAT(VictimsOf(test, job, false), IsEmpty());
}

TEST(PreemptTest, WhatLosesLeastIsDeviceTimeNotTimeAlone) {
  TestBoard test;
  test.PutWorker("w1", 3);
  const int64_t wide = RunOn(&test, "w1", {Cpus(2)});
  const int64_t narrow = RunOn(&test, "w1", {});
  test.now += absl::Minutes(5);
  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});

  // 2 * 150 s against 1 * 300 s and less.
  test.board.NoteCheckpoint(wide, test.now - absl::Seconds(151));
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(narrow));
  test.board.NoteCheckpoint(wide, test.now - absl::Seconds(149));
  EXPECT_THAT(VictimsOf(test, job, false), ElementsAre(wide));
}

TEST(PreemptTest, WhatStopsForOneJobMakesRoomForNoOther) {
  TestBoard test;
  test.PutQueue("owed", {2});
  test.PutQueue("owed-too", {2});
  test.PutQueue("borrower", {1});
  test.PutWorker("w1", 2);
  RunOn(&test, "w1", {Cpus(1), "borrower"});
  RunOn(&test, "w1", {Cpus(1), "borrower"});
  test.now += absl::Minutes(5);
  const int64_t first = test.Wait({Cpus(1), "owed"});
  const int64_t second = test.Wait({Cpus(1), "owed-too"});

  const Plan plan(test.board, test.now);
  Stopped stopped;
  EXPECT_THAT(ChooseVictims(plan, {first, true}, &stopped).jobs,
              ElementsAre(1));
  // The borrower has left what it is guaranteed.
  EXPECT_THAT(ChooseVictims(plan, {second, true}, &stopped).jobs, IsEmpty());
}

TEST(PreemptTest, WorkersKeptForOthersAreLeftAlone) {
  TestBoard test;
  test.PutWorker("w1", 1);
  RunOn(&test, "w1", {});
  test.now += absl::Minutes(5);
  test.board.Reserve(
      {test.Wait(Cpus(1)), absl::InfiniteDuration(), {{"w1", 1}}});

  const int64_t job = test.Wait({Cpus(1), "default", "ann", 3});
  EXPECT_THAT(VictimsOf(test, job, false), IsEmpty());
}

}  // namespace
}  // namespace ordo::scheduler::policy
