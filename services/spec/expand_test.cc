#include "services/spec/expand.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Violations = std::vector<base::FieldViolation>;

constexpr char kRun[] =
    "run: {encoding: {name: rope}, data: {task: addition},"
    " training: {steps: 10}, evaluations: [{task: addition_grid}]}";

JobSpec Read(const std::string& yaml) {
  JobSpec spec;
  ORDO_EXPECT_OK(base::ReadMessage(yaml, base::TextForm::kYaml, &spec));
  return spec;
}

JobSpec Compare(const std::string& rest) {
  return Read(std::string("kind: compare\nname: c\ncompare:\n  ") + kRun +
              "\n" + rest);
}

JobSpec Sweep(const std::string& rest) {
  return Read(std::string("kind: sweep\nname: s\nsweep:\n  ") + kRun + "\n" +
              rest);
}

JobSpec Pipeline(const std::string& stages) {
  return Read("kind: pipeline\nname: p\npipeline: {stages: [" + stages + "]}");
}

constexpr char kTrainStage[] =
    "{kind: train, name: first, encoding: {name: rope}, data: {task: "
    "addition}, training: {steps: 10}}";

constexpr char kTwoArms[] =
    "  arms: [{name: rope}, {name: tape, set: {encoding: {name: tape}}}]\n";

std::vector<std::string> NamesOf(const absl::StatusOr<Expansion>& expansion) {
  ORDO_EXPECT_OK(expansion);
  std::vector<std::string> names;
  if (!expansion.ok()) return names;
  for (const Part& part : expansion->parts) names.push_back(part.spec.name());
  return names;
}

// "field: description" of all that is wrong.
std::vector<std::string> Wrong(const JobSpec& spec) {
  std::vector<std::string> wrong;
  for (const auto& one : base::FieldViolations(Expand(spec).status())) {
    wrong.push_back(one.field + ": " + one.description);
  }
  return wrong;
}

// The only thing that is wrong; else all of it, which no expectation matches.
std::string OnlyWrong(const JobSpec& spec) {
  const std::vector<std::string> wrong = Wrong(spec);
  if (wrong.size() == 1) return wrong[0];
  std::string all = "[" + std::to_string(wrong.size()) + "] ";
  for (const std::string& one : wrong) all = all + "\n" + one;
  return all;
}

TEST(ExpandTest, ComparisonHasEachArmForEachSeed) {
  const auto made = Expand(Compare(std::string(kTwoArms) + "  seeds: [5, 7]"));
  EXPECT_THAT(NamesOf(made),
              ElementsAre("c-rope-s5", "c-tape-s5", "c-rope-s7", "c-tape-s7"));
  const Part& part = made->parts[3];
  EXPECT_EQ(part.label, "tape");
  EXPECT_EQ(part.spec.encoding().name(), "tape");
  EXPECT_EQ(part.spec.training().seed(), 7u);
  EXPECT_EQ(part.spec.data().seed(), 7u);
  EXPECT_EQ(part.spec.kind(), JobSpec::TRAIN);
  EXPECT_EQ(part.spec.training().batch_size(), 64);
}

TEST(ExpandTest, ComparisonGetsItsDefaults) {
  const auto made = Expand(Compare(kTwoArms));
  ORDO_ASSERT_OK(made);
  const auto& compare = made->spec.compare();
  EXPECT_THAT(compare.seeds(), ElementsAre(1, 2, 3));
  EXPECT_THAT(compare.differs(), ElementsAre("encoding"));
  EXPECT_EQ(compare.baseline(), "rope");
  EXPECT_EQ(compare.confidence(), 0.95);
  EXPECT_FALSE(compare.has_max_parallel());
  // The template stays: what is filled in depends on the arm.
  EXPECT_FALSE(compare.run().training().has_batch_size());
}

TEST(ExpandTest, SweepHasEachCombinationTheLastPathFastest) {
  const auto made =
      Expand(Sweep("  matrix: {training.learning_rate: {values: [1e-3, 1e-2]},"
                   " training.batch_size: {values: [8, 16]}}"));
  EXPECT_THAT(NamesOf(made), ElementsAre("s-0", "s-1", "s-2", "s-3"));
  EXPECT_EQ(made->parts[1].spec.training().batch_size(), 8);
  EXPECT_EQ(made->parts[1].spec.training().learning_rate(), 1e-2);
  EXPECT_EQ(made->parts[2].spec.training().batch_size(), 16);
  EXPECT_EQ(made->parts[1].label,
            "training.batch_size=8, training.learning_rate=0.01");
}

