#include <utility>

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

TEST_F(WatchTest, AParentCountsItsParts) {
  scheduler_.SetJob("c", Job::FAILED, [](Job* job) {
    job->add_parts("jobs/c-0");
    job->add_parts("jobs/c-1");
    job->set_message("1 of 2 parts did not succeed");
  });
  for (const auto& [id, state] :
       {std::pair("c-0", Job::SUCCEEDED), std::pair("c-1", Job::FAILED)}) {
    scheduler_.SetJob(id, state, [](Job* job) { job->set_parent("jobs/c"); });
  }
  EXPECT_EQ(Run({"watch", "c"}), 1);
  EXPECT_THAT(out(), HasSubstr("c FAILED  2 parts: 1 SUCCEEDED, 1 FAILED  1 of "
                               "2 parts did not succeed\n"));
  terminal_.interactive = true;
  EXPECT_EQ(Run({"watch", "c"}), 1);
  EXPECT_THAT(out(), HasSubstr("c  FAILED    ["));
  EXPECT_THAT(out(), HasSubstr("2 parts: 1 SUCCEEDED, 1 FAILED"));
}

TEST_F(WatchTest, PartsThatCannotBeListedKeepNobodyFromTheEnd) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-0"); });
  client_.retry_for = absl::ZeroDuration();
  scheduler_.LoseAnswers(1);
  EXPECT_EQ(Run({"watch", "c"}), 0);
  EXPECT_THAT(out(), HasSubstr("c SUCCEEDED\n"));
}

TEST_F(WatchTest, UnknownJobIsBadInput) {
  EXPECT_EQ(Run({"watch", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no jobs/a"));
}

}  // namespace
}  // namespace ordo::services::cli
