#include "scheduler/core/load.h"

#include <limits>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/spec_table.h"
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
  const auto spec = std::make_shared<const jobs::v1::JobSpec>();
  auto facts =
      std::make_shared<JobFacts>(FactsOf(*spec, SpecTable().Keep(spec)));
  facts->id = name;
  facts->sequence = sequence;
  auto record = std::make_shared<JobRecord>();
  record->facts = facts;
  record->state = state;
  return record;
}

// Its first attempt runs on cpu:0 of the worker w.
std::shared_ptr<JobRecord> MakeLive(const std::string& name, int64_t sequence) {
  const auto record = MakeRecord(name, sequence, Job::RUNNING);
  jobs::v1::Attempt attempt;
  attempt.set_number(1);
  attempt.set_worker("w");
  attempt.add_devices("cpu:0");
  record->attempts = {std::make_shared<const jobs::v1::Attempt>(attempt)};
  return record;
}

absl::Status StatusOf(const std::vector<JobPtr>& jobs) {
  return Load(TestShell::DefaultOptions(), {jobs, {}, {}}, kNow).status();
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
  EXPECT_EQ(job.incarnation.value(), "w-first");
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

TEST(LoadTest, LimitsGoOnHoweverTheWallClockIsSetMeanwhile) {
  for (const auto change : {absl::Hours(30), -absl::Hours(30)}) {
    Options options = TestShell::DefaultOptions();
    options.boot_id = "boot";
    TestShell shell(options);
    ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
    shell.Ignore();
    ORDO_ASSERT_OK(
        shell.Submit(JobBuilder("runs").RunTimeLimit(absl::Hours(1))));
    shell.Ignore();
    ORDO_ASSERT_OK(
        shell.Submit(JobBuilder("waits").QueueTimeLimit(absl::Hours(2))));
    shell.Ignore();
    const auto limits = [&shell] {
      const auto& jobs = shell.state().jobs;
      return std::make_pair(
          LiveIn(jobs.at("runs"))->limit_at.value(),
          std::get<Queued>(jobs.at("waits").place).limit_at.value());
    };
    const auto before = limits();
    EXPECT_EQ(before.first, shell.now().monotonic + absl::Hours(1));
    shell.Stall(absl::Minutes(10));
    // While it is down, twice.
    for (int i = 0; i < 2; ++i) {
      shell.JumpWallClock(change);
      shell.Restart();
      EXPECT_EQ(limits(), before);
    }
    // While it is up.
    ORDO_ASSERT_OK(shell.Submit(JobBuilder("other").Held()));
    shell.JumpWallClock(change);
    ORDO_ASSERT_OK(shell.ReleaseJob("other"));
    shell.Ignore();
    shell.Restart();
    EXPECT_EQ(limits(), before);
  }
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

TEST(LoadTest, ARecordThatNoSchedulerGoesOnWithIsDataLoss) {
  ORDO_ASSERT_OK(StatusOf({MakeLive("a", 1)}));
  const auto unknown_state = MakeRecord("a", 1, static_cast<Job::State>(99));
  unknown_state->attempts = MakeLive("a", 1)->attempts;
  const auto never_ended = MakeRecord("a", 1, Job::SUCCEEDED);
  const auto too_often = MakeRecord("a", 1, Job::QUEUED);
  too_often->failed_attempts = too_often->facts->max_attempts;
  const auto ended_attempt = MakeLive("a", 1);
  jobs::v1::Attempt attempt = ended_attempt->newest_attempt();
  attempt.mutable_end_time()->set_seconds(1);
  attempt.set_reason("FINISHED");
  ended_attempt->attempts = {
      std::make_shared<const jobs::v1::Attempt>(attempt)};
  for (const auto& record :
       {unknown_state, never_ended, too_often, ended_attempt}) {
    EXPECT_THAT(StatusOf({record}), StatusIs(absl::StatusCode::kDataLoss,
                                             HasSubstr("jobs/a does not fit")));
  }
}

// The row of the queue that MakeRecord's jobs are put in below.
Records RecordsIn(const std::string& queue, bool deleted) {
  queues::v1::Queue row;
  row.set_name("queues/night");
  if (deleted) row.mutable_delete_time()->set_seconds(1);
  const auto record = MakeRecord("a", 1, Job::QUEUED);
  auto spec = std::make_shared<jobs::v1::JobSpec>(**record->facts->spec->Get());
  spec->set_queue(queue);
  auto facts = std::make_shared<JobFacts>(*record->facts);
  facts->spec = SpecTable().Keep(spec);
  record->facts = facts;
  Records records;
  records.jobs = {record};
  records.rows = {std::make_shared<const Row>(
      Row{Row::Kind::kQueue, "night", row.SerializeAsString()})};
  return records;
}

TEST(LoadTest, JobOfADeletedQueueIsDataLoss) {
  const Options options = TestShell::DefaultOptions();
  ORDO_EXPECT_OK(Load(options, RecordsIn("night", false), kNow));
  EXPECT_THAT(Load(options, RecordsIn("night", true), kNow),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs/a")));
}

TEST(LoadTest, JobOfAQueueWithoutARowWaits) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const State state,
      Load(TestShell::DefaultOptions(), RecordsIn("noon", false), kNow));
  ORDO_EXPECT_OK(CheckInvariants(state));
  EXPECT_EQ(state.waiting.size(), 1u);
}

TEST(LoadTest, ANumberAfterWhichThereIsNoneIsDataLoss) {
  const int64_t last = std::numeric_limits<int64_t>::max();
  Records records;
  records.last_sequence = last;
  EXPECT_THAT(Load(TestShell::DefaultOptions(), records, kNow),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(StatusOf({MakeRecord("a", last, Job::QUEUED)}),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(LoadTest, TwoJobsOnADeviceAreDataLoss) {
  EXPECT_THAT(
      StatusOf({MakeLive("a", 1), MakeLive("b", 2)}),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cpu:0 of worker w")));
}

TEST(LoadTest, TwoJobsOfARequestAreDataLoss) {
  std::vector<JobPtr> records;
  for (const char* name : {"a", "b"}) {
    const auto record = MakeRecord(name, records.size() + 1, Job::QUEUED);
    auto facts = std::make_shared<JobFacts>(*record->facts);
    facts->request = RequestMark("r", "fingerprint");
    record->facts = facts;
    records.push_back(record);
  }
  EXPECT_THAT(StatusOf(records), StatusIs(absl::StatusCode::kDataLoss,
                                          HasSubstr("the request id of a")));
}

TEST(LoadTest, ACheckpointOfAnAttemptThatNeverWasIsDataLoss) {
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name("jobs/a/checkpoints/10-1");
  checkpoint->set_step(10);
  checkpoint->set_attempt(1);
  EXPECT_THAT(Load(TestShell::DefaultOptions(),
                   {{MakeRecord("a", 1, Job::QUEUED)}, {checkpoint}, {}}, kNow),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs/a")));
}

}  // namespace
}  // namespace ordo::scheduler::core
