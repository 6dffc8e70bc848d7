// Sweeps, comparisons and pipelines whose parts decide about each other: runs
// that end early, runs that take what trials have shown, and stages that take
// what others have left. The fake trainer scores the learning rate that it is
// given.
#include <set>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::Contains;
using ::testing::ElementsAre;
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
  AddRopeAndAlibi(&compare);
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
  AddRopeAndAlibi(&compare);
  compare.set_budget("device_seconds");
  Submit(spec);
  ASSERT_TRUE(WaitForState("c", Job::SUCCEEDED).has_value());
  const auto rope = WaitForState("c-rope-s1", Job::SUCCEEDED);
  const auto slow = WaitForState("c-alibi-s1", Job::SUCCEEDED);
  ASSERT_TRUE(rope.has_value() && slow.has_value());
  EXPECT_EQ(rope->attempts(0).end_step(), 60);
  EXPECT_EQ(slow->attempts(0).end_step(), 30);
}

TEST_F(ExperimentsTest, APipelineTrainsThenEvaluatesAndGatesWhatDidBest) {
  StartWithTwoDevices("");
  JobSpec spec;
  spec.set_kind(JobSpec::PIPELINE);
  spec.set_name("p");
  jobs::v1::Pipeline& pipeline = *spec.mutable_pipeline();
  JobSpec& train = *pipeline.add_stages();
  train = Template();
  train.set_name("train");
  train.mutable_evaluations(0)->set_every_steps(20);
  train.mutable_checkpoint()->set_keep(1);
  const auto add = [&pipeline](const char* name, JobSpec::Kind kind) {
    JobSpec* stage = pipeline.add_stages();
    stage->set_kind(kind);
    stage->set_name(name);
    training::v1::Evaluation& evaluation = *stage->add_evaluations();
    evaluation.set_task("addition_grid");
    evaluation.set_name("grid");
    return stage;
  };
  add("each", JobSpec::EVALUATE)->add_checkpoints("train/checkpoints/every");
  add("best", JobSpec::EVALUATE)->add_checkpoints("train/checkpoints/best");
  JobSpec& gate = *add("gate", JobSpec::GATE);
  gate.add_needs()->set_job("best");
  gate.mutable_gate()->set_candidate("train");
  gate.mutable_gate()->set_baseline("train/checkpoints/best");
  gate.mutable_gate()->set_margin(0.5);
  Submit(spec);
  ASSERT_TRUE(WaitForState("p", Job::SUCCEEDED).has_value());

  const auto results = [this](const std::string& job) {
    const auto names = files_.List(JobFolder(job) + "/results");
    ORDO_EXPECT_OK(names);
    return names.ok() ? std::set<std::string>(names->begin(), names->end())
                      : std::set<std::string>();
  };
  // Each was evaluated in some attempt of the job that follows.
  std::set<std::string> steps;
  for (const std::string& name : results("p-each")) {
    steps.insert(name.substr(0, name.rfind('-')));
  }
  EXPECT_THAT(steps, ElementsAre("grid-20", "grid-40", "grid-60"));
  // One of these is the best, which stays though the run keeps its newest
  // alone.
  const std::set<std::string> best = results("p-best");
  ASSERT_EQ(best.size(), 1u);
  const std::string name = *best.begin();
  EXPECT_EQ(steps.count(name.substr(0, name.rfind('-'))), 1u) << name;
  EXPECT_THAT(results("p-gate"), ElementsAre("gate-1"));
  const auto gated = WaitForState("p-gate", Job::SUCCEEDED);
  ASSERT_TRUE(gated.has_value());
  EXPECT_EQ(gated->spec().gate().candidate(), "jobs/p-train");
  EXPECT_EQ(gated->spec().gate().baseline(), "jobs/p-train/checkpoints/best");
  const auto kept = files_.List(JobFolder("p-train") + "/checkpoints");
  ORDO_ASSERT_OK(kept);
  const std::string id = name.substr(name.find('-') + 1);
  EXPECT_THAT(*kept, Contains(id));
}

}  // namespace
}  // namespace ordo::tests::e2e