TEST(ExpandTest, RunsAndSeedsOfASweepAreCombined) {
  const auto made =
      Expand(Sweep("  runs: [{set: {encoding: {name: alibi}}}, {}]\n"
                   "  seeds: [4, 9]"));
  EXPECT_THAT(NamesOf(made), ElementsAre("s-0", "s-1", "s-2", "s-3"));
  EXPECT_EQ(made->parts[1].spec.encoding().name(), "alibi");
  EXPECT_EQ(made->parts[1].spec.training().seed(), 9u);
  EXPECT_EQ(made->parts[2].spec.encoding().name(), "rope");
  EXPECT_EQ(made->parts[2].label, "training.seed=4");
}

TEST(ExpandTest, StagesNeedThoseWhoseCheckpointsTheyTake) {
  const auto made = Expand(Pipeline(
      std::string(kTrainStage) +
      ", {kind: evaluate, name: test, checkpoints: [first], evaluations: "
      "[{task: addition_grid}]}, {kind: train, name: more, model: {from: "
      "first}, data: {task: addition}, training: {steps: 5}, needs: [{job: "
      "test, condition: ended}]}"));
  EXPECT_THAT(NamesOf(made), ElementsAre("p-first", "p-test", "p-more"));
  const JobSpec& test = made->parts[1].spec;
  EXPECT_THAT(test.checkpoints(), ElementsAre("jobs/p-first"));
  ASSERT_EQ(test.needs_size(), 1);
  EXPECT_EQ(test.needs(0).job(), "jobs/p-first");
  EXPECT_EQ(test.needs(0).condition(), Need::SUCCEEDED);
  const JobSpec& more = made->parts[2].spec;
  EXPECT_EQ(more.model().from(), "jobs/p-first");
  EXPECT_EQ(more.model().from_sha256(), "");
  EXPECT_EQ(more.model().width(), made->parts[0].spec.model().width());
  EXPECT_EQ(more.encoding().name(), "rope");
  ASSERT_EQ(more.needs_size(), 2);
  EXPECT_EQ(more.needs(0).condition(), Need::ENDED);
  EXPECT_EQ(more.needs(1).job(), "jobs/p-first");
}

TEST(ExpandTest, PartsHaveWhatTheTemplateLeavesOutFromTheirParent) {
  JobSpec spec = Compare(kTwoArms);
  spec.set_queue("night");
  spec.set_priority(7);
  spec.set_hold(true);
  (*spec.mutable_labels())["team"] = "a";
  (*spec.mutable_labels())["own"] = "parent";
  (*spec.mutable_compare()->mutable_run()->mutable_labels())["own"] = "part";
  spec.mutable_resources()->set_threads(4);
  spec.add_needs()->set_job("data");
  const auto made = Expand(spec);
  ORDO_ASSERT_OK(made);
  for (const Part& part : made->parts) {
    EXPECT_EQ(part.spec.queue(), "night");
    EXPECT_EQ(part.spec.priority(), 7);
    EXPECT_TRUE(part.spec.hold());
    EXPECT_EQ(part.spec.labels().at("team"), "a");
    EXPECT_EQ(part.spec.labels().at("own"), "part");
    EXPECT_EQ(part.spec.resources().threads(), 4);
    ASSERT_EQ(part.spec.needs_size(), 1);
    EXPECT_EQ(part.spec.needs(0).job(), "jobs/data");
  }
  spec.mutable_compare()->mutable_run()->mutable_resources()->set_threads(1);
  EXPECT_EQ(Expand(spec)->parts[0].spec.resources().threads(), 1);
}

TEST(ExpandTest, DeviceOfTheParentIsThatOfTheTemplate) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_resources()->set_device(
      "cuda");
  const auto made = Expand(spec);
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->spec.resources().device(), "cuda");
}

TEST(ExpandTest, ResolvingWhatIsResolvedChangesNothing) {
  for (const JobSpec& spec :
       {Compare(kTwoArms), Sweep("  seeds: [1, 2]"), Pipeline(kTrainStage)}) {
    const auto once = Expand(spec);
    ORDO_ASSERT_OK(once);
    const auto twice = Expand(once->spec);
    ORDO_ASSERT_OK(twice);
    using google::protobuf::util::MessageDifferencer;
    EXPECT_TRUE(MessageDifferencer::Equals(once->spec, twice->spec));
    ASSERT_EQ(once->parts.size(), twice->parts.size());
    for (size_t i = 0; i < once->parts.size(); ++i) {
      const JobSpec& part = once->parts[i].spec;
      EXPECT_TRUE(MessageDifferencer::Equals(part, twice->parts[i].spec));
      const auto alone = ResolveJobSpec(part);
      ORDO_ASSERT_OK(alone);
      EXPECT_TRUE(MessageDifferencer::Equals(part, *alone));
    }
  }
}

