// The metrics pages of a running deployment, as a Prometheus server and its
// own linter see them.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/testing/scrape.h"
#include "base/process/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MetricsPageTest : public testing::Test {
 protected:
  void SetUp() override {
    harness::DeploymentOptions options;
    options.folder = folder_.path();
    options.worker.set_trainer(harness::Program("tests/fake/fake_trainer"));
    auto deployment = harness::Deployment::Start(options);
    ASSERT_TRUE(deployment.ok()) << deployment.status();
    deployment_ = *std::move(deployment);
    jobs::v1::JobSpec spec;
    spec.set_kind(jobs::v1::JobSpec::TRAIN);
    spec.set_name("a-job");
    spec.mutable_encoding()->set_name("rope");
    spec.mutable_data()->set_task("addition");
    spec.mutable_training()->set_steps(5);
    ASSERT_TRUE(deployment_->Create(spec).ok());
    const auto job = deployment_->WaitForEnd("a-job", absl::Seconds(30));
    ASSERT_TRUE(job.ok()) << job.status();
    ASSERT_EQ(job->state(), jobs::v1::Job::SUCCEEDED) << job->message();
  }

  // What `promtool check metrics` says of a page; empty when all is well.
  std::string Lint(const std::string& page) {
    const std::string file = folder_.Path("page.txt");
    const std::string log = folder_.Path("lint.txt");
    base::PosixFilesystem files;
    EXPECT_TRUE(base::AtomicWrite(files, file, page).ok());
    base::SpawnOptions spawn;
    spawn.argv = {"/usr/bin/promtool", "check", "metrics"};
    spawn.stdin_file = file;
    spawn.stdout_file = log;
    spawn.stderr_file = log;
    const auto child = base::Spawn(spawn);
    if (!child.ok()) return std::string(child.status().message());
    const auto status = base::WaitForExit(child->pid, absl::Seconds(30));
    const std::string text = base::ReadFile(files, log, 1 << 20).value_or("");
    return status.ok() && status->ok() ? "" : absl::StrCat("failed: ", text);
  }

  base::testing::TemporaryFolder folder_;
  std::unique_ptr<harness::Deployment> deployment_;
};

TEST_F(MetricsPageTest, PromtoolFindsNoFault) {
  const std::string scheduler =
      base::testing::ScrapeMetrics(deployment_->scheduler_metrics());
  const std::string worker =
      base::testing::ScrapeMetrics(deployment_->worker_metrics());
  ASSERT_FALSE(scheduler.empty());
  ASSERT_FALSE(worker.empty());
  EXPECT_EQ(Lint(scheduler), "");
  EXPECT_EQ(Lint(worker), "");
  EXPECT_NE(Lint("# TYPE bad counter\nbad 1\n"), "")
      << "the linter itself must be able to fail";
}

TEST_F(MetricsPageTest, SchedulerTellsQueueAttemptsAndRpcs) {
  const std::string page =
      base::testing::ScrapeMetrics(deployment_->scheduler_metrics());
  for (const char* part : {
           "ordo_scheduler_queue_depth_jobs",
           "ordo_scheduler_state_jobs",
           "ordo_scheduler_submit_to_first_step_seconds_count 1",
           "ordo_scheduler_rpc_requests_total",
           "ordo_scheduler_rpc_latency_seconds_bucket",
           "ordo_scheduler_ended_attempts_total",
           "ordo_scheduler_device_seconds_total",
           "ordo_scheduler_lost_steps_total",
           "ordo_scheduler_lost_device_seconds_total",
           "ordo_scheduler_checkpoint_age_seconds",
           "ordo_scheduler_checkpoint_write_seconds",
           "ordo_scheduler_training_loss_nats",
           "ordo_scheduler_training_step_seconds",
           "ordo_scheduler_queue_wait_seconds_count{queue=\"default\"} 1",
           "ordo_scheduler_queue_depth_jobs{queue=\"default\"} 0",
           "ordo_scheduler_ended_jobs_total{state=\"SUCCEEDED\"} 1",
           "ordo_scheduler_state_devices{kind=\"cpu\",state=\"lost\"} 0",
           "ordo_scheduler_store_size_bytes{file=\"database\"}",
           "ordo_scheduler_timer_delay_seconds_count",
           "ordo_scheduler_build_info{build=",
           "ordo_scheduler_process_open_files ",
           "ordo_scheduler_log_lines_total{level=\"info\"}",
       }) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("a-job"))) << "a job is never a label";
}

TEST_F(MetricsPageTest, WorkerTellsItsTrainersByDevice) {
  const std::string page =
      base::testing::ScrapeMetrics(deployment_->worker_metrics());
  for (const char* part : {
           "ordo_worker_training_loss_nats{device=\"cpu:0\"}",
           "ordo_worker_training_rate_tokens_per_second{device=\"cpu:0\"}",
           "ordo_worker_rpc_requests_total",
           "ordo_worker_log_bytes_dropped_total 0",
           "ordo_worker_orphans_reaped_total",
           "ordo_worker_training_step_seconds{device=\"cpu:0\"}",
           "ordo_worker_announce_latency_seconds_count",
           "ordo_worker_loop_turn_seconds_count",
           "ordo_worker_free_bytes{place=\"storage\"}",
           "ordo_worker_build_info{build=",
           "ordo_worker_process_resident_bytes ",
       }) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("a-job"))) << "a job is never a label";
}

}  // namespace
}  // namespace ordo::tests::metrics
