#include "model/encodings/rows.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using testing::Doubles;
using testing::Longs;
using testing::Normals;

TEST(RowsTest, EachPairTakesItsRow) {
  const at::Tensor of_row = Normals({2, 3, 2, 5}, "rows");
  const at::Tensor row = Longs({1, 1, 2, 3}, {4, 0, 2, 1, 1, 3});
  const at::Tensor taken = TakeRows(of_row, row);
  ASSERT_EQ(taken.sizes(), (std::vector<int64_t>{2, 3, 2, 3}));
  for (int t = 0; t < 2; ++t) {
    for (int s = 0; s < 3; ++s) {
      EXPECT_EQ(
          taken[1][2][t][s].item<double>(),
          of_row[1][2][t][row[0][0][t][s].item<int64_t>()].item<double>());
    }
  }
}

TEST(RowsTest, WavesOfDistancesAreProductsOfThoseOfTheEnds) {
  const at::Tensor frequencies = Doubles({3}, {1.0, 0.3, 0.01});
  const at::Tensor queries = Longs({2, 2}, {4, 9, 0, 77});
  const at::Tensor keys = Longs({2, 3}, {1, 30, 9, 5, 6, 400});
  const at::Tensor x = Normals({2, 2, 2, 6}, "x");
  const at::Tensor dot =
      DotWavesOfDistance(x, WavesOf(queries, frequencies, at::kDouble),
                         WavesOf(keys, frequencies, at::kDouble));
  for (int b = 0; b < 2; ++b) {
    for (int t = 0; t < 2; ++t) {
      for (int s = 0; s < 3; ++s) {
        const double distance = (queries[b][t] - keys[b][s]).item<double>();
        double expected = 0.0;
        for (int f = 0; f < 3; ++f) {
          const double angle = distance * frequencies[f].item<double>();
          expected += x[b][1][t][f].item<double>() * std::sin(angle) +
                      x[b][1][t][f + 3].item<double>() * std::cos(angle);
        }
        EXPECT_NEAR(dot[b][1][t][s].item<double>(), expected, 1e-12);
      }
    }
  }
}

// In fp32 an angle of a million radians would be off by 0.06.
TEST(RowsTest, AnglesAreComputedInDouble) {
  const Waves waves =
      WavesOf(Longs({1, 1}, {1000003}), Doubles({1}, {0.7}), at::kFloat);
  EXPECT_NEAR(waves.sin.item<float>(), std::sin(1000003 * 0.7), 1e-7);
  EXPECT_NEAR(waves.cos.item<float>(), std::cos(1000003 * 0.7), 1e-7);
}

}  // namespace
}  // namespace ordo::model::encodings
