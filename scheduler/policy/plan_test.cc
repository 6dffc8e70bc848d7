#include "scheduler/policy/plan.h"

#include <string>

#include "absl/strings/str_cat.h"
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
using testing::Within;
using testing::WorkerWith;

int ShapeOf(const TestBoard& test, int64_t job) {
  const Tables& tables = test.board.tables();
  return tables.lanes[tables.waiting.at(job).lane].shape;
}

// "w1:2 w2:1", ranks on workers.
std::string Text(const TestBoard& test, const Assignments& where) {
  std::string text;
  for (const auto& [worker, ranks] : where) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    test.board.tables().workers[worker].facts.id, ":", ranks);
  }
  return text;
}

std::string FitOf(const TestBoard& test, int64_t job) {
  return Text(test, Plan(test.board, test.now).Fit(ShapeOf(test, job)));
}

TEST(PlanTest, TheFullestWorkerWithRoomIsTaken) {
  TestBoard test;
  test.PutWorker("w1", 8);
  test.PutWorker("w2", 3);
  test.PutWorker("w3", 4);

  EXPECT_EQ(FitOf(test, test.Wait(Cpus(3))), "w2:1");
  EXPECT_EQ(FitOf(test, test.Wait(Cpus(4))), "w3:1");
  EXPECT_EQ(FitOf(test, test.Wait(Cpus(9))), "");
}

// Where the next job starts that avoids these devices.
std::string StartOf(TestBoard& test, const Shape& shape,
                    const DevicesByWorker& avoided) {
  testing::Waiter waiter;
  waiter.shape = shape;
  waiter.avoided = avoided;
  test.Wait(waiter);
  const Decisions decisions = test.Place();
  return decisions.starts.empty() ? "" : ToText(decisions.starts[0]);
}

TEST(PlanTest, AvoidedDevicesAreTakenAfterOthersOfTheWorker) {
  TestBoard test;
  test.PutWorker("w1", 3);

  EXPECT_EQ(StartOf(test, Cpus(1), {{"w1", {"cpu:0"}}}), "1: w1[cpu:1]");
  EXPECT_EQ(StartOf(test, Cpus(2), {{"w1", {"cpu:2"}}}), "2: w1[cpu:0 cpu:2]");
}

TEST(PlanTest, ARankComputesOnADeviceThatItDoesNotAvoid) {
  TestBoard test;
  test.PutWorker("w1", 2);

  EXPECT_EQ(StartOf(test, Cpus(2), {{"w1", {"cpu:0"}}}), "1: w1[cpu:1 cpu:0]");
}

TEST(PlanTest, AvoidedDevicesAreTakenAfterOtherWorkers) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.PutWorker("w2", 2);

  EXPECT_EQ(StartOf(test, Cpus(1), {{"w1", {"cpu:0"}}}), "1: w2[cpu:0]");
  EXPECT_EQ(StartOf(test, Gang(2, 1), {{"w2", {"cpu:1"}}}),
            "2: w1[cpu:0] w2[cpu:1]");
}

TEST(PlanTest, AGangAvoidsDevicesWhereItSpreads) {
  TestBoard test;
  test.PutWorker("w1", 1);
  test.PutWorker("w2", 1);
  test.PutWorker("w3", 1);

  EXPECT_EQ(StartOf(test, Gang(2, 1), {{"w1", {"cpu:0"}}}),
            "1: w2[cpu:0] w3[cpu:0]");
}

TEST(PlanTest, AWorkerIsAvoidedWhoseDevicesAreNotNamed) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 3);

  EXPECT_EQ(StartOf(test, Gang(2, 1), {{"w1", {}}}), "1: w2[cpu:0] w2[cpu:1]");
}

TEST(PlanTest, WhereNothingElseIsFreeAJobGetsWhatItAvoids) {
  TestBoard test;
  test.PutWorker("w1", 2);

  EXPECT_EQ(StartOf(test, Cpus(1), {{"w1", {"cpu:0", "cpu:1"}}}),
            "1: w1[cpu:0]");
  EXPECT_EQ(StartOf(test, Cpus(1), {{"w1", {}}}), "2: w1[cpu:1]");
}

TEST(PlanTest, AGangIsOnOneWorkerIfOneHasRoom) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutWorker("w2", 4);
  test.PutWorker("w3", 8);

  EXPECT_EQ(FitOf(test, test.Wait(Gang(2, 4))), "w3:2");
}

TEST(PlanTest, AGangIsOnTheFewestWorkersOtherwise) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 5);
  test.PutWorker("w3", 1);
  test.PutWorker("w4", 3);

  // Ranks are whole: five devices have room for two of two.
  EXPECT_EQ(FitOf(test, test.Wait(Gang(3, 2))), "w2:2 w1:1");
  EXPECT_EQ(FitOf(test, test.Wait(Gang(6, 1))), "w2:5 w3:1");
  EXPECT_EQ(FitOf(test, test.Wait(Gang(5, 2))), "");
}

TEST(PlanTest, FewestIsByRanksWhereCoresDecide) {
  TestBoard test;
  Worker few_cores = WorkerWith("w1", 8);
  few_cores.cpus = 1;
  test.board.PutWorker(few_cores);
  test.PutWorker("w2", 3);
  test.PutWorker("w3", 2);
  Shape shape = Gang(5, 1);
  shape.cpus = 1;

  EXPECT_EQ(FitOf(test, test.Wait(shape)), "w2:3 w3:2");
}

