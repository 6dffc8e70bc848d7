#include "scheduler/core/needs.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;

TEST(NeedsTest, ANeedIsThereOrCreatedByTheSameCall) {
  TestShell shell;
  EXPECT_THAT(shell.Submit(JobBuilder("a").Needs("b")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("needs[0].job: there is no job b")));
  // The one that is needed may come later in the call.
  EXPECT_THAT(shell.Submit({JobBuilder("a").Needs("b"), JobBuilder("b")}),
              IsOk());
  EXPECT_THAT(shell.Submit(JobBuilder("c").Needs("a").Needs("b")), IsOk());
}

TEST(NeedsTest, ACircleIsNamedAndCreatesNothing) {
  TestShell shell;
  EXPECT_THAT(
      shell.Submit({JobBuilder("x").Needs("a"), JobBuilder("a").Needs("b"),
                    JobBuilder("b").Needs("c"), JobBuilder("c").Needs("a")}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("in a circle: a, b, c;")));
  EXPECT_THAT(shell.Submit(JobBuilder("s").Needs("s")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("in a circle: s")));
  EXPECT_TRUE(shell.state().jobs.empty());
}

TEST(NeedsTest, APartThatNeedsItsParentIsACircle) {
  TestShell shell;
  EXPECT_THAT(shell.Submit({JobBuilder("s-0").PartOf("s").Needs("s"),
                            JobBuilder("s").Sweeps({"s-0"})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("in a circle: s, s-0")));
}

TEST(NeedsTest, LongChainsAreNoCircle) {
  TestShell shell;
  std::vector<NewJob> jobs;
  for (int i = 0; i < 1000; ++i) {
    JobBuilder job("job-" + std::to_string(i));
    if (i < 999) job.Needs("job-" + std::to_string(i + 1));
    if (i < 998) job.Needs("job-" + std::to_string(i + 2));
    jobs.push_back(job);
  }
  EXPECT_THAT(shell.Submit(jobs), IsOk());
}

TEST(NeedsTest, AJobThatHasFailedAlreadyCannotSucceed) {
  TestShell shell;
  EXPECT_THAT(shell.Submit(JobBuilder("a")), IsOk());
  EXPECT_THAT(shell.CancelJob("a"), IsOk());
  EXPECT_THAT(shell.Submit(JobBuilder("b").Needs("a")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("ended already, as CANCELLED")));
  EXPECT_THAT(shell.Submit(JobBuilder("b").NeedsEnded("a")), IsOk());
}

TEST(NeedsTest, AJobThatHasLeftTheStoreIsKnownByHowItEnded) {
  TestShell shell;
  const std::vector<RetiredJob> retired = {
      {"good", "", jobs::v1::Job::SUCCEEDED},
      {"bad", "", jobs::v1::Job::FAILED}};
  EXPECT_THAT(shell.Submit({JobBuilder("a").Needs("good")}, retired), IsOk());
  EXPECT_EQ(shell.ReasonOf("a"), reason::kWaitingForDevice);
  EXPECT_THAT(shell.Submit({JobBuilder("b").NeedsEnded("bad")}, retired),
              IsOk());
  EXPECT_THAT(shell.Submit({JobBuilder("c").Needs("bad")}, retired),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("ended already, as FAILED")));
}

TEST(NeedsTest, ANeedThatIsNoJobIsRefused) {
  TestShell shell;
  NewJob job = JobBuilder("a");
  job.OwnSpec().add_needs()->set_job("b");
  EXPECT_THAT(shell.Submit(job), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("is not jobs/JOB")));
}

}  // namespace
}  // namespace ordo::scheduler::core
