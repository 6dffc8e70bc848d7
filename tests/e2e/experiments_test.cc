// Sweeps and comparisons whose parts decide about each other: runs that end
// early, and runs that take what trials have shown. The fake trainer scores the
// learning rate that it is given.
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::HasSubstr;

class ExperimentsTest : public Scenario {
 protected:
  // One worker with two devices.
  void StartWithTwoDevices(const std::string& fake) {
    harness::DeploymentOptions options = Options(fake);
    for (const char* device : {"cpu:0", "cpu:1"}) {
      options.worker.add_devices(device);
    }
    Start(options);
    WaitForDevices(2);
  }

  // What the runs have in common: 60 steps, an evaluation called `held`.
  static JobSpec Template() {
    JobSpec run = Spec("");
    training::v1::Evaluation& evaluation = *run.add_evaluations();
    evaluation.set_task("addition_grid");
    evaluation.set_name("held");
    (*evaluation.mutable_params())["max_digits"].set_number_value(2);
    (*evaluation.mutable_params())["samples"].set_number_value(2);
    return run;
  }
};

TEST_F(ExperimentsTest, ARunThatIsBehindEndsEarlyAlsoAfterARestart) {
  // The first waits between its first two reports, the last before its first.
  StartWithTwoDevices("s-0:hold_at=25;s-2:hold_at=10");
  JobSpec spec;
  spec.set_kind(JobSpec::SWEEP);
  spec.set_name("s");
  jobs::v1::Sweep& sweep = *spec.mutable_sweep();
  *sweep.mutable_run() = Template();
  sweep.mutable_run()->mutable_evaluations(0)->set_every_steps(20);
  auto& rates = (*sweep.mutable_matrix())["training.learning_rate"];
  for (const double rate : {0.001, 0.01, 0.03}) {
    rates.add_values()->set_number_value(rate);
  }
  jobs::v1::EarlyStopping& rule = *sweep.mutable_early_stopping();
  rule.set_rule("median");
  rule.set_evaluation("held");
  rule.set_metric("diagonal_mean");
  rule.set_goal("max");
  Submit(spec);
  ASSERT_TRUE(WaitForState("s-1", Job::SUCCEEDED).has_value());
  ASSERT_TRUE(WaitUntil(
      "s-0", [](const Job& job) { return job.progress().step() == 24; }));
  KillScheduler();
  Release("s-2");
  const auto stopped = WaitForState("s-0", Job::CANCELLED);
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->reason(), "STOPPED_EARLY");
  EXPECT_THAT(stopped->message(),
              HasSubstr("stopped early at step 20 of 60, where diagonal_mean "
                        "of held, 0.001, is worse than the median of 3 runs "
                        "there, 0.01"));
  EXPECT_EQ(stopped->attempts(0).reason(), "STOPPED_EARLY");
  EXPECT_TRUE(WaitForState("s-2", Job::SUCCEEDED).has_value());
  EXPECT_TRUE(WaitForState("s", Job::SUCCEEDED).has_value());
}

TEST_F(ExperimentsTest, RunsOfAnArmTakeTheRateOfItsBestTrial) {
  StartWithTwoDevices("");
  JobSpec spec;
  spec.set_kind(JobSpec::COMPARE);
  spec.set_name("c");
  jobs::v1::Compare& compare = *spec.mutable_compare();
  *compare.mutable_run() = Template();
  compare.add_arms()->set_name("rope");
  jobs::v1::Compare::Arm& alibi = *compare.add_arms();
  alibi.set_name("alibi");
  (*(*alibi.mutable_set())["encoding"]
        .mutable_struct_value()
        ->mutable_fields())["name"]
      .set_string_value("alibi");
  compare.add_seeds(1);
  jobs::v1::Tune& tune = *compare.mutable_tune();
  for (const double rate : {0.01, 0.03, 0.02}) tune.add_learning_rate(rate);
  *tune.mutable_evaluation() = compare.run().evaluations(0);
  tune.mutable_evaluation()->set_name("tuning");
  tune.mutable_evaluation()->set_seed(7);
  tune.set_metric("diagonal_mean");
  tune.set_goal("max");
  Submit(spec);
  ASSERT_TRUE(WaitForState("c", Job::SUCCEEDED).has_value());
  for (const char* run : {"c-rope-s1", "c-alibi-s1"}) {
    const auto job = WaitForState(run, Job::SUCCEEDED);
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(job->attempts(0).control().learning_rate(), 0.03);
    EXPECT_EQ(job->spec().tuned_by().trials_size(), 3);
  }
}

TEST_F(ExperimentsTest, ArmsOfAsManyDeviceSecondsHaveStepsByTheirPace) {
  StartWithTwoDevices("c-alibi-pace:step_ms=4;*:step_ms=2");
  JobSpec spec;
  spec.set_kind(JobSpec::COMPARE);
  spec.set_name("c");
  jobs::v1::Compare& compare = *spec.mutable_compare();
  *compare.mutable_run() = Template();
  compare.add_arms()->set_name("rope");
  jobs::v1::Compare::Arm& alibi = *compare.add_arms();
  alibi.set_name("alibi");
  (*(*alibi.mutable_set())["encoding"]
        .mutable_struct_value()
        ->mutable_fields())["name"]
      .set_string_value("alibi");
  compare.add_seeds(1);
  compare.set_budget("device_seconds");
  Submit(spec);
  ASSERT_TRUE(WaitForState("c", Job::SUCCEEDED).has_value());
  const auto rope = WaitForState("c-rope-s1", Job::SUCCEEDED);
  const auto slow = WaitForState("c-alibi-s1", Job::SUCCEEDED);
  ASSERT_TRUE(rope.has_value() && slow.has_value());
  EXPECT_EQ(rope->attempts(0).end_step(), 60);
  EXPECT_EQ(slow->attempts(0).end_step(), 30);
}

}  // namespace
}  // namespace ordo::tests::e2e
