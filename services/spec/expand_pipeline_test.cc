#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kTrainStage;
using testing::NamesOf;
using testing::OnlyWrong;
using testing::Pipeline;

TEST(ExpandPipelineTest, StagesNeedThoseWhoseCheckpointsTheyTake) {
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

TEST(ExpandPipelineTest, AStageMayBeNamedAsItsJob) {
  const std::string more =
      ", {kind: train, name: more, start_from: jobs/p-first, encoding: {name: "
      "rope}, data: {task: addition}, training: {steps: 500}}";
  const auto made = Expand(Pipeline(std::string(kTrainStage) + more));
  ORDO_ASSERT_OK(made);
  const JobSpec& spec = made->parts[1].spec;
  EXPECT_EQ(spec.start_from(), "jobs/p-first");
  ASSERT_EQ(spec.needs_size(), 1);
  EXPECT_EQ(spec.needs(0).job(), "jobs/p-first");
  EXPECT_EQ(spec.needs(0).condition(), Need::SUCCEEDED);
  EXPECT_THAT(
      OnlyWrong(Pipeline("{kind: benchmark, name: first}" + more)),
      HasSubstr("pipeline.stages[1].start_from: the stage first leaves no "
                "checkpoint; name one of kind: train"));
}

TEST(ExpandPipelineTest,
     ACheckpointOfAStageThatFailedIsTakenWhereItsEndIsNeeded) {
  const auto made = Expand(Pipeline(
      std::string(kTrainStage) +
      ", {kind: evaluate, name: test, checkpoints: [first], evaluations: "
      "[{task: addition_grid}], needs: [{job: first, condition: ended}]}"));
  ORDO_ASSERT_OK(made);
  const JobSpec& test = made->parts[1].spec;
  ASSERT_EQ(test.needs_size(), 1);
  EXPECT_EQ(test.needs(0).condition(), Need::ENDED);
}

TEST(ExpandPipelineTest, AStageNeedsNoLessThanThePipelineDoes) {
  JobSpec spec = Pipeline(
      "{kind: benchmark, name: a, needs: [{job: jobs/x, condition: ended}, "
      "{job: jobs/y, condition: ended}]}, {kind: benchmark, name: b, needs: "
      "[{job: a, condition: ended}]}");
  spec.add_needs()->set_job("jobs/x");
  Need* y = spec.add_needs();
  y->set_job("jobs/y");
  y->set_condition(Need::ENDED);
  const auto made = Expand(spec);
  ORDO_ASSERT_OK(made);
  const JobSpec& a = made->parts[0].spec;
  ASSERT_EQ(a.needs_size(), 2);
  EXPECT_EQ(a.needs(0).job(), "jobs/x");
  EXPECT_EQ(a.needs(0).condition(), Need::SUCCEEDED);
  EXPECT_EQ(a.needs(1).condition(), Need::ENDED);
  const JobSpec& b = made->parts[1].spec;
  ASSERT_EQ(b.needs_size(), 3);
  EXPECT_EQ(b.needs(0).job(), "jobs/p-a");
  EXPECT_EQ(b.needs(0).condition(), Need::ENDED);
}

TEST(ExpandPipelineTest, WhichCheckpointOfAStageMayBeSaid) {
  const auto made = Expand(Pipeline(
      std::string(kTrainStage) +
      ", {kind: evaluate, name: test, checkpoints: [first/checkpoints/best, "
      "first/checkpoints/last], evaluations: [{task: addition_grid}]}, "
      "{kind: train, name: more, model: {from: first/checkpoints/best}, data: "
      "{task: addition}, training: {steps: 5}}, "
      "{kind: gate, name: gate, gate: {candidate: more, baseline: "
      "jobs/p-first/checkpoints/best, margin: 0.1}, evaluations: [{task: "
      "addition_grid}]}"));
  ORDO_ASSERT_OK(made);
  const JobSpec& test = made->parts[1].spec;
  EXPECT_THAT(test.checkpoints(),
              ElementsAre("jobs/p-first/checkpoints/best", "jobs/p-first"));
  ASSERT_EQ(test.needs_size(), 1);
  EXPECT_EQ(test.needs(0).job(), "jobs/p-first");
  const JobSpec& more = made->parts[2].spec;
  EXPECT_EQ(more.model().from(), "jobs/p-first/checkpoints/best");
  EXPECT_EQ(more.model().width(), made->parts[0].spec.model().width());
  ASSERT_EQ(more.needs_size(), 1);
  EXPECT_EQ(more.needs(0).job(), "jobs/p-first");
  const JobSpec& gate = made->parts[3].spec;
  EXPECT_EQ(gate.gate().candidate(), "jobs/p-more");
  EXPECT_EQ(gate.gate().baseline(), "jobs/p-first/checkpoints/best");
  EXPECT_EQ(gate.needs_size(), 2);
}

TEST(ExpandPipelineTest, AllOfAStageAreEvaluatedAsTheyCome) {
  const std::string follows =
      ", {kind: evaluate, name: test, checkpoints: [first/checkpoints/every], "
      "evaluations: [{task: addition_grid}]";
  const auto made = Expand(Pipeline(std::string(kTrainStage) + follows + "}"));
  ORDO_ASSERT_OK(made);
  const JobSpec& test = made->parts[1].spec;
  EXPECT_THAT(test.checkpoints(),
              ElementsAre("jobs/p-first/checkpoints/every"));
  // It begins before the stage has ended.
  EXPECT_EQ(test.needs_size(), 0);
  EXPECT_THAT(
      OnlyWrong(Pipeline(
          "{kind: train, name: first, encoding: {name: rope}, data: {task: "
          "addition}, training: {steps: 5}, needs: [{job: test}]}" +
          follows + "}")),
      HasSubstr(
          "the stages wait for each other: first needs test needs first"));
}

TEST(ExpandPipelineTest, BadPipelinesAreRefused) {
  const auto wrong = [](const std::string& more) {
    return OnlyWrong(Pipeline(std::string(kTrainStage) + more));
  };
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, checkpoints: [firs], "
                    "evaluations: [{task: addition_grid}]}"),
              HasSubstr("pipeline.stages[1].checkpoints[0]: no stage is "
                        "called 'firs'; did you mean 'first'?"));
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, checkpoints: "
                    "[firs/checkpoints/best], evaluations: [{task: "
                    "addition_grid}]}"),
              HasSubstr("pipeline.stages[1].checkpoints[0]: no stage is "
                        "called 'firs'; did you mean 'first'?"));
  EXPECT_THAT(wrong(", {kind: evaluate, name: test, checkpoints: "
                    "[first/checkpoints/5-1], evaluations: [{task: "
                    "addition_grid}]}"),
              HasSubstr("pipeline.stages[1].checkpoints[0]: '5-1' is none of "
                        "best, last and every"));
  EXPECT_THAT(wrong(", {kind: train, name: t, start_from: "
                    "first/checkpoints/every, encoding: {name: rope}, data: "
                    "{task: addition}, training: {steps: 500}}"),
              HasSubstr("pipeline.stages[1].start_from: must be jobs/{job}"));
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

}  // namespace
}  // namespace ordo::services::spec
