#include "tools/metrics_page/page.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tools::metrics_page {
namespace {

using ::testing::HasSubstr;

TEST(MetricsPageTest, TheCommittedPageIsTheProgramsOwn) {
  std::ifstream file("docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), MetricsPage()) << "run: bazel run //tools/metrics_page";
}

TEST(MetricsPageTest, HasALineOfEachPartWithTypeLabelsAndMeaning) {
  const std::string page = MetricsPage();
  EXPECT_THAT(page, HasSubstr("\n| `ordo_scheduler_state_workers` | gauge | "
                              "`state`: ONLINE, DRAINING, LOST | Workers in "
                              "each state. |\n"));
  EXPECT_THAT(page, HasSubstr("\n| `ordo_scheduler_ended_attempts_total` | "
                              "counter | `reason` | "));
  EXPECT_THAT(page, HasSubstr("\n| `ordo_worker_rpc_latency_seconds` | "
                              "histogram | `method` | "));
  EXPECT_THAT(page, HasSubstr("\n| `ordo_worker_process_open_files` | gauge |"
                              "  | "));
}

}  // namespace
}  // namespace ordo::tools::metrics_page
