#include "scheduler/core/desired.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::ElementsAre;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

TEST(DesiredTest, ASetSaysAllThatAWorkerShouldRun) {
  Options options = TestShell::DefaultOptions();
  options.epoch = 7;
  TestShell shell(options);
  ORDO_ASSERT_OK(
      shell.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
  const int64_t first = shell.TakeDesired("w").sequence();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("b")));
  const auto desired = shell.TakeDesired("w");
  EXPECT_EQ(desired.worker(), "w");
  EXPECT_EQ(desired.incarnation(), "w-first");
  EXPECT_EQ(desired.epoch(), 7);
  EXPECT_GT(desired.sequence(), first);
  ASSERT_EQ(desired.attempts_size(), 2);
  EXPECT_EQ(desired.attempts(0).job(), "a");
  EXPECT_THAT(desired.attempts(1).devices(), ElementsAre("cpu:1"));
  EXPECT_EQ(desired.attempts(0).step_timeout().seconds(), 600);
  EXPECT_EQ(desired.attempts(0).grace().seconds(), 30);
}

TEST(DesiredTest, AWorkerThatIsNotOnlineIsToldNothing) {
  State state;
  Turn turn{state, {}};
  Worker worker;
  worker.liveness = Worker::Liveness::kLost;
  EmitDesired(turn, worker);
  EXPECT_TRUE(turn.effects.empty());
  worker.liveness = Worker::Liveness::kOnline;
  EmitDesired(turn, worker);
  EXPECT_EQ(turn.effects.size(), 1u);
}

}  // namespace
}  // namespace ordo::scheduler::core
