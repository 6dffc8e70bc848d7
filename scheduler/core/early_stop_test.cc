#include "scheduler/core/early_stop.h"

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

using agent::v1::DesiredAttempt;
using agent::v1::ObservedAttempt;
using jobs::v1::EarlyStopping;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobBuilder;
using testing::WorkerBuilder;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

EarlyStop Rule(EarlyStop::Rule rule, bool maximize = true) {
  EarlyStop stop;
  stop.rule = rule;
  stop.by = {"held", "score", maximize};
  stop.from_step = 10;
  stop.factor = 3;
  stop.min_reports = 3;
  return stop;
}
EarlyStop Median(bool maximize = true) {
  return Rule(EarlyStop::Rule::kMedian, maximize);
}
EarlyStop Halving() { return Rule(EarlyStop::Rule::kHalving); }

TEST(EarlyStopRuleTest, AMedianIsTakenFromItsFirstStepOn) {
  EXPECT_FALSE(JudgesAt(Median(), 9));
  EXPECT_TRUE(JudgesAt(Median(), 10));
  EXPECT_TRUE(JudgesAt(Median(), 20));
  EXPECT_FALSE(JudgesAt(EarlyStop(), 20));
}

TEST(EarlyStopRuleTest, HalvingIsAtPowersOfTheFactor) {
  for (const int64_t step : {10, 30, 90, 270}) {
    EXPECT_TRUE(JudgesAt(Halving(), step)) << step;
  }
  for (const int64_t step : {1, 3, 9, 20, 60, 100, 180}) {
    EXPECT_FALSE(JudgesAt(Halving(), step)) << step;
  }
}

TEST(EarlyStopRuleTest, WhatIsWorseThanTheMedianIsBehind) {
  const std::vector<double> scores = {5, 1, 4, 2, 3};
  EXPECT_THAT(WhyBehind(Median(), 3, scores), IsEmpty());
  EXPECT_THAT(WhyBehind(Median(), 5, scores), IsEmpty());
  EXPECT_EQ(WhyBehind(Median(), 2, scores),
            "is worse than the median of 5 runs there, 3");
  EXPECT_THAT(WhyBehind(Median(false), 2, scores), IsEmpty());
  EXPECT_THAT(WhyBehind(Median(false), 4, scores), HasSubstr("median"));
}

TEST(EarlyStopRuleTest, OfTwoInTheMiddleTheWorseIsTheMedian) {
  const std::vector<double> scores = {1, 2, 3, 4};
  EXPECT_THAT(WhyBehind(Median(), 2, scores), IsEmpty());
  EXPECT_THAT(WhyBehind(Median(), 1, scores), HasSubstr(", 2"));
}

TEST(EarlyStopRuleTest, HalvingKeepsOneInTheFactorRoundedUp) {
  EXPECT_THAT(WhyBehind(Halving(), 3, {1, 2, 3}), IsEmpty());
  EXPECT_EQ(WhyBehind(Halving(), 2, {1, 2, 3}),
            "is not among the best 1 of 3 runs there");
  EXPECT_THAT(WhyBehind(Halving(), 3, {1, 2, 3, 4}), IsEmpty());
  EXPECT_THAT(WhyBehind(Halving(), 2, {1, 2, 3, 4}), HasSubstr("best 2 of 4"));
}

TEST(EarlyStopRuleTest, EqualScoresStandAndFallTogether) {
  EXPECT_THAT(WhyBehind(Halving(), 3, {3, 3, 3, 3}), IsEmpty());
  EXPECT_THAT(WhyBehind(Median(), 3, {3, 3, 3, 3}), IsEmpty());
  EXPECT_THAT(WhyBehind(Halving(), 2, {2, 2, 3}), HasSubstr("best 1"));
}

TEST(EarlyStopRuleTest, OfTooFewNoneIsBehind) {
  EXPECT_THAT(WhyBehind(Median(), 1, {1, 2}), IsEmpty());
  EXPECT_THAT(WhyBehind(Halving(), 1, {1, 2}), IsEmpty());
}

TEST(EarlyStopRuleTest, WhatIsNotFiniteIsBehindAllThatIs) {
  EXPECT_THAT(WhyBehind(Median(), kNaN, {kNaN, 1, 2}), HasSubstr("median"));
  EXPECT_THAT(WhyBehind(Median(), kNaN, {kNaN, kNaN, 2}), IsEmpty());
  EXPECT_THAT(WhyBehind(Median(), 2, {kNaN, kNaN, 2}), IsEmpty());
}

