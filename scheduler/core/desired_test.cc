#include "scheduler/core/desired.h"

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/load.h"
#include "scheduler/core/testing/fragile_source.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using agent::v1::SetDesiredRequest;
using base::testing::StatusIs;
using testing::AttemptBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobBuilder;
using testing::StoreSpecOf;
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
  constexpr char kTrace[] =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  NewJob b = JobBuilder("b");
  b.trace_parent = kTrace;
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job made, shell.Submit(b));
  EXPECT_EQ(made.traceparent(), kTrace);
  const auto desired = shell.TakeDesired("w");
  EXPECT_EQ(desired.attempts(0).traceparent(), "");
  EXPECT_EQ(desired.attempts(1).traceparent(), kTrace);
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

const Moment kAgain{absl::FromUnixSeconds(1'700'000'100), absl::Seconds(5)};

// What a scheduler that begins at kAgain knows, with worker w there.
absl::StatusOr<State> StartedAgain(const TestShell& shell) {
  auto state =
      Load(TestShell::DefaultOptions(), DurablePart(shell.state()), kAgain);
  if (state.ok()) {
    state->workers.at("w").liveness = Worker::Liveness::kOnline;
  }
  return state;
}

TEST(DesiredTest, AnAttemptWhoseSpecCannotBeReadIsToldOnceItCan) {
  TestShell shell;
  ORDO_ASSERT_OK(
      shell.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit({JobBuilder("a"), JobBuilder("b")}));
  shell.Ignore();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto source, StoreSpecOf("a", shell.state()));
  ORDO_ASSERT_OK_AND_ASSIGN(State state, StartedAgain(shell));
  Worker& worker = state.workers.at("w");
  Turn turn{state, kAgain};
  EmitDesired(turn, worker);
  ASSERT_EQ(turn.effects.size(), 1u);
  const auto first = std::get<SetDesired>(turn.effects[0]);
  ASSERT_EQ(first.request->attempts_size(), 1);
  EXPECT_EQ(first.request->attempts(0).job(), "b");
  EXPECT_THAT(first.untold,
              ElementsAre(StatusIs(absl::StatusCode::kDataLoss,
                                   HasSubstr("table specs, id 7"))));
  source->error = absl::OkStatus();
  EmitDesired(turn, worker);
  ASSERT_EQ(turn.effects.size(), 2u);
  const auto second = std::get<SetDesired>(turn.effects[1]);
  ASSERT_EQ(second.request->attempts_size(), 2);
  EXPECT_TRUE(second.request->attempts(0).has_train());
  EXPECT_THAT(second.untold, IsEmpty());
  // The worker may have begun: what it was told stays true.
  source->error = absl::DataLossError("table specs, id 7");
  EmitDesired(turn, worker);
  ASSERT_EQ(turn.effects.size(), 3u);
  const auto third = std::get<SetDesired>(turn.effects[2]);
  ASSERT_EQ(third.request->attempts_size(), 2);
  EXPECT_TRUE(third.request->attempts(0).has_train());
}

TEST(DesiredTest, WhatSumsUpIsToldAgainThoughSpecsOfPartsCannotBeRead) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s").Sweeps({"s-0"})}));
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("s-0", 1).Running().Exited(0)});
  shell.Ignore();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto source,
                            StoreSpecOf("s-0", shell.state()));
  source->error = absl::OkStatus();
  ORDO_ASSERT_OK_AND_ASSIGN(State state, StartedAgain(shell));
  Worker& worker = state.workers.at("w");
  Turn turn{state, kAgain};
  EmitDesired(turn, worker);
  // It does not arrive.
  source->error = absl::DataLossError("table specs, id 7");
  EmitDesired(turn, worker);
  ASSERT_EQ(turn.effects.size(), 2u);
  const auto first = std::get<SetDesired>(turn.effects[0]);
  const auto second = std::get<SetDesired>(turn.effects[1]);
  ASSERT_EQ(first.request->attempts_size(), 1);
  ASSERT_EQ(second.request->attempts_size(), 1);
  ASSERT_TRUE(first.request->attempts(0).has_summarize());
  EXPECT_EQ(second.request->attempts(0).summarize().SerializeAsString(),
            first.request->attempts(0).summarize().SerializeAsString());
  EXPECT_THAT(second.untold, IsEmpty());
}

TEST(DesiredTest, TheSpecOfWhatAllWorkersKnowDoesNotStay) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  const auto live = [&shell] { return LiveIn(shell.state().jobs.at("a")); };
  EXPECT_NE(live()->spec, nullptr);
  shell.Observe("w", {AttemptBuilder("a", 1).Running()});
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5)});
  shell.Ignore();
  EXPECT_EQ(live()->spec, nullptr);
}

TEST(DesiredTest, TheSummaryThatAllWorkersKnowDoesNotStay) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s").Sweeps({"s-0"})}));
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("s-0", 1).Running().Exited(0)});
  shell.Ignore();
  const auto live = [&shell] { return LiveIn(shell.state().jobs.at("s")); };
  ASSERT_NE(live(), nullptr);
  EXPECT_NE(live()->summary, nullptr);
  shell.Observe("w", {AttemptBuilder("s", 1).Running()});
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("s", 1).Running().Report(1, "sweep-0")});
  shell.Ignore();
  EXPECT_EQ(live()->summary, nullptr);
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

// A job whose task takes about so many bytes.
NewJob LargeJob(const std::string& name, size_t num_bytes) {
  NewJob job = JobBuilder(name);
  job.OwnSpec().add_evaluations()->set_name(std::string(num_bytes, 'x'));
  return job;
}

std::vector<std::string> Devices(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("cpu:", i));
  return names;
}

