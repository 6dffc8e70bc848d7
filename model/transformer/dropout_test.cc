#include "model/transformer/dropout.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/ones.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::SameBits;

at::Tensor Mask(const Dropout& dropout, double probability, int place,
                std::vector<int64_t> shape = {8, 5, 6}) {
  return ApplyDropout(dropout, probability, place, at::ones(shape));
}

TEST(DropoutTest, WithoutDropoutTheTensorPassesThrough) {
  const at::Tensor x = at::ones({2, 3, 4});
  EXPECT_TRUE(ApplyDropout(std::nullopt, 0.5, 0, x).is_same(x));
  EXPECT_TRUE(ApplyDropout(Dropout{}, 0.0, 0, x).is_same(x));
}

TEST(DropoutTest, TheShareThatFallsAwayIsTheProbability) {
  const at::Tensor mask = Mask({}, 0.25, 0, {64, 16, 32});
  EXPECT_NEAR(mask.eq(0).to(at::kDouble).mean().item<double>(), 0.25, 0.01);
  EXPECT_NEAR(mask.max().item<double>(), 1.0 / 0.75, 1e-6);
}

TEST(DropoutTest, StepPlaceAndSeedGiveMasksOfTheirOwn) {
  const at::Tensor mask = Mask({1, 0, 0}, 0.5, 0);
  EXPECT_TRUE(SameBits(mask, Mask({1, 0, 0}, 0.5, 0)));
  EXPECT_FALSE(SameBits(mask, Mask({2, 0, 0}, 0.5, 0)));
  EXPECT_FALSE(SameBits(mask, Mask({1, 1, 0}, 0.5, 0)));
  EXPECT_FALSE(SameBits(mask, Mask({1, 0, 0}, 0.5, 1)));
}

TEST(DropoutTest, SplittingABatchChangesNoMask) {
  const at::Tensor whole = Mask({1, 3, 0}, 0.5, 2);
  const at::Tensor second = Mask({1, 3, 4}, 0.5, 2, {4, 5, 6});
  EXPECT_TRUE(SameBits(whole.narrow(0, 4, 4), second));
}

TEST(DropoutTest, PaddingFurtherChangesNoMask) {
  const at::Tensor longer = Mask({}, 0.5, 0, {8, 9, 6});
  EXPECT_TRUE(SameBits(longer.narrow(1, 0, 5), Mask({}, 0.5, 0)));
}

TEST(DropoutTest, GradientsPassWhereValuesStay) {
  at::Tensor x = at::ones({2, 3, 4}).requires_grad_(true);
  const at::Tensor y = ApplyDropout(Dropout{}, 0.5, 0, x);
  y.sum().backward();
  EXPECT_TRUE(SameBits(x.grad(), y));
}

}  // namespace
}  // namespace ordo::model::transformer