TEST(ExpandTest, WhatTheTemplateHasWrongIsToldOnce) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_training()->set_steps(0);
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.training.steps: "));
  spec.mutable_compare()->mutable_run()->mutable_training()->set_steps(1);
  spec.mutable_compare()->mutable_run()->mutable_data()->set_task("adition");
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.data.task: "));
}

TEST(ExpandTest, WhatAnArmHasWrongIsToldWhereTheArmSaysIt) {
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encoding: {name: tap}}}]")),
              HasSubstr("compare.arms[1].set.encoding.name: "));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encodng.name: tape}}]")),
              HasSubstr("compare.arms[1].set.encodng.name: 'encodng' is no "
                        "field of JobSpec; did you mean 'encoding'?"));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encoding: tape}}]")),
              HasSubstr("compare.arms[1].set.encoding: "));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{training.seed: 3}}]")),
              HasSubstr("compare.arms[1].set.training.seed: is what "
                        "compare.seeds says"));
}

TEST(ExpandTest, ArmsThatDifferInNothingAreRefused) {
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: {encoding: "
                                "{name: rope}}}]")),
              HasSubstr("compare.arms[1].set: makes the arm b the same as a"));
}

TEST(ExpandTest, ArmsThatDifferInMoreThanAllowedAreRefused) {
  const std::string arms =
      "  arms: [{name: a}, {name: b, set: {encoding: {name: tape}, "
      "training.learning_rate: 0.5}}]\n";
  EXPECT_THAT(OnlyWrong(Compare(arms)),
              HasSubstr("compare.arms[1].set.training.learning_rate: "
                        "training.learning_rate is 0.5 in the arm b and "
                        "0.001 in a; arms may differ in encoding alone"));
  ORDO_EXPECT_OK(
      Expand(Compare(arms + "  differs: [encoding, training.learning_rate]")));
  // What follows from it counts as well.
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{training.batch_size: 8}}]\n"
                                "  differs: [training.batch_size]")),
              HasSubstr("compare.arms[1].set: training.micro_batch_size is 8"));
}

TEST(ExpandTest, BadComparisonsAreRefused) {
  const auto wrong = [](const std::string& rest) {
    return OnlyWrong(Compare(rest));
  };
  EXPECT_THAT(wrong("  arms: [{name: a}]"),
              HasSubstr("compare.arms: must have 2..64"));
  EXPECT_THAT(wrong("  arms: [{name: a}, {name: a, set: {encoding: {name: "
                    "tape}}}]"),
              HasSubstr("compare.arms[1].name: 'a' is there twice"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  baseline: ropes"),
              HasSubstr("compare.baseline: no arm is called 'ropes'; did you "
                        "mean 'rope'?"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  seeds: [3, 3]"),
              HasSubstr("compare.seeds[1]: 3 is there twice"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  confidence: 1"),
              HasSubstr("compare.confidence: "));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  max_parallel: 0"),
              HasSubstr("compare.max_parallel: "));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  differs: [encodin]"),
              HasSubstr("compare.differs[0]: 'encodin'"));
}

TEST(ExpandTest, FieldsWithoutMeaningAreRefused) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_training()->set_steps(5);
  EXPECT_THAT(OnlyWrong(spec),
              HasSubstr("training: has no meaning with kind: compare; put it "
                        "into compare.run"));
  spec = Compare(kTwoArms);
  spec.mutable_sweep();
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("sweep: is for kind: sweep"));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->set_name("x");
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.name: "));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->set_kind(JobSpec::EVALUATE);
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.kind: must be train"));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_compare();
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.compare: "));
}

TEST(ExpandTest, NamesOfPartsThatAreTooLongAreToldOnce) {
  JobSpec spec = Compare(kTwoArms);
  spec.set_name(std::string(60, 'c'));
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("name: a part would be called"));
}

