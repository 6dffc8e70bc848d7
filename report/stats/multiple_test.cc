#include "report/stats/multiple.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HolmAdjustedTest, MultipliesByHowManyAreLeft) {
  // By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 not below the last.
  EXPECT_THAT(HolmAdjusted({0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-15), DoubleNear(0.06, 1e-15),
                          DoubleNear(0.06, 1e-15), DoubleNear(0.02, 1e-15)));
}

TEST(HolmAdjustedTest, NeverExceedsOneAndLeavesASingleTestAlone) {
  EXPECT_THAT(HolmAdjusted({0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_THAT(HolmAdjusted({0.3}), ElementsAre(0.3));
  EXPECT_THAT(HolmAdjusted({}), IsEmpty());
}

// Five tests that share half of their noise, three of true hypotheses.
TEST(HolmAdjustedTest, RefusesATrueHypothesisNoMoreOftenThanItsLevel) {
  base::RandomSequence random(21, "holm");
  constexpr int kFamilies = 4000;
  int plain = 0;
  int corrected = 0;
  int found = 0;
  for (int family = 0; family < kFamilies; ++family) {
    const double shared = random.Normal();
    std::vector<double> p;
    for (int test = 0; test < 5; ++test) {
      const double effect = test < 3 ? 0 : 3;
      const double z =
          effect + std::sqrt(0.5) * shared + std::sqrt(0.5) * random.Normal();
      p.push_back(2 * NormalCdf(-std::abs(z)));
    }
    const std::vector<double> adjusted = HolmAdjusted(p);
    plain += std::min({p[0], p[1], p[2]}) <= 0.05;
    corrected += std::min({adjusted[0], adjusted[1], adjusted[2]}) <= 0.05;
    found += adjusted[3] <= 0.05;
  }
  EXPECT_GT(plain, kFamilies * 0.09);
  EXPECT_LE(corrected, kFamilies * 0.06);
  EXPECT_GT(found, kFamilies * 0.6);
}

TEST(SimultaneousLevelTest, SharesTheErrorEvenly) {
  EXPECT_DOUBLE_EQ(SimultaneousLevel(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(SimultaneousLevel(0.95, 10), 0.995);
}

TEST(MultipleDeathTest, RefusesWhatIsNoProbability) {
  EXPECT_DEATH(HolmAdjusted({0.1, 1.1}), "a p value");
  EXPECT_DEATH(SimultaneousLevel(0.95, 0), "number of intervals");
}

}  // namespace
}  // namespace ordo::report::stats
