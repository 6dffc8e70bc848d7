#include <ATen/ATen.h>
#include <gtest/gtest.h>

TEST(TorchTest, MatrixProductOfOnes) {
  at::Tensor a = at::ones({3, 4});
  EXPECT_EQ(at::mm(a, a.t()).sum().item<float>(), 36.0f);
}
