#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ExplainTest = testing::CliTest;

TEST_F(ExplainTest, PrintsEveryReason) {
  scheduler_.SetJob("a", Job::QUEUED);
  jobs::v1::ExplainResponse explanation;
  explanation.set_summary("a waits");
  auto* blocker = explanation.add_blockers();
  blocker->set_reason("BACKOFF");
  blocker->set_message("the next attempt starts in 3s");
  blocker = explanation.add_blockers();
  blocker->set_reason("WAITING_FOR_DEVICE");
  blocker->set_message("cpu:0 runs b");
  explanation.set_jobs_ahead(2);
  scheduler_.SetExplanation(explanation);
  EXPECT_EQ(Run({"explain", "a"}), 0);
  EXPECT_EQ(out(),
            "a waits\n"
            "  BACKOFF  the next attempt starts in 3s\n"
            "  WAITING_FOR_DEVICE  cpu:0 runs b\n"
            "  jobs ahead in the queue: 2\n");
  EXPECT_EQ(Run({"explain", "a", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"jobs_ahead\":2"));
}

}  // namespace
}  // namespace ordo::services::cli
