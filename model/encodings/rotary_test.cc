#include "model/encodings/rotary.h"

#include <cmath>
#include <complex>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using testing::Doubles;
using testing::GradientError;
using testing::Longs;
using testing::MaxDifference;
using testing::Normals;

RotaryOptions Options(int64_t channels,
                      PairLayout layout = PairLayout::kHalfSplit) {
  RotaryOptions options;
  options.channels = channels;
  options.layout = layout;
  return options;
}

TEST(RotaryTest, FrequenciesFallGeometrically) {
  const std::vector<double> frequencies = RotaryFrequencies(Options(8));
  ASSERT_EQ(frequencies.size(), 4u);
  EXPECT_DOUBLE_EQ(frequencies[0], 1.0);
  EXPECT_DOUBLE_EQ(frequencies[1], 0.1);
  EXPECT_DOUBLE_EQ(frequencies[2], 0.01);
  EXPECT_DOUBLE_EQ(frequencies[3], 0.001);
}

TEST(RotaryTest, TheTableHoldsCosinesThenSines) {
  const at::Tensor table =
      RotaryTable(Options(4), Longs({1, 2}, {0, 3}), at::kDouble);
  EXPECT_EQ(table.sizes(), (std::vector<int64_t>{1, 1, 2, 4}));
  EXPECT_LT(
      MaxDifference(table.flatten(),
                    Doubles({8}, {1, 1, 0, 0, std::cos(3.0), std::cos(0.03),
                                  std::sin(3.0), std::sin(0.03)})),
      1e-15);
}

// In fp32 the angle itself would be off by 4e-3 here.
TEST(RotaryTest, AnglesFarOutAreExactInSinglePrecision) {
  const int64_t far = 131071;
  const at::Tensor table =
      RotaryTable(Options(64), Longs({1, 1}, {far}), at::kFloat);
  const double angle = far * std::pow(10000.0, -2.0 * 3 / 64);
  EXPECT_NEAR(table.flatten()[3].item<double>(), std::cos(angle), 1e-7);
}

TEST(RotaryTest, PairsMultiplyAsComplexNumbers) {
  const std::complex<double> turn0(0.3, -0.7), turn1(-1.1, 0.2);
  const at::Tensor table = Doubles(
      {1, 1, 1, 4}, {turn0.real(), turn1.real(), turn0.imag(), turn1.imag()});
  const std::complex<double> a = std::complex<double>(1, 3) * turn0;
  const std::complex<double> b = std::complex<double>(2, 4) * turn1;
  const at::Tensor expected =
      Doubles({1, 1, 1, 4}, {a.real(), b.real(), a.imag(), b.imag()});
  EXPECT_LT(MaxDifference(
                Rotate(Options(4), table, Doubles({1, 1, 1, 4}, {1, 2, 3, 4})),
                expected),
            1e-15);
  EXPECT_LT(MaxDifference(Rotate(Options(4, PairLayout::kInterleaved), table,
                                 Doubles({1, 1, 1, 4}, {1, 3, 2, 4})),
                          expected),
            1e-15);
}

TEST(RotaryTest, TheOtherChannelsStay) {
  const at::Tensor x = Normals({1, 2, 3, 6}, "x");
  const at::Tensor table =
      RotaryTable(Options(4), Longs({1, 3}, {5, 6, 7}), at::kDouble);
  const at::Tensor y = Rotate(Options(4), table, x);
  EXPECT_EQ(MaxDifference(y.narrow(-1, 4, 2), x.narrow(-1, 4, 2)), 0.0);
  EXPECT_GT(MaxDifference(y.narrow(-1, 0, 4), x.narrow(-1, 0, 4)), 0.1);
}

TEST(RotaryTest, WithoutChannelsNothingTurns) {
  const at::Tensor x = Normals({1, 2, 3, 6}, "x");
  const at::Tensor table =
      RotaryTable(Options(0), Longs({1, 3}, {5, 6, 7}), at::kDouble);
  EXPECT_EQ(MaxDifference(Rotate(Options(0), table, x), x), 0.0);
}

TEST(RotaryTest, HalfPrecisionIsTurnedInTheTablesPrecision) {
  const at::Tensor x = Normals({1, 1, 1, 4}, "x").to(at::kBFloat16);
  const at::Tensor table =
      RotaryTable(Options(4), Longs({1, 1}, {1000}), at::kFloat);
  const at::Tensor y = Rotate(Options(4), table, x);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(
      MaxDifference(
          y, Rotate(Options(4), table, x.to(at::kFloat)).to(at::kBFloat16)),
      0.0);
}

TEST(RotaryTest, GradientsReachXAndTable) {
  const auto loss = [](const std::vector<at::Tensor>& in) {
    return (Rotate(Options(4), in[0], in[1]) * Normals({2, 2, 3, 6}, "g"))
        .sum();
  };
  EXPECT_LT(GradientError(
                loss, {Normals({2, 2, 3, 4}, "t"), Normals({2, 2, 3, 6}, "x")}),
            1e-7);
}

TEST(RotaryTest, TheAttentionFactorScalesTheTable) {
  Rotation rotation{{1.0, 0.1}, 3.0};
  const at::Tensor positions = Longs({1, 2}, {0, 7});
  const at::Tensor table = RotaryTable(rotation, positions, at::kDouble);
  rotation.attention_factor = 1.0;
  EXPECT_LT(
      MaxDifference(table, RotaryTable(rotation, positions, at::kDouble) * 3.0),
      1e-15);
}

TEST(RotaryTest, RowsMayTurnByTheirOwnFrequencies) {
  const std::vector<Rotation> rotations = {{{1.0}, 1.0}, {{0.5}, 2.0}};
  // Positions of all rows, then of each.
  for (const at::Tensor& positions :
       {Longs({1, 2}, {4, 6}), Longs({2, 2}, {4, 6, 4, 6})}) {
    EXPECT_LT(
        MaxDifference(
            RotaryTable(rotations, positions, at::kDouble).flatten(),
            Doubles({8}, {std::cos(4.0), std::sin(4.0), std::cos(6.0),
                          std::sin(6.0), 2 * std::cos(2.0), 2 * std::sin(2.0),
                          2 * std::cos(3.0), 2 * std::sin(3.0)})),
        1e-15);
  }
}

TEST(RotaryTest, LengthsAreOfWhatAnyQuerySees) {
  Pass pass;
  pass.positions_BS = Longs({1, 4}, {0, 9, 3, 50});
  pass.seen_BS = Longs({1, 4}, {1, 1, 1, 0}).to(at::kBool);
  EXPECT_EQ(VisibleLengths(pass), (std::vector<int64_t>{10}));
  pass.seen_BS = Longs({2, 4}, {1, 0, 1, 0, 0, 0, 0, 0}).to(at::kBool);
  EXPECT_EQ(VisibleLengths(pass), (std::vector<int64_t>{4, 1}));
  pass.positions_BS = Longs({2, 4}, {0, 1, 2, 3, 0, 1, 2, 8});
  pass.seen_BS = at::Tensor();
  EXPECT_EQ(VisibleLengths(pass), (std::vector<int64_t>{4, 9}));
}

}  // namespace
}  // namespace ordo::model::encodings
