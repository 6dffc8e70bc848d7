#include "base/metrics/process_metrics.h"

#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(ProcessMetricsTest, EachPageTellsOfThisProcess) {
  MetricsRegistry registry;
  AddProcessMetrics("test", registry);
  const std::string page = registry.Text();
  EXPECT_THAT(page, ContainsRegex("ordo_test_build_info[{]build=\"[0-9a-f]+\","
                                  "protocol=\"[0-9]+\"[}] 1\n"));
  for (const char* name :
       {"process_resident_bytes", "process_threads", "process_open_files",
        "process_open_files_limit", "process_start_timestamp_seconds",
        "process_clock_timestamp_seconds"}) {
    EXPECT_THAT(page,
                ContainsRegex(std::string("\nordo_test_") + name + " [1-9]"));
  }
  EXPECT_THAT(page, HasSubstr("\nordo_test_process_cpu_seconds_total "));
  EXPECT_THAT(page, HasSubstr("\nordo_test_log_lines_held_back_total "));
}

TEST(ProcessMetricsTest, EachPageCountsWhatWasLoggedSince) {
  MetricsRegistry registry;
  AddProcessMetrics("test", registry);
  const auto errors = [] { return NumLogLines(LogLevel::kError); };
  const int64_t before = errors();
  LogError("a test logs", {});
  EXPECT_EQ(errors(), before + 1);
  EXPECT_THAT(registry.Text(),
              HasSubstr("ordo_test_log_lines_total{level=\"error\"} " +
                        std::to_string(before + 1) + "\n"));
}

}  // namespace
}  // namespace ordo::base
