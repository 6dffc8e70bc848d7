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
            "  place in the queue: 3, if it were free now\n");
  EXPECT_EQ(Run({"explain", "a", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"jobs_ahead\":2"));
}

TEST_F(ExplainTest, SaysWhenAWaitingJobIsExpectedToStart) {
  scheduler_.SetJob("a", Job::QUEUED);
  jobs::v1::ExplainResponse explanation;
  explanation.set_summary("a waits");
  explanation.add_blockers()->set_reason("WAITING_FOR_DEVICE");
  explanation.set_jobs_ahead(0);
  explanation.mutable_estimated_start_time()->set_seconds(1'700'000'000);
  scheduler_.SetExplanation(explanation);
  EXPECT_EQ(Run({"explain", "a"}), 0);
  EXPECT_EQ(out(),
            "a waits\n"
            "  place in the queue: 1\n"
            "  starts about " +
                absl::FormatTime("%Y-%m-%d %H:%M:%S %Z",
                                 absl::FromUnixSeconds(1'700'000'000),
                                 absl::LocalTimeZone()) +
                ", at a guess, if nothing fails\n");
}

TEST_F(ExplainTest, JobOnHoldHasAPlaceIfItWereFree) {
  scheduler_.SetJob("a", Job::QUEUED);
  jobs::v1::ExplainResponse explanation;
  explanation.set_summary("a is on hold");
  explanation.add_blockers()->set_reason("HELD");
  explanation.set_jobs_ahead(4);
  scheduler_.SetExplanation(explanation);
  EXPECT_EQ(Run({"explain", "a"}), 0);
  EXPECT_EQ(out(),
            "a is on hold\n"
            "  place in the queue: 5, if it were free now\n");
}

TEST_F(ExplainTest, JobWithoutAPlaceIsGivenNone) {
  scheduler_.SetJob("a", Job::QUEUED);
  jobs::v1::ExplainResponse explanation;
  explanation.set_summary("a is about to start");
  explanation.add_blockers()->set_reason("WAITING_FOR_DEVICE");
  scheduler_.SetExplanation(explanation);
  EXPECT_EQ(Run({"explain", "a"}), 0);
  EXPECT_EQ(out(), "a is about to start\n");
}

}  // namespace
}  // namespace ordo::services::cli
