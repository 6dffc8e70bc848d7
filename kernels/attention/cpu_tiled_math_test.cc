#define ORDO_VECTOR_BYTES 16

#include "kernels/attention/cpu_tiled_math.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace ordo::kernels::attention {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
// The rounding of a float.
constexpr double kHalf = 1.0 / (1 << 24);

float Exp(float x) { return LaneMath::Exp(All(x))[0]; }
float Log(float x) { return LaneMath::Log(All(x))[0]; }

TEST(LaneMathTest, ExponentialsAreNearTheRightOnes) {
  for (float x = -87; x < 88; x += 0.37F) {
    const double right = std::exp(double{x});
    EXPECT_NEAR(Exp(x), right, (std::abs(x) + 4) * kHalf * right) << x;
  }
}

TEST(LaneMathTest, LogarithmsAreNearTheRightOnes) {
  for (float x = 1.2e-38F; x < 1e38F; x *= 1.013F) {
    const double right = std::log(double{x});
    EXPECT_NEAR(Log(x), right, 6 * kHalf * std::abs(right)) << x;
  }
  EXPECT_EQ(Log(1), 0);
}

TEST(LaneMathTest, WhatNoFloatHoldsIsInfiniteOrZero) {
  EXPECT_EQ(Exp(89), kInfinity);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(Exp(-89), 0);
  EXPECT_EQ(Exp(-kInfinity), 0);
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_EQ(Log(0), -kInfinity);
  EXPECT_EQ(Log(1e-39F), -kInfinity);
}

TEST(LaneMathTest, WhatHasNoValueIsNotANumber) {
  EXPECT_TRUE(std::isnan(Exp(kNotANumber)));
  EXPECT_TRUE(std::isnan(Log(kNotANumber)));
  EXPECT_TRUE(std::isnan(Log(-1)));
  EXPECT_TRUE(std::isnan(Log(-kInfinity)));
}

}  // namespace
}  // namespace ordo::kernels::attention
