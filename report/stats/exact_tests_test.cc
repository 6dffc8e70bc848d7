#include "report/stats/exact_tests.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;

PairedSample Singles(const std::vector<double>& differences) {
  std::vector<PairedItem> items;
  for (const double d : differences) items.push_back({0, d, ""});
  return MakePairedSample(items).value();
}

double FlipP(const std::vector<double>& differences,
             const SignFlipOptions& options = {}) {
  return SignFlipTest(Singles(differences), options).value().p;
}

TEST(SignTestTest, CountsTheTailsOfCoinTosses) {
  // 9 of 10: (10 + 1) / 1024 in a tail.
  EXPECT_NEAR(SignTest(9, 1, Alternative::kBetter), 11.0 / 1024, 1e-15);
  EXPECT_NEAR(SignTest(9, 1, Alternative::kWorse), 1023.0 / 1024, 1e-15);
  EXPECT_NEAR(SignTest(9, 1, Alternative::kTwoSided), 22.0 / 1024, 1e-15);
  EXPECT_NEAR(SignTest(1, 9, Alternative::kTwoSided), 22.0 / 1024, 1e-15);
}

TEST(SignTestTest, IsMcNemarsExactTestOfPublishedData) {
  // Fagerland, Lydersen, Laake, BMC Med. Res. Methodol. 13:91 (2013): 1 and 7
  // discordant pairs give the exact conditional P = 0.0703.
  EXPECT_NEAR(SignTest(1, 7, Alternative::kTwoSided), 0.0703, 5e-5);
}

TEST(SignTestTest, WithoutADifferenceNothingSpeaksAgainstNone) {
  EXPECT_EQ(SignTest(0, 0, Alternative::kTwoSided), 1);
  EXPECT_EQ(SignTest(0, 0, Alternative::kBetter), 1);
  EXPECT_EQ(SignTest(5, 5, Alternative::kTwoSided), 1);
}

TEST(SignTestTest, OfASampleAUnitCountsOnce) {
  const PairedSample sample =
      MakePairedSample({{0, 1, "a"}, {0, 1, "a"}, {0, 1, "a"}, {1, 0, "b"}})
          .value();
  EXPECT_EQ(SignTest(sample, Alternative::kTwoSided),
            SignTest(1, 1, Alternative::kTwoSided));
}

TEST(SignFlipTest, GivesFishersResultForDarwinsPlants) {
  // Fisher, The Design of Experiments (1935), section 21: differences of 15
  // pairs of plants in eighths of an inch. 863 of 32768 assignments have a
  // total as large or larger, which makes 1726 in both tails.
  const std::vector<double> darwin = {49, -67, 8,  16, 6,  23, 28, 41,
                                      14, 29,  56, 24, 75, 60, -48};
  EXPECT_DOUBLE_EQ(FlipP(darwin), 1726.0 / 32768);
  SignFlipOptions better;
  better.alternative = Alternative::kBetter;
  EXPECT_DOUBLE_EQ(FlipP(darwin, better), 863.0 / 32768);
}

TEST(SignFlipTest, OfEqualSizesIsTheSignTest) {
  EXPECT_DOUBLE_EQ(FlipP({1, 1, 1, 1, 1, 1, -1, 0, 0}),
                   SignTest(6, 1, Alternative::kTwoSided));
}

TEST(SignFlipTest, SumsThatRoundDifferentlyAreEqual) {
  // 0.1 + 0.2 - 0.3 is not quite 0 in binary, and not what its negative is. Of
  // the 16 totals, 5 with 0.01 and 3 with -0.01 reach that of the data.
  SignFlipOptions better;
  better.alternative = Alternative::kBetter;
  EXPECT_EQ(FlipP({0.1, 0.2, -0.3, 0.01}, better), 0.5);
}

TEST(SignFlipTest, DrawnAssignmentsComeNearAllOfThem) {
  std::vector<double> differences;
  base::RandomSequence random(1, "differences");
  for (int i = 0; i < 20; ++i) differences.push_back(random.Normal() + 0.5);
  const SignFlipResult all = SignFlipTest(Singles(differences), {}).value();
  EXPECT_TRUE(all.exact);
  // One more unit, which hardly counts, and the assignments are drawn.
  differences.push_back(1e-9);
  const SignFlipResult drawn = SignFlipTest(Singles(differences), {}).value();
  EXPECT_FALSE(drawn.exact);
  EXPECT_NEAR(drawn.p, all.p, 5 * std::sqrt(all.p / 99'999));
}

TEST(SignFlipTest, DrawnPIsNeverZeroAndDependsOnTheSeedAlone) {
  const std::vector<double> all_better(100, 1.0);
  SignFlipOptions options;
  options.num_samples = 999;
  EXPECT_DOUBLE_EQ(FlipP(all_better, options), 1.0 / 1000);
  std::vector<double> mixed(100, 1.0);
  for (size_t i = 0; i < mixed.size(); i += 3) mixed[i] = -2.5;
  EXPECT_EQ(FlipP(mixed, options), FlipP(mixed, options));
  SignFlipOptions other = options;
  other.seed = 1;
  EXPECT_NE(FlipP(mixed, options), FlipP(mixed, other));
}

TEST(SignFlipTest, KeepsItsLevelWithFewDraws) {
  base::RandomSequence random(5, "level");
  SignFlipOptions options;
  options.num_samples = 19;
  constexpr int kSamples = 4000;
  int refused = 0;
  for (int s = 0; s < kSamples; ++s) {
    std::vector<double> differences;
    for (int i = 0; i < 25; ++i) differences.push_back(random.Normal());
    options.seed = static_cast<uint64_t>(s);
    refused += FlipP(differences, options) <= 0.05;
  }
  // The exact level is 5 %; three standard errors are 1 %.
  EXPECT_NEAR(static_cast<double>(refused) / kSamples, 0.05, 0.011);
}

TEST(SignFlipTest, RefusesNumbersOfDrawsOutOfRange) {
  SignFlipOptions options;
  options.num_samples = 0;
  EXPECT_THAT(SignFlipTest(Singles({1}), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options.num_samples = kMaxFlipSamples + 1;
  EXPECT_THAT(SignFlipTest(Singles({1}), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::report::stats
