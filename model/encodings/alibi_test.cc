#include <cmath>

#include "gtest/gtest.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Encoding;
using model::testing::Longs;
using model::testing::MaxDifference;
using testing::NoProduct;
using testing::Probe;

// Biases [H,T,T] over positions 0, 1, 5, 12.
at::Tensor Biases(int heads, bool causal = true) {
  const Probe probe(Encoding("alibi"), {1, 4 * heads, heads, 0, causal});
  testing::Attention attention =
      NoProduct(Longs({1, 4}, {0, 1, 5, 12}), heads, 4);
  attention.causal = causal;
  return probe.Scores(attention)[0];
}

// Of each head, from the biases.
std::vector<double> Slopes(int heads) {
  const at::Tensor biases = Biases(heads);
  std::vector<double> slopes;
  for (int h = 0; h < heads; ++h) {
    slopes.push_back(-biases[h][1][0].item<double>());
  }
  return slopes;
}

TEST(AlibiTest, EightHeadsHaveTheSlopesOfThePaper) {
  EXPECT_EQ(Slopes(8),
            (std::vector<double>{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 32,
                                 1.0 / 64, 1.0 / 128, 1.0 / 256}));
  EXPECT_EQ(Slopes(1), (std::vector<double>{1.0 / 256}));
  EXPECT_EQ(Slopes(2), (std::vector<double>{1.0 / 16, 1.0 / 256}));
}

// As BLOOM and MPT have them for 12 heads: 8 of 2^-h, then 2^-0.5, 2^-1.5, ...
TEST(AlibiTest, OtherNumbersOfHeadsTakeEveryOtherSlopeOfTheNextPower) {
  std::vector<double> expected;
  for (int h = 1; h <= 8; ++h) expected.push_back(std::exp2(-h));
  for (int h = 0; h < 4; ++h) expected.push_back(std::exp2(-0.5 - h));
  EXPECT_EQ(Slopes(12), expected);
  EXPECT_EQ(Slopes(3), (std::vector<double>{1.0 / 16, 1.0 / 256, 1.0 / 4}));
}

TEST(AlibiTest, FartherTokensLoseMoreInProportionToTheDistance) {
  const at::Tensor biases = Biases(2);
  const int positions[] = {0, 1, 5, 12};
  for (int h = 0; h < 2; ++h) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) {
        EXPECT_EQ(biases[h][i][j].item<double>(),
                  -std::exp2(-4.0 * (h + 1)) * (positions[i] - positions[j]));
      }
    }
  }
}

TEST(AlibiTest, BothSidesLoseAlike) {
  const at::Tensor biases = Biases(2, /*causal=*/false);
  EXPECT_EQ(MaxDifference(biases, biases.transpose(1, 2)), 0.0);
  EXPECT_LT(biases[0][0][3].item<double>(), 0.0);
}

}  // namespace
}  // namespace ordo::model::encodings
