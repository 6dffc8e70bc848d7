#include "scheduler/policy/classes.h"

#include "gtest/gtest.h"
#include "scheduler/policy/board.h"

namespace ordo::scheduler::policy {
namespace {

constexpr absl::Duration kForEver = absl::InfiniteDuration();

Worker WorkerOf(const std::string& id, int devices) {
  Worker worker;
  worker.id = id;
  worker.labels = {{"host", id}};
  for (int i = 0; i < devices; ++i) {
    worker.devices.push_back({"cpu:" + std::to_string(i), "cpu", 0, {}, true});
  }
  return worker;
}

Shape OneCpu() {
  Shape shape;
  shape.kind = "cpu";
  return shape;
}

void Wait(Board* board, int64_t job, const Shape& shape) {
  if (!board->HasQueue("default")) {
    Queue queue;
    queue.name = "default";
    board->PutQueue(queue);
  }
  board->Wait({job, "default", "ann", shape, 0, absl::UnixEpoch()});
}

TEST(ClassesTest, LabelsThatNobodyAsksForMakeNoClass) {
  Board board;
  for (int i = 0; i < 100; ++i) {
    board.PutWorker(WorkerOf("w" + std::to_string(i), 2));
  }
  EXPECT_EQ(board.tables().class_ids.size(), 1u);

  Shape labelled = OneCpu();
  labelled.labels = {{"host", "w7"}};
  Wait(&board, 1, labelled);
  EXPECT_EQ(board.tables().class_ids.size(), 2u);

  board.StopWaiting(1);
  EXPECT_EQ(board.tables().class_ids.size(), 1u);
}

TEST(ClassesTest, TheNextLapseIsTheFirstOfAShapeThatWaitsAndIsNotTooLate) {
  Board board;
  const auto next = [&](absl::Duration now) {
    return NextLapse(board.tables(), now, absl::Seconds(30));
  };
  Worker worker = WorkerOf("w1", 1);
  board.PutWorker(worker);
  Shape shape = OneCpu();
  Wait(&board, 1, shape);
  shape.run_time_limit = absl::Seconds(60);
  Wait(&board, 2, shape);
  EXPECT_EQ(next(absl::ZeroDuration()), kForEver);

  worker.drain_at = absl::Seconds(100);
  board.PutWorker(worker);
  Worker other = WorkerOf("w2", 1);
  other.drain_at = absl::Seconds(200);
  board.PutWorker(other);
  const absl::Duration tick = absl::Nanoseconds(1);
  EXPECT_EQ(next(absl::ZeroDuration()), absl::Seconds(10) + tick);
  EXPECT_EQ(next(absl::Seconds(10)), absl::Seconds(10) + tick);
  EXPECT_EQ(next(absl::Seconds(10) + tick), absl::Seconds(110) + tick);
  EXPECT_EQ(next(absl::Seconds(110) + tick), kForEver);
  board.StopWaiting(2);
  EXPECT_EQ(next(absl::ZeroDuration()), kForEver);
}

TEST(ClassesTest, WorkersThatTakeWorkAndWillBeDrainedAreCounted) {
  Board board;
  const auto num_drained = [&board] { return board.tables().num_drained; };
  Worker worker = WorkerOf("w1", 1);
  board.PutWorker(worker);
  board.PutWorker(WorkerOf("w2", 2));
  EXPECT_EQ(num_drained(), 0);

  worker.drain_at = absl::Seconds(100);
  board.PutWorker(worker);
  EXPECT_EQ(num_drained(), 1);
  // Into another class.
  Shape labelled = OneCpu();
  labelled.labels = {{"host", "w1"}};
  Wait(&board, 1, labelled);
  EXPECT_EQ(num_drained(), 1);

  worker.takes_work = false;
  board.PutWorker(worker);
  EXPECT_EQ(num_drained(), 0);
  worker.takes_work = true;
  board.PutWorker(worker);
  EXPECT_EQ(num_drained(), 1);
  board.RemoveWorker("w1");
  EXPECT_EQ(num_drained(), 0);
}

TEST(ClassesTest, RanksOfSeveralAreForWorkersThatTakeThemOnThatKind) {
  Board board;
  Worker old = WorkerOf("old", 2);
  old.single_rank_kinds = {"cpu"};
  board.PutWorker(old);
  Shape gang = OneCpu();
  gang.ranks = 2;
  Wait(&board, 1, gang);
  Wait(&board, 2, OneCpu());
  EXPECT_FALSE(IsOffered(board.tables(), 0));
  EXPECT_TRUE(IsFeasible(board.tables(), 1, kForEver));

  // What it lacks for others is nothing to this one.
  old.single_rank_kinds = {"cuda"};
  board.PutWorker(old);
  EXPECT_TRUE(IsFeasible(board.tables(), 0, kForEver));
}

TEST(ClassesTest, AShapeIsFeasibleWhenWorkersThatTakeWorkHaveRoomForAllRanks) {
  Board board;
  board.PutWorker(WorkerOf("a", 2));
  Shape gang = OneCpu();
  gang.ranks = 4;
  Wait(&board, 1, gang);
  EXPECT_FALSE(IsOffered(board.tables(), 0));

  Worker other = WorkerOf("b", 2);
  other.takes_work = false;
  board.PutWorker(other);
  EXPECT_TRUE(IsOffered(board.tables(), 0));
  EXPECT_FALSE(IsFeasible(board.tables(), 0, kForEver));

  other.takes_work = true;
  board.PutWorker(other);
  EXPECT_TRUE(IsFeasible(board.tables(), 0, kForEver));
}

TEST(ClassesTest, AWorkerCountsForWhatEndsBeforeItIsDrained) {
  Board board;
  Worker a = WorkerOf("a", 2);
  a.drain_at = absl::Hours(2);
  board.PutWorker(a);
  Worker b = WorkerOf("b", 2);
  b.drain_at = absl::Hours(1);
  board.PutWorker(b);
  Shape gang = OneCpu();
  gang.ranks = 4;
  Wait(&board, 1, gang);
  Wait(&board, 2, OneCpu());

  EXPECT_TRUE(IsFeasible(board.tables(), 0, absl::Hours(1)));
  EXPECT_FALSE(
      IsFeasible(board.tables(), 0, absl::Hours(1) + absl::Nanoseconds(1)));
  EXPECT_TRUE(IsFeasible(board.tables(), 1, absl::Hours(2)));
  EXPECT_FALSE(IsFeasible(board.tables(), 1, kForEver));
}

TEST(ClassesTest, DevicesThatAreNotOfferedDoNotServe) {
  Board board;
  Worker worker = WorkerOf("a", 1);
  worker.devices[0].offered = false;
  board.PutWorker(worker);
  Wait(&board, 1, OneCpu());

  EXPECT_TRUE(IsOffered(board.tables(), 0));
  EXPECT_FALSE(IsFeasible(board.tables(), 0, kForEver));
  EXPECT_EQ(RanksWhenEmpty(board.tables(), 0, 0), 0);
}

TEST(ClassesTest, AClassWithoutWorkersIsForgotten) {
  Board board;
  Wait(&board, 1, OneCpu());
  board.PutWorker(WorkerOf("a", 1));
  board.PutWorker(WorkerOf("a", 2));
  EXPECT_EQ(board.tables().class_ids.size(), 1u);
  EXPECT_EQ(board.tables().shapes[0].classes.size(), 1u);

  board.RemoveWorker("a");
  EXPECT_TRUE(board.tables().class_ids.empty());
  EXPECT_TRUE(board.tables().shapes[0].classes.empty());
}

}  // namespace
}  // namespace ordo::scheduler::policy
