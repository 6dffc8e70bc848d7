#include "scheduler/core/trials.h"

#include <limits>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::WorkerBuilder;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// A comparison c of a run r, which takes what the trials t-0 and t-1 show. One
// device: they run one after the other.
class TrialsTest : public CoreTest {
 protected:
  void SetUp() override { StartWorker(); }
  void SubmitAll() {
    ORDO_ASSERT_OK(shell_.Submit(
        {JobBuilder("t-0").PartOf("c"), JobBuilder("t-1").PartOf("c"),
         JobBuilder("r").PartOf("c").TunedBy({"t-0", "t-1"}),
         JobBuilder("c").Sweeps({"t-0", "t-1", "r"})}));
    shell_.Ignore();
  }
  void EndWith(const std::string& trial, double score, int exit_code = 0) {
    Observe(AttemptBuilder(trial, 1)
                .Running()
                .Score(1, "held", 100, score)
                .Exited(exit_code));
  }
  // What the worker is told of the first attempt in its newest set.
  double RateTold() {
    const auto desired = shell_.TakeDesired("w");
    shell_.Ignore();
    return desired.attempts(0).train().training().learning_rate();
  }
};

TEST_F(TrialsTest, ARunTakesTheRateOfItsBestTrial) {
  SubmitAll();
  EndWith("t-0", 0.25);
  EXPECT_EQ(shell_.StateOf("r"), Job::QUEUED);
  shell_.Observe("w", {AttemptBuilder("t-1", 1)
                           .Running()
                           .Score(1, "held", 100, 0.5)
                           .Exited(0)});
  EXPECT_EQ(shell_.StateOf("r"), Job::STARTING);
  EXPECT_EQ(RateTold(), 2);
}

TEST_F(TrialsTest, OfEqualTrialsTheFirstIsBest) {
  SubmitAll();
  EndWith("t-0", 0.5);
  EndWith("t-1", 0.5);
  EXPECT_EQ(
      BestTrial(shell_.state(),
                shell_.state().jobs.at("r").job->facts->demand().tuned_by),
      0u);
}

TEST_F(TrialsTest, TrialsWithoutAFiniteScoreAreNotTaken) {
  SubmitAll();
  EndWith("t-0", kInfinite);
  // NON_FINITE.
  Observe(AttemptBuilder("t-1", 1).Running().Exited(12));
  EXPECT_EQ(shell_.StateOf("r"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("r"), reason::kNeedFailed);
  EXPECT_THAT(shell_.job("r").message(),
              HasSubstr("none of its trials, t-0, t-1, left a finite score of "
                        "held, which has score; see why: ordo show t-0"));
}

TEST_F(TrialsTest, OneThatFailedIsLeftOut) {
  SubmitAll();
  Observe(AttemptBuilder("t-0", 1).Running().Exited(12));
  EXPECT_EQ(shell_.StateOf("t-0"), Job::FAILED);
  EndWith("t-1", 0.1);
  EXPECT_EQ(shell_.StateOf("r"), Job::STARTING);
  EXPECT_EQ(
      BestTrial(shell_.state(),
                shell_.state().jobs.at("r").job->facts->demand().tuned_by),
      1u);
}

TEST_F(TrialsTest, ALaterAttemptTakesTheSameAlsoAfterARestart) {
  SubmitAll();
  EndWith("t-0", 0.25);
  EndWith("t-1", 0.5);
  shell_.Forget({"t-0", "t-1"});
  EXPECT_EQ(shell_.state().jobs.count("t-1"), 1u);
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
  EXPECT_EQ(RateTold(), 2);
}

TEST_F(TrialsTest, TrialsThatHaveEndedWithNothingAreRefused) {
  Submit(JobBuilder("t-0"));
  Observe(AttemptBuilder("t-0", 1).Running().Exited(0));
  EXPECT_THAT(shell_.Submit(JobBuilder("r").TunedBy({"t-0"})),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("tuned_by.trials: none of its trials, t-0")));
  shell_.Ignore();
}

TEST_F(TrialsTest, TrialsThatHaveEndedMayBeNamed) {
  Submit(JobBuilder("t-0"));
  EndWith("t-0", 0.5);
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("r").TunedBy({"t-0"})));
  EXPECT_EQ(RateTold(), 1);
}

TEST_F(TrialsTest, ATrialThatIsNotThereIsRefused) {
  EXPECT_THAT(shell_.Submit(JobBuilder("r").TunedBy({"nobody"})),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("there is no job nobody")));
  shell_.Ignore();
}

}  // namespace
}  // namespace ordo::scheduler::core