TEST(PlanTest, LabelsKernelsAndMemoryDecideWhichWorkers) {
  TestBoard test;
  Worker worker = WorkerWith("w1", 1);
  worker.labels = {{"zone", "a"}};
  test.board.PutWorker(worker);
  worker = WorkerWith("w2", 1);
  worker.devices[0].lacking = {"attention/a"};
  worker.devices[0].memory_bytes = 500;
  test.board.PutWorker(worker);
  Shape labelled = Cpus(1);
  labelled.labels = {{"zone", "a"}};
  Shape kernel = Cpus(1);
  kernel.kernels = {"attention/a"};
  Shape memory = Cpus(1);
  memory.device_memory_bytes = 200;

  EXPECT_EQ(FitOf(test, test.Wait(labelled)), "w1:1");
  EXPECT_EQ(FitOf(test, test.Wait(kernel)), "w1:1");
  EXPECT_EQ(FitOf(test, test.Wait(memory)), "w2:1");
}

TEST(PlanTest, WhatFewerShapesCanUseIsTakenFirst) {
  TestBoard test;
  test.PutWorker("w1", 1);
  Worker lacking = WorkerWith("w2", 1);
  lacking.devices[0].lacking = {"attention/a"};
  test.board.PutWorker(lacking);
  const int64_t any = test.Wait(Cpus(1));
  Shape kernel = Cpus(1);
  kernel.kernels = {"attention/a"};
  test.Wait(kernel);

  EXPECT_EQ(FitOf(test, any), "w2:1");
}

TEST(PlanTest, WhatIsGivenInTheCallIsGone) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  const int shape = ShapeOf(test, test.Wait(Cpus(2)));
  Plan plan(test.board, test.now);

  EXPECT_EQ(ToText(plan.Give({1, shape, plan.Fit(shape)})),
            "1: w1[cpu:0 cpu:1]");
  EXPECT_TRUE(plan.HasRoom(0));
  EXPECT_EQ(ToText(plan.Give({2, shape, plan.Fit(shape)})),
            "2: w2[cpu:0 cpu:1]");
  EXPECT_FALSE(plan.HasRoom(0));
  EXPECT_THAT(plan.Fit(shape), IsEmpty());
  EXPECT_TRUE(plan.IsBlocked(shape));
}

TEST(PlanTest, WhatIsKeptInTheCallIsForThoseThatEndBefore) {
  TestBoard test;
  test.PutWorker("w1", 2);
  const int endless = ShapeOf(test, test.Wait(Cpus(1)));
  const int brief = ShapeOf(test, test.Wait(Within(Cpus(1), absl::Minutes(1))));
  const int both = ShapeOf(test, test.Wait(Cpus(2)));
  Plan plan(test.board, test.now);
  plan.Keep(both, {{0, 1}}, test.now + absl::Minutes(2));

  EXPECT_THAT(plan.Fit(endless), IsEmpty());
  EXPECT_EQ(Text(test, plan.Fit(brief)), "w1:1");
}

TEST(PlanTest, AReservationIsReadyWhenAllOfItIsFree) {
  TestBoard test;
  test.PutWorker("w1", 2);
  test.PutWorker("w2", 2);
  const int64_t running = test.Wait(Cpus(1));
  test.Run(running, "w2");
  const int64_t job = test.Wait(Gang(2, 2));
  test.board.Reserve({job, absl::InfiniteDuration(), {{"w1", 1}, {"w2", 1}}});
  EXPECT_THAT(Plan(test.board, test.now).FitReserved(job), IsEmpty());

  test.End(running);
  EXPECT_EQ(Text(test, Plan(test.board, test.now).FitReserved(job)),
            "w1:1 w2:1");
}

TEST(PlanTest, MostOpenIsByOpenDevicesWithoutThoseKept) {
  TestBoard test;
  test.PutWorker("w1", 4);
  test.PutWorker("w2", 4);
  test.PutWorker("w3", 4);
  const int64_t running = test.Wait(Cpus(1));
  test.Run(running, "w1");
  const int64_t job = test.Wait(Cpus(4));
  test.board.Reserve({job, absl::InfiniteDuration(), {{"w2", 1}}});
  const Plan plan(test.board, test.now);

  EXPECT_THAT(plan.MostOpen(ShapeOf(test, job), 9), ElementsAre(2, 0));
  EXPECT_THAT(plan.MostOpen(ShapeOf(test, job), 1), ElementsAre(2));
}

TEST(PlanTest, FewestTakesTheLargestAndThenTheSmallestThatDoes) {
  TestBoard test;
  for (const char* id : {"w0", "w1", "w2", "w3"}) test.PutWorker(id, 1);

  EXPECT_EQ(Text(test, Fewest({{0, 2}, {1, 4}, {2, 3}, {3, 1}}, 5)),
            "w1:4 w3:1");
  EXPECT_EQ(Text(test, Fewest({{0, 2}, {1, 4}, {2, 3}}, 3)), "w2:3");
  EXPECT_EQ(Text(test, Fewest({{0, 2}, {1, 2}}, 5)), "");
}

}  // namespace
}  // namespace ordo::scheduler::policy
