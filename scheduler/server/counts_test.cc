#include "scheduler/server/counts.h"

#include <memory>
#include <string>
#include <vector>

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
      {Count::What::kQueueWait, "night", 1.5},
      {Count::What::kFirstStep, "", 0.5},
      {Count::What::kCheckpoint, "written", 1},
      {Count::What::kCheckpointStall, "", 0.25},
      {Count::What::kCheckpointWrite, "", 0.75},
      {Count::What::kCheckpointBytes, "", 1024},
      {Count::What::kEvaluation, "taken", 1},
      {Count::What::kVerdict, "fail", 1},
      {Count::What::kToVerdict, "gate", 8},
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
           "queue_wait_seconds_sum{queue=\"night\"} 1.5",
           "submit_to_first_step_seconds_sum 0.5",
           "checkpoints_written_total{result=\"written\"} 1",
           "checkpoint_stall_seconds_sum 0.25",
           "checkpoint_write_seconds_sum 0.75",
           "checkpoint_written_bytes_total 1024",
           "evaluations_registered_total{source=\"taken\"} 1",
           "gate_verdicts_total{verdict=\"fail\"} 1",
           "checkpoint_to_verdict_seconds_sum{kind=\"gate\"} 8",
           "reports_written_total{result=\"refused\"} 1",
           "stale_attempts_total 1",
           "lost_workers_total 1",
           "device_quarantines_total{cause=\"fault\"} 1",
       }) {
    EXPECT_THAT(page, HasSubstr(std::string("ordo_scheduler_") + line));
  }
}

TEST_F(CountsTest, OnlyDevicesThatAreKnownAreShown) {
  ShowTraining({{"v", "cpu:0"}, {"w", "cpu:0", 5, 2, 100, 0.25}}, metrics_);
  const std::vector<std::string> labels = {"w", "cpu:0"};
  EXPECT_EQ(metrics_.checkpoint_age.With(labels).Value(), 5);
  EXPECT_EQ(metrics_.loss.With(labels).Value(), 2);
  EXPECT_EQ(metrics_.tokens_per_second.With(labels).Value(), 100);
  EXPECT_EQ(metrics_.step_seconds.With(labels).Value(), 0.25);
  ShowTraining({{"w", "cpu:0"}}, metrics_);
  EXPECT_THAT(
      registry_.Text(),
      AllOf(HasSubstr("training_loss_nats{device=\"cpu:0\",worker=\"w\"} 0\n"),
            Not(HasSubstr("worker=\"v\""))));
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
    job->reason = "HELD";
    view.PutJob(job);
  }
  auto worker = std::make_shared<workers::v1::Worker>();
  worker->add_devices()->mutable_quarantine();
  worker->add_devices();
  for (auto& device : *worker->mutable_devices()) device.set_kind("cpu");
  view.PutWorker("w", worker);
  ShowTotals(view, metrics_);
  EXPECT_EQ(metrics_.quarantined_devices.With({}).Value(), 1);
  EXPECT_EQ(metrics_.devices.With({"cpu", "quarantined"}).Value(), 1);
  EXPECT_EQ(metrics_.devices.With({"cpu", "free"}).Value(), 1);
  EXPECT_EQ(metrics_.jobs.With({"FAILED"}).Value(), 1);
  EXPECT_EQ(metrics_.jobs.With({"QUEUED"}).Value(), 2);
  EXPECT_EQ(metrics_.reasons.With({"HELD"}).Value(), 2);
}

TEST_F(CountsTest, AReasonOfALaterReleaseIsNotShown) {
  View view{core::Records(), {}};
  auto facts = std::make_shared<core::JobFacts>();
  facts->id = "j";
  facts->sequence = 1;
  facts->spec = core::SpecTable().Keep(
      std::make_shared<const jobs::v1::JobSpec>(jobs::v1::JobSpec()));
  auto job = std::make_shared<core::JobRecord>();
  job->facts = facts;
  job->state = jobs::v1::Job::QUEUED;
  job->reason = "OF_A_LATER_RELEASE";
  view.PutJob(job);
  ShowTotals(view, metrics_);
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("OF_A_LATER_RELEASE")));
}

TEST_F(CountsTest, QueuesShowTheirQuotasWeightsAndUse) {
  queues::v1::Queue day;
  day.set_name("queues/day");
  day.set_queued_jobs(3);
  day.set_active_jobs(2);
  day.set_weight(2.5);
  queues::v1::Quota& quota = *day.add_quotas();
  quota.set_device("cuda");
  quota.set_guaranteed(4);
  quota.set_limit(8);
  (*day.mutable_held_devices())["cpu"] = 2;
  queues::v1::Queue night;
  night.set_name("queues/night");
  ShowQueues({day, night}, metrics_);
  EXPECT_EQ(metrics_.queue_depth.With({"day"}).Value(), 3);
  EXPECT_EQ(metrics_.queue_active.With({"day"}).Value(), 2);
  EXPECT_EQ(metrics_.queue_weight.With({"day"}).Value(), 2.5);
  EXPECT_EQ(metrics_.queue_weight.With({"night"}).Value(), 1);
  EXPECT_EQ(metrics_.queue_guaranteed.With({"day", "cuda"}).Value(), 4);
  EXPECT_EQ(metrics_.queue_limit.With({"day", "cuda"}).Value(), 8);
  EXPECT_EQ(metrics_.queue_held.With({"day", "cpu"}).Value(), 2);
  EXPECT_EQ(metrics_.queue_held.With({"day", "cuda"}).Value(), 0);
}

TEST_F(CountsTest, ADeletedQueueIsNotShown) {
  queues::v1::Queue day, night;
  day.set_name("queues/day");
  night.set_name("queues/night");
  ShowQueues({day, night}, metrics_);
  EXPECT_THAT(registry_.Text(), HasSubstr("queue=\"night\""));
  ShowQueues({day}, metrics_);
  EXPECT_THAT(registry_.Text(),
              AllOf(HasSubstr("queue_depth_jobs{queue=\"day\"} 0"),
                    Not(HasSubstr("night"))));
}

}  // namespace
}  // namespace ordo::scheduler::server
