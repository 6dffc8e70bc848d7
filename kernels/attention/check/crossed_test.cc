#include "kernels/attention/check/crossed.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/table.h"

namespace ordo::kernels::attention::check {
namespace {

using ::testing::HasSubstr;
using Pair = std::pair<std::string, std::string>;

// "axis: label".
std::string TextOf(const Axis& axis, int variant) {
  return axis.name + ": " + axis.variants[variant].label;
}

class CrossedSizesTest : public ::testing::TestWithParam<CrossedSizes> {};

TEST_P(CrossedSizesTest, EveryKindMeetsEveryVariantOfTheOtherAxes) {
  const std::vector<Axis> axes = CrossedAxes(GetParam());
  std::set<Pair> missing, met;
  for (const Crossed& c : CrossedProblems({GetParam()})) {
    for (size_t axis = 1; axis < axes.size(); ++axis) {
      met.insert({axes[0].variants[c.choices[0]].label,
                  TextOf(axes[axis], c.choices[axis])});
    }
  }
  for (const Variant& kind : axes[0].variants) {
    for (size_t axis = 1; axis < axes.size(); ++axis) {
      for (size_t i = 0; i < axes[axis].variants.size(); ++i) {
        const Pair pair = {kind.label, TextOf(axes[axis], static_cast<int>(i))};
        if (met.count(pair) == 0) missing.insert(pair);
      }
    }
  }
  EXPECT_EQ(missing, std::set<Pair>({{"rerope", "mask: both_ways"}}));
}

INSTANTIATE_TEST_SUITE_P(Usual, CrossedSizesTest,
                         ::testing::ValuesIn(UsualSizes()));

// With one key or one tile of them hardly anything of a kind is to be seen.
TEST(CrossedTest, EveryKindIsTriedAtEachWidthWithSeveralTilesAndQueries) {
  const CrossedSizes sizes = UsualSizes().front();
  EXPECT_EQ(sizes.widths, std::vector<int64_t>({32, 64, 96, 128, 256}));
  for (const Crossed& c : CrossedProblems({sizes})) {
    EXPECT_GT(c.of.problem.keys, 64) << c.of.label;
    EXPECT_GT(c.of.problem.queries, 1) << c.of.label;
  }
}

TEST(CrossedTest, FarKeysBothWaysAreNoProblem) {
  Problem far = Plain(70, 64);
  FarPair(&far);
  BothWays(&far);
  EXPECT_THAT(std::string(CheckProblem(far).message()),
              HasSubstr("far_from must be 0 unless causal"));
}

TEST(CrossedTest, AllAreProblems) {
  std::set<std::string> labels;
  for (const Crossed& c : CrossedProblems(UsualSizes())) {
    EXPECT_EQ(CheckProblem(c.of.problem), absl::OkStatus()) << c.of.label;
    EXPECT_TRUE(labels.insert(c.of.label).second) << c.of.label;
  }
}

// One that no kind stands for would be tried at usual sizes only.
TEST(CrossedTest, KindsHaveEveryScoreMod) {
  std::set<ScoreMod> left(std::begin(kScoreMods), std::end(kScoreMods));
  for (const Crossed& c : CrossedProblems(UsualSizes())) {
    left.erase(c.of.problem.mod);
  }
  EXPECT_TRUE(left.empty());
}

}  // namespace
}  // namespace ordo::kernels::attention::check
