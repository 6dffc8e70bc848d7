#include "scheduler/metrics.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SchedulerMetricsTest, PromtoolAcceptsThePage) {
  base::MetricsRegistry registry;
  SchedulerMetrics metrics(registry);
  metrics.checkpoint_age.With({"w", "cpu:0"}).Set(3);
  metrics.loss.With({"w", "cpu:0"}).Set(1);
  metrics.tokens_per_second.With({"w", "cpu:0"}).Set(2);
  base::PosixFilesystem files;
  base::testing::TemporaryFolder folder;
  ORDO_ASSERT_OK(
      base::AtomicWrite(files, folder.Path("page"), registry.Text()));
  base::SpawnOptions options;
  options.argv = {"/usr/bin/promtool", "check", "metrics"};
  options.stdin_file = folder.Path("page");
  options.stdout_file = folder.Path("said");
  options.stderr_file = folder.Path("said");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto process, base::Spawn(options));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exit,
                            base::WaitForExit(process.pid, absl::Seconds(30)));
  EXPECT_TRUE(exit.ok()) << exit.ToString() << ": "
                         << *base::ReadFile(files, folder.Path("said"),
                                            1 << 20);
}

TEST(SchedulerMetricsTest, ClosedSetsAreThereFromTheStart) {
  base::MetricsRegistry registry;
  SchedulerMetrics metrics(registry);
  const std::string page = registry.Text();
  EXPECT_THAT(
      page, HasSubstr("ordo_scheduler_ended_attempts_total{reason=\"HANG\"}"));
  EXPECT_THAT(page, HasSubstr("ordo_scheduler_state_jobs{state=\"QUEUED\"}"));
  EXPECT_THAT(page, Not(HasSubstr("job=\"")));
}

}  // namespace
}  // namespace ordo::scheduler
