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

TEST(ExpandPipelineTest, BadPipelinesAreRefused) {
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

}  // namespace
}  // namespace ordo::services::spec
