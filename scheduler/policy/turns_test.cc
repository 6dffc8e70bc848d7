#include "scheduler/policy/turns.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::TestBoard;
using testing::Waiter;

// The jobs of a queue in the order of their turns.
std::vector<int64_t> Order(QueueTurn* turn) {
  std::vector<int64_t> jobs;
  while (const auto head = turn->Next()) {
    jobs.push_back(head->key.sequence);
    turn->Advance(*head);
  }
  return jobs;
}

// Names of the queues in the order of their turns, each given so much.
std::vector<std::string> Best(const TestBoard& test, int count, int devices) {
  Turns turns(test.board, 0, test.now);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(test.board.tables().queues[turns.Best()->queue()].name);
    turns.Give(devices);
  }
  return names;
}

Waiter In(const std::string& queue) {
  Waiter waiter;
  waiter.queue = queue;
  return waiter;
}

TEST(TurnsTest, JobsOfAQueueComeInOrderAcrossLanes) {
  TestBoard test;
  test.WaitMany(2, {Cpus(1)});
  test.WaitMany(2, {Cpus(2)});
  test.WaitMany(1, {Cpus(1)});
  test.WaitMany(1, {Cpus(1), "default", "bob", 1});
  const Tables& tables = test.board.tables();
  QueueTurn turn(tables, 0, tables.queues[0].kinds.at(0));

  EXPECT_THAT(Order(&turn), ::testing::ElementsAre(6, 1, 2, 3, 4, 5));
}

TEST(TurnsTest, ALaneThatIsNotAdvancedIsDone) {
  TestBoard test;
  test.WaitMany(2, {Cpus(1)});
  test.Wait(Cpus(2));
  const Tables& tables = test.board.tables();
  QueueTurn turn(tables, 0, tables.queues[0].kinds.at(0));

  EXPECT_EQ(turn.Next()->key.sequence, 1);
  EXPECT_EQ(turn.Next()->key.sequence, 3);
  EXPECT_FALSE(turn.Next().has_value());
}

TEST(TurnsTest, AClosedQueueHasNoTurn) {
  TestBoard test;
  test.Wait();
  const Tables& tables = test.board.tables();
  QueueTurn turn(tables, 0, tables.queues[0].kinds.at(0));
  turn.CloseOwner(3);
  EXPECT_TRUE(turn.IsClosed(3));
  EXPECT_FALSE(turn.IsClosed(2));

  turn.Close();
  EXPECT_FALSE(turn.Next().has_value());
}

TEST(TurnsTest, TheQueueThatUsedLeastForItsWeightIsBest) {
  TestBoard test;
  test.PutQueue("a", {});
  test.PutQueue("b", {0, -1, -1, 3});
  test.Wait(In("a"));
  test.Wait(In("b"));
  test.board.SetUsage("a", "cpu", 100, test.now);
  test.board.SetUsage("b", "cpu", 120, test.now);

  // One device more counts as 60 s.
  EXPECT_THAT(Best(test, 5, 1),
              ::testing::ElementsAre("b", "b", "b", "a", "b"));
}

TEST(TurnsTest, AQueueBelowItsGuaranteeIsBest) {
  TestBoard test;
  test.PutQueue("a", {});
  test.PutQueue("b", {3});
  test.Wait(In("a"));
  test.Wait(In("b"));
  test.board.SetUsage("b", "cpu", 1e6, test.now);

  EXPECT_THAT(Best(test, 3, 2), ::testing::ElementsAre("b", "b", "a"));
}

TEST(TurnsTest, AQueueThatIsFinishedIsAskedNoMore) {
  TestBoard test;
  test.PutQueue("a", {});
  test.Wait(In("a"));
  Turns turns(test.board, 0, test.now);
  ASSERT_NE(turns.Best(), nullptr);

  turns.Finish();
  EXPECT_EQ(turns.Best(), nullptr);
}

}  // namespace
}  // namespace ordo::scheduler::policy
