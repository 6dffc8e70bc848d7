#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using WatchTest = testing::CliTest;

TEST_F(WatchTest, PrintsChangesAndEndsWithTheJob) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.SetJob("b", Job::FAILED,
                    [](Job* job) { job->set_message("no memory"); });
  EXPECT_EQ(Run({"watch", "a", "b"}), 1);
  EXPECT_THAT(out(), HasSubstr("a SUCCEEDED\n"));
  EXPECT_THAT(out(), HasSubstr("b FAILED  no memory\n"));
}

TEST_F(WatchTest, RedrawsOnATerminal) {
  terminal_.interactive = true;
  scheduler_.SetJob("a", Job::SUCCEEDED);
  EXPECT_EQ(Run({"watch", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("a  SUCCEEDED [####################] 100%"));
}

TEST_F(WatchTest, UnknownJobIsBadInput) {
  EXPECT_EQ(Run({"watch", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no jobs/a"));
}

}  // namespace
}  // namespace ordo::services::cli
