#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NamesOf;
using testing::OnlyWrong;
using testing::Sweep;

TEST(ExpandSweepTest, SweepHasEachCombinationTheLastPathFastest) {
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

TEST(ExpandSweepTest, RunsAndSeedsOfASweepAreCombined) {
  const auto made =
      Expand(Sweep("  runs: [{set: {encoding: {name: alibi}}}, {}]\n"
                   "  seeds: [4, 9]"));
  EXPECT_THAT(NamesOf(made), ElementsAre("s-0", "s-1", "s-2", "s-3"));
  EXPECT_EQ(made->parts[1].spec.encoding().name(), "alibi");
  EXPECT_EQ(made->parts[1].spec.training().seed(), 9u);
  EXPECT_EQ(made->parts[2].spec.encoding().name(), "rope");
  EXPECT_EQ(made->parts[2].label, "training.seed=4");
}

TEST(ExpandSweepTest, AMatrixMakesAThousandRunsAtMost) {
  std::string seeds = "  seeds: [0";
  for (int i = 1; i < 100; ++i) seeds += ", " + std::to_string(i);
  const auto with = [&](const std::string& steps) {
    return Sweep(seeds + "]\n  matrix: {training.steps: {values: [" + steps +
                 "]}}");
  };
  const auto most = Expand(with("1, 2, 3, 4, 5, 6, 7, 8, 9, 10"));
  ORDO_ASSERT_OK(most);
  EXPECT_EQ(most->parts.size(), 1000u);
  EXPECT_THAT(OnlyWrong(with("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11")),
              HasSubstr("sweep: makes more than 1000 runs; name fewer values, "
                        "runs or seeds"));
}

TEST(ExpandSweepTest, BadSweepsAreRefused) {
  const auto wrong = [](const std::string& rest) {
    return OnlyWrong(Sweep(rest));
  };
  EXPECT_THAT(wrong(""), HasSubstr("sweep.matrix: nothing varies"));
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
  EXPECT_THAT(wrong("  matrix: {training.learning_rate: {values: [1e-3, 3e-3, "
                    "0.001]}}\n  seeds: [1, 2]"),
              "sweep.matrix.training.learning_rate.values[2]: 0.001 is "
              "there twice; leave one out");
  EXPECT_THAT(wrong("  runs: [{set: {training.batch_size: 64}}, {}]"),
              HasSubstr("again; leave one of them out"));
}

}  // namespace
}  // namespace ordo::services::spec