std::vector<std::string> JobsOf(const SetDesiredRequest& desired) {
  std::vector<std::string> jobs;
  for (const DesiredAttempt& attempt : desired.attempts()) {
    jobs.push_back(attempt.job());
  }
  return jobs;
}

// A worker with devices for three jobs; a set has room for one large task.
class LargeTasksTest : public ::testing::Test {
 protected:
  static constexpr size_t kLarge = base::kMaxTasksBytes / 8 * 5;

  void SetUp() override {
    ORDO_ASSERT_OK(shell_.Announce(Worker()));
    shell_.Ignore();
  }

  static agent::v1::AnnounceRequest Worker() {
    return WorkerBuilder("w").Devices(Devices(3));
  }

  // Later than those before.
  void Submit(const std::string& job, size_t num_bytes = kLarge) {
    shell_.Advance(absl::Milliseconds(1));
    ORDO_ASSERT_OK(shell_.Submit(LargeJob(job, num_bytes)));
  }

  TestShell shell_;
};

TEST(DesiredTest, ManyLargeTasksGoInAsManySetsAsTheyNeed) {
  constexpr int kJobs = 40;
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w").Devices(Devices(kJobs))));
  shell.Ignore();
  std::vector<NewJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back(LargeJob(absl::StrCat("a-", i), 1 << 20));
  }
  ORDO_ASSERT_OK(shell.Submit(jobs));
  std::set<std::string> known;
  int num_sets = 0;
  while (known.size() < size_t{kJobs} && num_sets < kJobs) {
    // The next one follows the worker's answer at once.
    ASSERT_TRUE(shell.HasDesired("w"));
    const SetDesiredRequest desired = shell.TakeDesired("w");
    ++num_sets;
    EXPECT_LT(desired.ByteSizeLong(), base::kMaxDesiredSetBytes);
    std::set<std::string> listed;
    std::vector<ObservedAttempt> observed;
    for (const DesiredAttempt& attempt : desired.attempts()) {
      EXPECT_EQ(attempt.has_train(), known.count(attempt.job()) == 0);
      listed.insert(attempt.job());
      observed.push_back(AttemptBuilder(attempt.job(), 1));
    }
    for (const std::string& job : known) EXPECT_EQ(listed.count(job), 1u);
    ASSERT_GT(listed.size(), known.size());
    known = listed;
    shell.Observe("w", observed);
  }
  EXPECT_EQ(known.size(), size_t{kJobs});
  EXPECT_LE(num_sets, 4);
  EXPECT_FALSE(shell.HasDesired("w"));
}

TEST_F(LargeTasksTest, WhatTheWorkerMayHaveStartedStaysListed) {
  Submit("b");
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("b"));
  // Its answer is lost.
  Submit("a");
  const SetDesiredRequest desired = shell_.TakeDesired("w");
  EXPECT_THAT(JobsOf(desired), ElementsAre("b"));
  EXPECT_TRUE(desired.attempts(0).has_train());
  shell_.Observe("w", {AttemptBuilder("b", 1)});
  const SetDesiredRequest next = shell_.TakeDesired("w");
  EXPECT_THAT(JobsOf(next), ElementsAre("b", "a"));
  EXPECT_FALSE(next.attempts(0).has_train());
  EXPECT_TRUE(next.attempts(1).has_train());
}

TEST_F(LargeTasksTest, AfterARestartTheSameStayListed) {
  Submit("b");
  shell_.Ignore();
  Submit("a");
  shell_.Ignore();
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.AnnounceOnly(Worker()));
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("b"));
}

TEST_F(LargeTasksTest, WhatIsToEndNeedsNoTask) {
  Submit("b");
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  shell_.Ignore();
  Submit("a");
  const SetDesiredRequest desired = shell_.TakeDesired("w");
  ASSERT_THAT(JobsOf(desired), ElementsAre("b", "a"));
  EXPECT_EQ(desired.attempts(0).action(), DesiredAttempt::KILL);
  EXPECT_EQ(desired.attempts(0).task_case(), DesiredAttempt::TASK_NOT_SET);
  EXPECT_TRUE(desired.attempts(1).has_train());
}

TEST_F(LargeTasksTest, WhatIsToEndIsToldAlsoWhenThereIsNoRoomBeforeIt) {
  Submit("b");
  shell_.Ignore();
  Submit("c");
  shell_.Ignore();
  Submit("a");
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("b"));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  const SetDesiredRequest desired = shell_.TakeDesired("w");
  ASSERT_THAT(JobsOf(desired), ElementsAre("b", "a"));
  EXPECT_TRUE(desired.attempts(0).has_train());
  EXPECT_EQ(desired.attempts(1).action(), DesiredAttempt::KILL);
  // And what it is behind waits on for its answer.
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("b", 1), AttemptBuilder("a", 1)});
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("a", "b", "c"));
}

TEST_F(LargeTasksTest, NothingToRunGoesBeforeWhatHasNoRoom) {
  Submit("b");
  shell_.Ignore();
  Submit("a");
  shell_.Ignore();
  Submit("c", 1);
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("b"));
}

TEST_F(LargeTasksTest, AnEndMakesRoomToo) {
  Submit("b");
  shell_.Ignore();
  Submit("a");
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("b", 1).Running().Exited(0)});
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("a"));
}

TEST_F(LargeTasksTest, OneThatIsLargerThanASetGoesAlone) {
  ORDO_ASSERT_OK(
      shell_.Submit({LargeJob("a", base::kMaxTasksBytes), JobBuilder("b")}));
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("a"));
  shell_.Observe("w", {AttemptBuilder("a", 1)});
  EXPECT_THAT(JobsOf(shell_.TakeDesired("w")), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace ordo::scheduler::core
