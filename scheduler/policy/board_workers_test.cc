#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/check.h"
#include "scheduler/policy/fair.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using ::ordo::base::testing::IsOk;
using testing::Cpus;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestBoard;
using testing::ToText;
using testing::WorkerWith;

TEST(BoardWorkersTest, AWorkerThatTakesNoWorkGetsNone) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 2);
  worker.takes_work = false;
  test.board.PutWorker(worker);
  const int64_t job = test.Wait();
  EXPECT_THAT(test.Started(), IsEmpty());

  worker.takes_work = true;
  test.board.PutWorker(worker);
  EXPECT_THAT(test.Started(), ElementsAre(job));
}

TEST(BoardWorkersTest, ADeviceThatIsNotOfferedIsNotGiven) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 2);
  worker.devices[0].offered = false;
  test.board.PutWorker(worker);
  test.WaitMany(2);

  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.starts.size(), 1u);
  EXPECT_EQ(ToText(decisions.starts[0]), "1: w1[cpu:1]");
}

TEST(BoardWorkersTest, ALingeringDeviceIsNotGiven) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.board.SetLingering("w1", {"cpu:1", "cpu:9"});
  test.WaitMany(2);
  EXPECT_THAT(test.Started(), ElementsAre(1));

  test.board.SetLingering("w1", {});
  EXPECT_THAT(test.Started(), ElementsAre(2));
}

TEST(BoardWorkersTest, WhatRunsStaysWhenTheDevicesChange) {
  TestBoard test;
  test.PutWorker("w1", 3);
  const int64_t job = test.Wait(Cpus(2));
  test.Run(job, "w1");

  Worker worker = WorkerWith("w1", 3);
  // In another order, without one that runs, with another.
  worker.devices = {worker.devices[2], worker.devices[1]};
  worker.devices.push_back({"cpu:7", "cpu", 100, {}, true});
  test.board.PutWorker(worker);
  EXPECT_THAT(Check(test.board), IsOk());
  test.Wait(Cpus(3));
  EXPECT_THAT(test.Started(), IsEmpty());

  test.End(job);
  EXPECT_THAT(Check(test.board), IsOk());
  const Decisions decisions = test.Place();
  ASSERT_EQ(decisions.starts.size(), 1u);
  EXPECT_EQ(ToText(decisions.starts[0]), "2: w1[cpu:2 cpu:1 cpu:7]");
}

TEST(BoardWorkersTest, ADeviceThatCameBackIsStillOccupied) {
  TestBoard test;
  test.PutWorker("w1", 1);
  const int64_t job = test.Wait();
  test.Run(job, "w1");
  test.PutWorker("w1", 0);
  test.PutWorker("w1", 1);
  test.Wait();

  EXPECT_THAT(test.Started(), IsEmpty());
  test.End(job);
  EXPECT_THAT(test.Started(), ElementsAre(2));
}

TEST(BoardWorkersTest, ReservationsThatNeedAChangedWorkerAreGivenUp) {
  TestBoard test;
  test.PutWorker("w1", 4);
  const int64_t job = test.Wait(Cpus(4));
  test.board.Reserve({job, absl::Seconds(2000), {{"w1", 1}}});
  test.PutWorker("w1", 4);
  EXPECT_EQ(test.board.Reservations().size(), 1u);

  test.PutWorker("w1", 3);
  EXPECT_THAT(test.board.Reservations(), IsEmpty());
  EXPECT_THAT(Check(test.board), IsOk());
}

TEST(BoardWorkersTest, AWorkerThatIsRemovedIsGone) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.board.RemoveWorker("w1");
  test.Wait();

  EXPECT_FALSE(test.board.HasWorker("w1"));
  EXPECT_THAT(test.Started(), IsEmpty());
  test.PutWorker("w2", 1);
  EXPECT_THAT(test.Started(), ElementsAre(1));
}

}  // namespace
}  // namespace ordo::scheduler::policy