// A sweep s of s-0, s-1 and s-2, of 100 steps each, all of which run.
class EarlyStopTest : public CoreTest {
 protected:
  void SetUp() override {
    rule_.set_rule("median");
    rule_.set_evaluation("held");
    rule_.set_metric("score");
    rule_.set_goal("max");
    rule_.set_from_step(10);
    rule_.set_factor(3);
    rule_.set_min_reports(3);
    ORDO_ASSERT_OK(shell_.Announce(Worker()));
    shell_.Ignore();
  }
  static WorkerBuilder Worker() {
    return WorkerBuilder("w").Devices({"cpu:0", "cpu:1", "cpu:2"});
  }
  void SubmitSweep() {
    ORDO_ASSERT_OK(shell_.Submit(
        {JobBuilder("s-0").PartOf("s"), JobBuilder("s-1").PartOf("s"),
         JobBuilder("s-2").PartOf("s"),
         JobBuilder("s").Sweeps({"s-0", "s-1", "s-2"}).StopsEarly(rule_)}));
    shell_.Ignore();
  }
  // As record `number` of the part's first attempt.
  void Report(const std::string& part, int64_t number, int64_t step,
              double score) {
    Observe(
        AttemptBuilder(part, 1).Running().Score(number, "held", step, score));
  }
  // All three at step 10: s-0 is behind.
  void ReportAll() {
    Report("s-0", 1, 10, 0.1);
    Report("s-1", 1, 10, 0.5);
    Report("s-2", 1, 10, 0.6);
  }

  EarlyStopping rule_;
};

TEST_F(EarlyStopTest, APartThatIsBehindIsEnded) {
  SubmitSweep();
  Report("s-0", 1, 10, 0.1);
  Report("s-1", 1, 10, 0.5);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::RUNNING);
  shell_.Observe(
      "w", {AttemptBuilder("s-2", 1).Running().Score(1, "held", 10, 0.6)});
  const auto desired = shell_.TakeDesired("w");
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  EXPECT_EQ(shell_.job("s-0").message(),
            "stopped early at step 10 of 100, where score of held, 0.1, is "
            "worse than the median of 3 runs there, 0.5");
  EXPECT_EQ(desired.attempts(0).job(), "s-0");
  EXPECT_EQ(desired.attempts(0).action(), DesiredAttempt::KILL);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::RUNNING);
  EXPECT_EQ(shell_.StateOf("s-2"), Job::RUNNING);

  Observe(AttemptBuilder("s-0", 1).Running().Ended(ObservedAttempt::KILLED));
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLED);
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  EXPECT_THAT(shell_.job("s-0").message(), HasSubstr("stopped early at step"));
  EXPECT_EQ(shell_.job("s-0").cancelled_by(), "");
  EXPECT_EQ(shell_.job("s-0").attempts(0).reason(), reason::kStoppedEarly);
  EXPECT_THAT(shell_.job("s-0").attempts(0).message(),
              HasSubstr("stopped early at step 10 of 100"));
  EXPECT_EQ(shell_.Counted(Count::What::kAttemptEnded, "STOPPED_EARLY"), 1);
}

TEST_F(EarlyStopTest, AReportEndsSiblingsThatHaveReportedBefore) {
  rule_.set_rule("halving");
  SubmitSweep();
  ReportAll();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::CANCELLING);
  EXPECT_EQ(shell_.StateOf("s-2"), Job::RUNNING);
}

// One that is being stopped may be the better at the next step.
TEST_F(EarlyStopTest, TheLastThatMaySucceedIsNotEnded) {
  SubmitSweep();
  ReportAll();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  Report("s-0", 2, 20, 0.9);
  Report("s-1", 2, 20, 0.5);
  Report("s-2", 2, 20, 0.6);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::CANCELLING);
  EXPECT_EQ(shell_.StateOf("s-2"), Job::RUNNING);
  Report("s-0", 3, 30, 0.9);
  Report("s-1", 3, 30, 0.8);
  Report("s-2", 3, 30, 0.1);
  EXPECT_EQ(shell_.StateOf("s-2"), Job::RUNNING);
}

