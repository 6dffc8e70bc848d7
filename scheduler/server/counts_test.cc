#include "scheduler/server/counts.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"

namespace ordo::scheduler::server {
namespace {

using core::Count;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CountsTest : public ::testing::Test {
 protected:
  base::MetricsRegistry registry_;
  SchedulerMetrics metrics_{registry_};
};

TEST_F(CountsTest, EveryCountHasItsMetric) {
  const Count counts[] = {
      {Count::What::kAttemptEnded, "HANG", 1},
      {Count::What::kDeviceSeconds, "train", 2.5},
      {Count::What::kDeviceSecondsLost, "HANG", 3.5},
      {Count::What::kStepsLost, "HANG", 7},
      {Count::What::kFirstStep, "", 0.5},
      {Count::What::kCheckpoint, "written", 1},
      {Count::What::kCheckpointStall, "", 0.25},
      {Count::What::kCheckpointWrite, "", 0.75},
      {Count::What::kReport, "refused", 1},
      {Count::What::kStaleAttempt, "", 1},
      {Count::What::kWorkerLost, "", 1},
      {Count::What::kQuarantine, "fault", 1},
  };
  for (const Count& count : counts) AddCount(count, metrics_);
  const std::string page = registry_.Text();
  for (const char* line : {
           "ended_attempts_total{reason=\"HANG\"} 1",
           "device_seconds_total{use=\"train\"} 2.5",
           "lost_device_seconds_total{reason=\"HANG\"} 3.5",
           "lost_steps_total{reason=\"HANG\"} 7",
           "submit_to_first_step_seconds_sum 0.5",
           "checkpoints_written_total{result=\"written\"} 1",
           "checkpoint_stall_seconds_sum 0.25",
           "checkpoint_write_seconds_sum 0.75",
           "reports_written_total{result=\"refused\"} 1",
           "stale_attempts_total 1",
           "lost_workers_total 1",
           "device_quarantines_total{cause=\"fault\"} 1",
       }) {
    EXPECT_THAT(page, HasSubstr(std::string("ordo_scheduler_") + line));
  }
}

TEST_F(CountsTest, AnIdleDeviceShowsNothing) {
  auto progress = std::make_shared<jobs::v1::Progress>();
  progress->set_loss(2);
  progress->set_tokens_per_second(100);
  ShowProgress({"a", "w", "cpu:0", progress}, metrics_);
  EXPECT_EQ(metrics_.loss.With({"w", "cpu:0"}).Value(), 2);
  EXPECT_EQ(metrics_.tokens_per_second.With({"w", "cpu:0"}).Value(), 100);
  metrics_.checkpoint_age.With({"w", "cpu:0"}).Set(5);
  ShowProgress({"a", "w", "cpu:0", nullptr}, metrics_);
  EXPECT_EQ(metrics_.loss.With({"w", "cpu:0"}).Value(), 0);
  EXPECT_EQ(metrics_.checkpoint_age.With({"w", "cpu:0"}).Value(), 0);
}

TEST_F(CountsTest, TotalsAreThoseOfTheView) {
  View view{core::Records(), {}};
  for (int i = 1; i <= 3; ++i) {
    auto facts = std::make_shared<core::JobFacts>();
    facts->id = "j" + std::to_string(i);
    facts->sequence = i;
    jobs::v1::JobSpec spec;
    if (i == 3) spec.set_queue("night");
    facts->spec =
        core::SpecTable().Keep(std::make_shared<const jobs::v1::JobSpec>(spec));
    auto job = std::make_shared<core::JobRecord>();
    job->facts = facts;
    job->state = i == 1 ? jobs::v1::Job::FAILED : jobs::v1::Job::QUEUED;
    view.PutJob(job);
  }
  auto worker = std::make_shared<workers::v1::Worker>();
  worker->add_devices()->mutable_quarantine();
  worker->add_devices();
  view.PutWorker("w", worker);
  ShowTotals(view, metrics_);
  EXPECT_EQ(metrics_.quarantined_devices.With({}).Value(), 1);
  EXPECT_EQ(metrics_.queue_depth.With({"default"}).Value(), 1);
  EXPECT_EQ(metrics_.queue_depth.With({"night"}).Value(), 1);
  EXPECT_EQ(metrics_.jobs.With({"FAILED"}).Value(), 1);
}

TEST_F(CountsTest, ADeletedQueueIsNotShown) {
  View view{core::Records(), {}};
  auto facts = std::make_shared<core::JobFacts>();
  facts->id = "j";
  facts->sequence = 1;
  jobs::v1::JobSpec spec;
  spec.set_queue("night");
  facts->spec =
      core::SpecTable().Keep(std::make_shared<const jobs::v1::JobSpec>(spec));
  auto job = std::make_shared<core::JobRecord>();
  job->facts = facts;
  job->state = jobs::v1::Job::QUEUED;
  view.PutJob(job);
  ShowTotals(view, metrics_);
  EXPECT_EQ(metrics_.queue_depth.With({"night"}).Value(), 1);
  auto ended = std::make_shared<core::JobRecord>(*job);
  ended->state = jobs::v1::Job::CANCELLED;
  view.PutJob(ended);
  queues::v1::Queue row;
  row.set_name("queues/night");
  row.mutable_delete_time()->set_seconds(1);
  view.PutRow(std::make_shared<const core::Row>(
      core::Row{core::Row::Kind::kQueue, "night", row.SerializeAsString()}));
  ShowTotals(view, metrics_);
  EXPECT_THAT(registry_.Text(),
              AllOf(HasSubstr("queue_depth_jobs{queue=\"default\"} 0"),
                    Not(HasSubstr("night"))));
}

}  // namespace
}  // namespace ordo::scheduler::server
