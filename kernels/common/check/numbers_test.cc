#include "kernels/common/check/numbers.h"

#include <atomic>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::check {
namespace {

using ::testing::ElementsAre;

TEST(NumbersTest, RoundingIsToTheNearestTiesToEven) {
  EXPECT_EQ(Rounded(Type::kBfloat16, 1 + 1.0 / 256), 1);
  EXPECT_EQ(Rounded(Type::kBfloat16, 1 + 3.0 / 256), 1 + 2.0 / 128);
  EXPECT_EQ(Rounded(Type::kFloat32, 1 + 1.0 / 256), 1 + 1.0 / 256);
}

TEST(NumbersTest, NumbersComeBackAsTheyWere) {
  for (const Type type : {Type::kFloat32, Type::kBfloat16}) {
    EXPECT_THAT(Guarded(type, {1, -0.5, 3}).Values(), ElementsAre(1, -0.5, 3));
  }
}

TEST(NumbersTest, WhatNobodyWroteIsNoNumber) {
  EXPECT_TRUE(std::isnan(Guarded(Type::kFloat32, 1).Values()[0]));
  EXPECT_TRUE(std::isnan(Guarded(Type::kBfloat16, 1).Values()[0]));
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
