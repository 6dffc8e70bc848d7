#include "model/testing/tensors.h"

#include <limits>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"

namespace ordo::model::testing {
namespace {

TEST(TensorsTest, RandomTensorsRepeatAndDifferByName) {
  EXPECT_TRUE(SameBits(Normals({3, 4}, "a"), Normals({3, 4}, "a")));
  EXPECT_FALSE(SameBits(Normals({3, 4}, "a"), Normals({3, 4}, "b")));
}

TEST(TensorsTest, IntegersStayInRange) {
  const at::Tensor x = Integers({100}, 3, "a");
  EXPECT_EQ(x.min().item<int64_t>(), 0);
  EXPECT_EQ(x.max().item<int64_t>(), 2);
}

TEST(TensorsTest, NotANumberIsInfinitelyDifferent) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(MaxDifference(Doubles({1}, {nan}), Doubles({1}, {nan})),
            std::numeric_limits<double>::infinity());
}

TEST(TensorsTest, GradientErrorIsSmallForARightGradient) {
  const ScalarFunction cube = [](const std::vector<at::Tensor>& x) {
    return (x[0] * x[0] * x[0]).sum();
  };
  EXPECT_LT(GradientError(cube, {Normals({5}, "x")}), 1e-7);
}

TEST(TensorsTest, GradientErrorIsLargeForAWrongGradient) {
  // The second factor is cut off from the gradient.
  const ScalarFunction wrong = [](const std::vector<at::Tensor>& x) {
    return (x[0] * x[0].detach()).sum();
  };
  EXPECT_GT(GradientError(wrong, {Normals({5}, "x")}), 1e-2);
}

}  // namespace
}  // namespace ordo::model::testing
