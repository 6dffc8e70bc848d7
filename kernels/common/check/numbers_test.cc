#include "kernels/common/check/numbers.h"

#include <atomic>
#include <cmath>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::check {
namespace {

using ::testing::ElementsAre;

TEST(NumbersTest, RoundingIsToTheNearestTiesToEven) {
  EXPECT_EQ(Rounded(Type::kBfloat16, 1 + 1.0 / 256), 1);
  EXPECT_EQ(Rounded(Type::kBfloat16, 1 + 3.0 / 256), 1 + 2.0 / 128);
  EXPECT_EQ(Rounded(Type::kFloat32, 1 + 1.0 / 256), 1 + 1.0 / 256);
  EXPECT_EQ(Rounded(Type::kFloat16, 1 + 1.0 / 2048), 1);
  EXPECT_EQ(Rounded(Type::kFloat16, 1 + 3.0 / 2048), 1 + 2.0 / 1024);
}

// Bits as IEEE 754 has them.
TEST(NumbersTest, Float16HasItsRange) {
  const std::pair<double, int> numbers[] = {
      {0, 0},           {-0.0, 0x8000},        {1, 0x3C00},     {-2.5, 0xC100},
      {65504, 0x7BFF},  {65519, 0x7BFF},       {65520, 0x7C00}, {-1e30, 0xFC00},
      {0x1p-14, 0x400}, {0x1.ff8p-15, 0x3FF},  {0x1p-24, 1},    {0x1.8p-24, 2},
      {0x1p-25, 0},     {-0x1.01p-25, 0x8001},
  };
  for (const auto& [x, bits] : numbers) {
    EXPECT_EQ(HalfBits(Type::kFloat16, static_cast<float>(x)), bits) << x;
  }
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float x = FromHalfBits(Type::kFloat16, static_cast<uint16_t>(bits));
    // Not-a-numbers are one.
    const bool is_number = (bits & 0x7FFF) <= 0x7C00;
    EXPECT_EQ(!std::isnan(x), is_number) << bits;
    EXPECT_EQ(HalfBits(Type::kFloat16, x), is_number ? bits : 0x7FFF);
  }
  EXPECT_EQ(FromHalfBits(Type::kFloat16, 0x3555), 0x1.554p-2F);
}

TEST(NumbersTest, NumbersComeBackAsTheyWere) {
  for (const Type type : {Type::kFloat32, Type::kBfloat16, Type::kFloat16}) {
    EXPECT_THAT(Guarded(type, {1, -0.5, 3}).Values(), ElementsAre(1, -0.5, 3));
  }
}

TEST(NumbersTest, WhatNobodyWroteIsNoNumber) {
  EXPECT_TRUE(std::isnan(Guarded(Type::kFloat32, 1).Values()[0]));
  EXPECT_TRUE(std::isnan(Guarded(Type::kBfloat16, 1).Values()[0]));
  EXPECT_TRUE(std::isnan(Guarded(Type::kFloat16, 1).Values()[0]));
  EXPECT_TRUE(std::isinf(Distance({1}, {std::nan("")})));
}

TEST(NumbersTest, AByteTooFarIsSeen) {
  Guarded guarded(Type::kFloat32, 3);
  EXPECT_TRUE(guarded.IsIntact());
  static_cast<char*>(guarded.data())[12] = 0;
  EXPECT_FALSE(guarded.IsIntact());

  const TestResources resources(10, 1);
  EXPECT_TRUE(resources.IsIntact());
  static_cast<char*>(resources.get().workspace)[10] = 0;
  EXPECT_FALSE(resources.IsIntact());
  const TestResources others(10, 1);
  static_cast<char*>(others.get().workspace)[-1] = 0;
  EXPECT_FALSE(others.IsIntact());
}

TEST(NumbersTest, ANumberThatIsWrittenToIsSeen) {
  Guarded guarded(Type::kFloat32, {1, 2});
  EXPECT_TRUE(guarded.IsAsMade());
  guarded.floats()[1] = 3;
  EXPECT_TRUE(guarded.IsIntact());
  EXPECT_FALSE(guarded.IsAsMade());
}

TEST(NumbersTest, EveryTaskIsRunOnceOnItsThread) {
  const TestResources resources(0, 3);
  std::atomic<int> calls{0};
  resources.get().run(10, [&](int64_t i, int thread) {
    EXPECT_EQ(i % 3, thread);
    ++calls;
  });
  EXPECT_EQ(calls, 10);
}

}  // namespace
}  // namespace ordo::kernels::check
