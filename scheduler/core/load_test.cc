#include "scheduler/core/load.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

const Moment kNow{absl::FromUnixSeconds(1'700'000'000), absl::Seconds(1)};

std::shared_ptr<JobRecord> MakeRecord(const std::string& name, int64_t sequence,
                                      Job::State state) {
  auto facts = std::make_shared<JobFacts>();
  facts->id = name;
  facts->sequence = sequence;
  facts->spec = std::make_shared<const jobs::v1::JobSpec>();
  auto record = std::make_shared<JobRecord>();
  record->facts = facts;
  record->state = state;
  return record;
}

TEST(LoadTest, WhatARestartLoadsIsWhatWasRecorded) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  for (const char* name : {"a", "b", "c"}) {
    ORDO_ASSERT_OK(shell.Submit(JobBuilder(name)));
    shell.Ignore();
  }
  ORDO_ASSERT_OK(shell.CancelJob("c"));
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Checkpoint(1, 5).Report(
                         2, "grid-5")});
  shell.Ignore();
  const State before = shell.state();
  shell.Restart();
  EXPECT_EQ(shell.state().jobs.size(), before.jobs.size());
  EXPECT_EQ(shell.state().next_sequence, before.next_sequence);
  EXPECT_EQ(shell.state().waiting.size(), before.waiting.size());
  EXPECT_EQ(shell.state().running.size(), 1u);
  EXPECT_EQ(shell.StateOf("a"), Job::RUNNING);
  const JobRecord& job = *shell.state().jobs.at("a").job;
  EXPECT_EQ(job.incarnation, "w-first");
  EXPECT_EQ(job.acknowledged_records, 2);
}

TEST(LoadTest, ABackoffGoesOnAfterARestart) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("a", 1).Exited(1)});
  shell.Ignore();
  shell.Restart();
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w").Sequence(9)));
  shell.Ignore();
  EXPECT_EQ(shell.StateOf("a"), Job::QUEUED);
  shell.Advance(absl::Seconds(1));
  EXPECT_EQ(shell.StateOf("a"), Job::STARTING);
  shell.Ignore();
}

TEST(LoadTest, AWallClockThatWentBackDoesNotStretchABackoff) {
  const auto record = MakeRecord("a", 1, Job::QUEUED);
  record->not_before_ns = absl::ToUnixNanos(kNow.wall + absl::Hours(1000));
  ORDO_ASSERT_OK_AND_ASSIGN(const State state, Load(TestShell::DefaultOptions(),
                                                    {{record}, {}, {}}, kNow));
  EXPECT_EQ(state.deadlines.begin()->at, kNow.monotonic + absl::Seconds(60));
}

TEST(LoadTest, RecordsThatDoNotFitTogetherAreDataLoss) {
  const Options options = TestShell::DefaultOptions();
  const JobPtr a = MakeRecord("a", 1, Job::QUEUED);
  EXPECT_THAT(
      Load(options, {{a, MakeRecord("a", 2, Job::QUEUED)}, {}, {}}, kNow),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs/a")));
  EXPECT_THAT(
      Load(options, {{a, MakeRecord("b", 1, Job::QUEUED)}, {}, {}}, kNow),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("order")));
  EXPECT_THAT(
      Load(options, {{MakeRecord("a", 1, Job::RUNNING)}, {}, {}}, kNow),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("without an attempt")));
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name("jobs/x/checkpoints/1-1");
  EXPECT_THAT(Load(options, {{a}, {checkpoint}, {}}, kNow),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs/x")));
  auto report = std::make_shared<reports::v1::Report>();
  report->set_name("jobs/x/reports/r");
  EXPECT_THAT(Load(options, {{a}, {}, {report}}, kNow),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs/x")));
}

}  // namespace
}  // namespace ordo::scheduler::core