TEST(ExpandTest, BadSweepsAreRefused) {
  const auto wrong = [](const std::string& rest) {
    return OnlyWrong(Sweep(rest));
  };
  EXPECT_THAT(wrong(""), HasSubstr("sweep.matrix: nothing varies"));
  std::string many = "  seeds: [0";
  for (int i = 1; i <= 500; ++i) many += ", " + std::to_string(i);
  EXPECT_THAT(wrong(many + "]\n  matrix: {training.steps: {values: [1, 2]}}"),
              HasSubstr("sweep: makes more than 1000 runs"));
  EXPECT_THAT(wrong("  matrix: {training.step: {values: [1]}}"),
              HasSubstr("sweep.matrix.training.step.values[0]: 'step' is no "
                        "field of Training; did you mean 'steps'?"));
  EXPECT_THAT(wrong("  matrix: {training.steps: {values: [1, 0]}}"),
              HasSubstr("sweep.matrix.training.steps.values[1]: "));
  EXPECT_THAT(wrong("  matrix: {training.steps: {}}"),
              HasSubstr("sweep.matrix.training.steps.values: required"));
  EXPECT_THAT(wrong("  matrix: {training.steps: {values: [1]}}\n"
                    "  runs: [{set: {training.steps: 3}}]"),
              HasSubstr("sweep.runs[0].set.training.steps: is in "
                        "sweep.matrix too"));
  EXPECT_THAT(wrong("  runs: [{set: {training.batch_size: 64}}, {}]"),
              HasSubstr("again; leave one of them out"));
}

TEST(ExpandTest, BadPipelinesAreRefused) {
  const auto wrong = [](const std::string& more) {
    return OnlyWrong(Pipeline(std::string(kTrainStage) + more));
  };
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, checkpoints: [firs], "
                    "evaluations: [{task: addition_grid}]}"),
              HasSubstr("pipeline.stages[1].checkpoints[0]: no stage is "
                        "called 'firs'; did you mean 'first'?"));
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, evaluations: [{task: "
                    "addition_grid}]}"),
              HasSubstr("pipeline.stages[1].checkpoints: required"));
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, checkpoints: [first], "
                    "evaluations: [{task: additon_grid}]}"),
              HasSubstr("pipeline.stages[1].evaluations[0].task: "));
  EXPECT_THAT(wrong(", {kind: benchmark, name: b, needs: [{job: first}]}, "
                    "{kind: train, name: t, model: {from: b}, data: {task: "
                    "addition}, training: {steps: 5}}"),
              HasSubstr("pipeline.stages[2].model.from: the stage b leaves no "
                        "checkpoint"));
  EXPECT_THAT(wrong(", {kind: benchmark, name: a, needs: [{job: b}]}, "
                    "{kind: benchmark, name: b, needs: [{job: a}]}"),
              HasSubstr("the stages wait for each other: a needs b needs a"));
  EXPECT_THAT(wrong(", {kind: benchmark, name: first}"),
              HasSubstr("pipeline.stages[1].name: 'first' is there twice"));
  EXPECT_THAT(wrong(", {kind: sweep, name: s}"),
              HasSubstr("pipeline.stages[1].kind: must be train, evaluate"));
  EXPECT_THAT(wrong(", {kind: train, name: t, model: {from: first, layers: "
                    "77}, data: {task: addition}, training: {steps: 5}}"),
              HasSubstr("pipeline.stages[1].model.layers: is 4 in stage "
                        "first"));
}

TEST(ExpandTest, WhatOnlySomeArmsGetWrongNamesThem) {
  // A learned table of positions is too short for what is asked.
  EXPECT_THAT(
      Wrong(Compare("  arms: [{name: a}, {name: b, set: {encoding: {name: "
                    "learned, params: {max_length: 8}}}}]")),
      Contains(
          ::testing::AllOf(HasSubstr("compare.run."), HasSubstr("(in b)"))));
}

TEST(ExpandTest, WhoKnowsMoreFillsInModelsOfCheckpoints) {
  JobSpec spec = Compare(
      "  arms: [{name: a, set: {training.steps: 7}}, {name: "
      "b}]\n  differs: [training.steps]");
  spec.mutable_compare()->mutable_run()->mutable_model()->set_from("jobs/gone");
  const auto made = Expand(spec, [](JobSpec* part, Violations* violations) {
    violations->push_back({"model.from", "no " + part->model().from()});
  });
  EXPECT_THAT(base::FieldViolations(made.status()),
              ElementsAre(base::FieldViolation{"compare.run.model.from",
                                               "no jobs/gone"}));
}

}  // namespace
}  // namespace ordo::services::spec
