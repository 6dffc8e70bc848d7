// What was evaluated is not evaluated again, also when the scheduler dies, and
// the checkpoints of a run are evaluated as they come: real processes and the
// real trainer.
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
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
using ::testing::Not;

constexpr size_t kMiB = 1 << 20;

class ResultsTest : public Scenario {
 protected:
  // With room for two jobs.
  void StartWith(harness::DeploymentOptions options) {
    options.worker.add_devices("cpu:0");
    options.worker.add_devices("cpu:1");
    Start(options);
  }

  static void AddGrid(JobSpec* spec) {
    auto* evaluation = spec->add_evaluations();
    evaluation->set_task("addition_grid");
    (*evaluation->mutable_params())["max_digits"].set_number_value(2);
    (*evaluation->mutable_params())["samples"].set_number_value(2);
  }

  static JobSpec Evaluation(const std::string& name,
                            const std::string& checkpoint) {
    JobSpec spec;
    spec.set_kind(JobSpec::EVALUATE);
    spec.set_name(name);
    spec.add_checkpoints(checkpoint);
    AddGrid(&spec);
    spec.mutable_resources()->set_threads(1);
    return spec;
  }

  void SubmitAndWait(const JobSpec& spec) {
    Submit(spec);
    ASSERT_TRUE(WaitForState(spec.name(), Job::SUCCEEDED).has_value());
  }

  // A file of the report that the first attempt of a job made of step 20.
  std::string File(const std::string& job, const std::string& name) {
    const auto text = base::ReadFile(
        files_,
        absl::StrCat(JobFolder(job), "/results/addition_grid-20-1/", name),
        kMiB);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
};

TEST_F(ResultsTest, OneEvaluatesAndTheOtherTakesItsResultWhateverDies) {
  StartWith(RealOptions("results/addition_grid-20-1"));
  SubmitAndWait(Spec("trained"));
  const std::string checkpoint = "jobs/trained/checkpoints/20-1";
  Submit(Evaluation("job", checkpoint));
  WaitUntilHeld();
  Submit(Evaluation("second", checkpoint));
  const auto waits = [](const Job& job) {
    return job.reason() == "WAITING_FOR_RESULT";
  };
  ASSERT_TRUE(WaitUntil("second", waits).has_value());
  KillScheduler();
  ASSERT_TRUE(WaitUntil("second", waits).has_value());
  Go();
  ASSERT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  ASSERT_TRUE(WaitForState("second", Job::SUCCEEDED).has_value());
  const std::string source = R"("taken_from": "jobs/job/reports/)";
  EXPECT_THAT(File("job", "result.json"), Not(HasSubstr("taken_from")));
  EXPECT_THAT(File("second", "result.json"),
              HasSubstr(source + "addition_grid-20\""));
  EXPECT_EQ(File("second", "items.jsonl"), File("job", "items.jsonl"));

  JobSpec again = Evaluation("again", checkpoint);
  again.set_again(true);
  SubmitAndWait(again);
  EXPECT_THAT(File("again", "result.json"), Not(HasSubstr("taken_from")));

  // What it found is taken from then on, as long as it is what it was.
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, JobFolder("again") + "/results/addition_grid-20-1/items.jsonl",
      ""));
  Submit(Evaluation("after-damage", checkpoint));
  const auto last = WaitForState("after-damage", Job::SUCCEEDED);
  ASSERT_TRUE(last.has_value());
  EXPECT_THAT(File("after-damage", "result.json"),
              Not(HasSubstr("taken_from")));
  EXPECT_THAT(last->attempts(0).warnings(),
              Contains(HasSubstr("jobs/again/reports/addition_grid-20")));
}

TEST_F(ResultsTest, EveryCheckpointOfARunIsEvaluatedAsItComes) {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  StartWith(options);
  JobSpec run = Spec("run");
  run.mutable_checkpoint()->set_keep(1);
  AddGrid(&run);
  run.mutable_evaluations(0)->set_every_steps(20);
  Submit(run);
  Submit(Evaluation("each", "jobs/run/checkpoints/every"));
  ASSERT_TRUE(WaitForState("run", Job::SUCCEEDED).has_value());
  ASSERT_TRUE(WaitForState("each", Job::SUCCEEDED).has_value());
  std::set<std::string> steps;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto names,
                            files_.List(JobFolder("each") + "/results"));
  for (const char* step : {"20", "40", "60"}) {
    for (const std::string& name : names) {
      if (absl::StartsWith(name, absl::StrCat("addition_grid-", step, "-"))) {
        steps.insert(step);
      }
    }
  }
  EXPECT_THAT(steps, ElementsAre("20", "40", "60"));
  // The run keeps its newest and its best, once the others are evaluated.
  SubmitAndWait(Evaluation("best", "jobs/run/checkpoints/best"));
  const auto best = deployment_->Get("best");
  ORDO_ASSERT_OK(best);
  ASSERT_EQ(best->spec().checkpoints_size(), 1);
  const std::string& name = best->spec().checkpoints(0);
  const std::string id = name.substr(name.rfind('/') + 1);
  // The run has evaluated it itself, or the job that follows it did.
  const std::string step = id.substr(0, id.find('-'));
  const auto result = base::ReadFile(
      files_,
      JobFolder("best") + "/results/addition_grid-" + step + "-1/result.json",
      kMiB);
  ORDO_ASSERT_OK(result);
  EXPECT_THAT(*result, HasSubstr("\"taken_from\": \"jobs/"));
}

}  // namespace
}  // namespace ordo::tests::e2e
