#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using RerunTest = testing::CliTest;

class RerunJobTest : public testing::CliTest {
 protected:
  RerunJobTest() {
    scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
      job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
      job->mutable_spec()->mutable_training()->set_steps(100);
    });
  }
};

TEST_F(RerunJobTest, TakesTheSpecAndTheNextFreeName) {
  EXPECT_EQ(Run({"rerun", "a"}), 0);
  EXPECT_EQ(out(), "a-2\n");
  EXPECT_EQ(Run({"rerun", "a"}), 0);
  EXPECT_EQ(out(), "a-3\n");
  EXPECT_EQ(scheduler_.GetJob("a-3").spec().training().steps(), 100);
}

TEST_F(RerunJobTest, FieldsAndNameCanBeSet) {
  EXPECT_EQ(Run({"rerun", "a", "--set", "training.steps=5", "--set", "name=b"}),
            0);
  EXPECT_EQ(out(), "b\n");
  EXPECT_EQ(scheduler_.GetJob("b").spec().training().steps(), 5);
  EXPECT_EQ(Run({"rerun", "a", "--set", "name=b"}), 2);
  EXPECT_THAT(err(), HasSubstr("jobs/b"));
}

TEST_F(RerunTest, AHoldIsNotTakenOver) {
  scheduler_.SetJob("a", Job::SUCCEEDED,
                    [](Job* job) { job->mutable_spec()->set_hold(true); });
  EXPECT_EQ(Run({"rerun", "a"}), 0) << err();
  EXPECT_EQ(err(), "");
  EXPECT_FALSE(scheduler_.GetJob("a-2").spec().hold());
  EXPECT_EQ(Run({"rerun", "a", "--set", "hold=true"}), 0) << err();
  EXPECT_EQ(err(), "ordo: a-3 is on hold; to let it start: ordo release a-3\n");
}

TEST_F(RerunTest, UnknownJobIsBadInput) {
  EXPECT_EQ(Run({"rerun", "b"}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no jobs/b"));
}

}  // namespace
}  // namespace ordo::services::cli