TEST_F(EarlyStopTest, WithoutARuleNobodyIsEnded) {
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s-1").PartOf("s"),
       JobBuilder("s-2").PartOf("s"),
       JobBuilder("s").Sweeps({"s-0", "s-1", "s-2"})}));
  shell_.Ignore();
  ReportAll();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::RUNNING);
}

TEST_F(EarlyStopTest, APartThatIsFurtherIsNotJudgedByWhatItWas) {
  SubmitSweep();
  Report("s-0", 1, 10, 0.1);
  Report("s-0", 2, 20, 0.9);
  Report("s-1", 1, 10, 0.5);
  Report("s-2", 1, 10, 0.6);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::RUNNING);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::RUNNING);
}

TEST_F(EarlyStopTest, NobodyIsEndedAtTheLastStep) {
  SubmitSweep();
  Report("s-0", 1, 100, 0.1);
  Report("s-1", 1, 100, 0.5);
  Report("s-2", 1, 100, 0.6);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::RUNNING);
}

TEST_F(EarlyStopTest, ReportsWithoutTheScoreDoNotCountAndAreWarnedOfOnce) {
  rule_.set_metric("loss");
  SubmitSweep();
  ReportAll();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::RUNNING);
  Report("s-0", 2, 20, 0.1);
  ASSERT_EQ(shell_.job("s-0").attempts(0).warnings_size(), 1);
  EXPECT_EQ(shell_.job("s-0").attempts(0).warnings(0),
            "reports of held have no loss, by which runs are to be stopped "
            "early; they have score");
}

TEST_F(EarlyStopTest, WhatEndedStillCountsAndStaysAsItEnded) {
  SubmitSweep();
  Report("s-1", 1, 10, 0.5);
  Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  Report("s-2", 1, 10, 0.6);
  Report("s-0", 1, 10, 0.1);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  EXPECT_EQ(shell_.StateOf("s-1"), Job::SUCCEEDED);
}

TEST_F(EarlyStopTest, WhatWasReportedCountsAfterARestart) {
  SubmitSweep();
  Report("s-0", 1, 10, 0.1);
  Report("s-1", 1, 10, 0.5);
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(
      Worker()
          .Runs(AttemptBuilder("s-0", 1).Running())
          .Runs(AttemptBuilder("s-1", 1).Running())
          .Runs(AttemptBuilder("s-2", 1).Running().Score(1, "held", 10, 0.6))));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  shell_.Restart();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLING);
  ORDO_ASSERT_OK(
      shell_.Announce(Worker()
                          .Runs(AttemptBuilder("s-0", 1).Running().Ended(
                              ObservedAttempt::KILLED))
                          .Runs(AttemptBuilder("s-1", 1).Running())
                          .Runs(AttemptBuilder("s-2", 1).Running())));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLED);
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  EXPECT_THAT(shell_.job("s-0").message(), HasSubstr("stopped early at step"));
}

TEST_F(EarlyStopTest, AQueuedPartEndsAtOnce) {
  SubmitSweep();
  Report("s-0", 1, 10, 0.1);
  Observe(AttemptBuilder("s-0", 1).Running().Exited(1));
  ASSERT_EQ(shell_.StateOf("s-0"), Job::QUEUED);
  Report("s-1", 1, 10, 0.5);
  Report("s-2", 1, 10, 0.6);
  EXPECT_EQ(shell_.StateOf("s-0"), Job::CANCELLED);
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
}

TEST_F(EarlyStopTest, AStoppedPartIsAnEndThatItsParentWaitsFor) {
  SubmitSweep();
  ReportAll();
  Observe(AttemptBuilder("s-0", 1).Running().Ended(ObservedAttempt::KILLED));
  Observe(AttemptBuilder("s-1", 1).Running().Exited(0));
  EXPECT_EQ(shell_.StateOf("s"), Job::QUEUED);
  Observe(AttemptBuilder("s-2", 1).Running().Exited(0));
  EXPECT_EQ(shell_.StateOf("s"), Job::STARTING);
}

TEST_F(EarlyStopTest, AUserWhoCancelsItMeanwhileChangesNothing) {
  SubmitSweep();
  ReportAll();
  ORDO_ASSERT_OK(shell_.CancelJob("s-0", "bob"));
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  ORDO_ASSERT_OK(shell_.CancelJob("s", "bob"));
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("s-0"), reason::kStoppedEarly);
  EXPECT_EQ(shell_.ReasonOf("s-1"), reason::kCancelledByUser);
}

}  // namespace
}  // namespace ordo::scheduler::core
