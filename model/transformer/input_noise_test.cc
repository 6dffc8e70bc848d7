#include "model/transformer/input_noise.h"

#include <optional>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using encodings::TrainingStep;
using testing::Longs;
using testing::MaxDifference;
using testing::SameBits;

// On nothing, of rows without padding.
at::Tensor Noise(const std::optional<TrainingStep>& training,
                 const std::vector<int64_t>& shape) {
  const at::Tensor counted =
      at::arange(shape[1], at::TensorOptions(at::kLong)).unsqueeze(0);
  return AddInputNoise(1.0, counted, training, at::zeros(shape, at::kDouble));
}

TEST(InputNoiseTest, ItsDeviationIsThatWhichIsAskedFor) {
  const at::Tensor x = at::zeros({8, 64, 128});
  const at::Tensor counted =
      at::arange(64, at::TensorOptions(at::kLong)).unsqueeze(0);
  for (const auto& training :
       {std::optional<TrainingStep>(),
        std::optional<TrainingStep>(TrainingStep{1, 0, 0})}) {
    const at::Tensor noise = AddInputNoise(0.02, counted, training, x);
    EXPECT_EQ(noise.scalar_type(), at::kFloat);
    EXPECT_NEAR(noise.mean().item<double>(), 0, 1e-3);
    EXPECT_NEAR(noise.square().mean().sqrt().item<double>(), 0.02, 5e-4);
  }
}

TEST(InputNoiseTest, SeedStepRowAndTokenHaveNoiseOfTheirOwn) {
  const std::vector<int64_t> shape = {3, 4, 6};
  const at::Tensor noise = Noise(TrainingStep{1, 0, 0}, shape);
  EXPECT_TRUE(SameBits(noise, Noise(TrainingStep{1, 0, 0}, shape)));
  EXPECT_FALSE(SameBits(noise, Noise(TrainingStep{2, 0, 0}, shape)));
  EXPECT_FALSE(SameBits(noise, Noise(TrainingStep{1, 1, 0}, shape)));
  EXPECT_GT(MaxDifference(noise.select(0, 0), noise.select(0, 1)), 0.1);
  EXPECT_GT(MaxDifference(noise.select(1, 0), noise.select(1, 1)), 0.1);
}

TEST(InputNoiseTest, SplittingABatchAndPaddingItChangeNone) {
  const at::Tensor noise = Noise(TrainingStep{1, 3, 0}, {8, 5, 7});
  EXPECT_TRUE(SameBits(noise.narrow(0, 4, 4).contiguous(),
                       Noise(TrainingStep{1, 3, 4}, {4, 5, 7})));
  const at::Tensor longer = Noise(TrainingStep{1, 3, 0}, {8, 9, 7});
  EXPECT_TRUE(SameBits(noise, longer.narrow(1, 0, 5).contiguous()));
}

TEST(InputNoiseTest, InEvaluationEveryRowHasThatOfItsTokensNumbers) {
  const at::Tensor noise = Noise({}, {2, 5, 7});
  EXPECT_TRUE(SameBits(noise.select(0, 0), noise.select(0, 1)));
  EXPECT_GT(MaxDifference(noise.select(1, 0), noise.select(1, 1)), 0.1);
  // One row is padded on the left, and the last token comes alone.
  const at::Tensor padded =
      AddInputNoise(1.0, Longs({2, 3}, {0, 0, 1, 0, 1, 2}), {},
                    at::zeros({2, 3, 7}, at::kDouble));
  EXPECT_EQ(MaxDifference(padded[0].narrow(0, 1, 2), noise[0].narrow(0, 0, 2)),
            0);
  EXPECT_EQ(MaxDifference(padded[1], noise[0].narrow(0, 0, 3)), 0);
  const at::Tensor last = AddInputNoise(1.0, Longs({1, 1}, {4}), {},
                                        at::zeros({2, 1, 7}, at::kDouble));
  EXPECT_EQ(MaxDifference(last, noise.narrow(1, 4, 1)), 0);
}

TEST(InputNoiseTest, TheGradientPasses) {
  at::Tensor x = at::zeros({2, 3, 4}).requires_grad_(true);
  AddInputNoise(0.5, Longs({1, 3}, {0, 1, 2}), TrainingStep{1, 0, 0}, x)
      .sum()
      .backward();
  EXPECT_EQ(x.grad().eq(1).all().item<bool>(), true);
}

}  // namespace
}  // namespace ordo::model::transformer
