#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/ops/zeros.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using model::testing::MaxDifference;
using testing::Attention;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;
using testing::RandomAttention;

constexpr int64_t kWidth = 6;

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  return Probe(FromText(yaml), {1, kWidth, 1}).Scores(attention);
}

// Equation 17 of the paper: each pair's product turns and decays with the
// distance.
at::Tensor Expected(const Attention& attention, double scale_base) {
  const int64_t length = attention.q_BHTD.size(2), pairs = kWidth / 2;
  at::Tensor scores = at::zeros({1, 1, length, length}, at::kDouble);
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      const auto q = attention.q_BHTD[0][0][i], k = attention.k_BHTD[0][0][j];
      const double distance = static_cast<double>(i - j);
      double sum = 0.0;
      for (int64_t f = 0; f < pairs; ++f) {
        const double width = kWidth, order = 2.0 * static_cast<double>(f);
        const double angle = distance * std::pow(10000.0, -order / width);
        const double zeta = (order + 0.4 * width) / (1.4 * width);
        const double q0 = q[f].item<double>(), q1 = q[f + pairs].item<double>();
        const double k0 = k[f].item<double>(), k1 = k[f + pairs].item<double>();
        sum += std::pow(zeta, distance / scale_base) *
               ((q0 * std::cos(angle) - q1 * std::sin(angle)) * k0 +
                (q0 * std::sin(angle) + q1 * std::cos(angle)) * k1);
      }
      scores[0][0][i][j] = sum / std::sqrt(static_cast<double>(kWidth));
    }
  }
  return scores;
}

TEST(XposTest, ProductsDecayWithTheDistance) {
  const Attention attention = RandomAttention(1, 1, 7, kWidth);
  EXPECT_LT(
      MaxDifference(Scores("{name: xpos, params: {scale_base: 3}}", attention),
                    Expected(attention, 3)),
      1e-12);
  EXPECT_LT(MaxDifference(Scores("{name: xpos}", attention),
                          Expected(attention, 512)),
            1e-13);
}

TEST(XposTest, TheCentreCancels) {
  const Attention attention = RandomAttention(1, 1, 7, kWidth);
  EXPECT_LT(
      MaxDifference(
          Scores("{name: xpos, params: {scale_base: 3, centre: 5}}", attention),
          Expected(attention, 3)),
      1e-12);
}

TEST(XposTest, WithAGreatScaleBaseItIsRope) {
  const Attention attention = RandomAttention(1, 1, 7, kWidth);
  EXPECT_LT(MaxDifference(Scores("{name: xpos, params: {scale_base: 1000000}}",
                                 attention),
                          Scores("{name: rope}", attention)),
            1e-4);
}

// In fp32, at the last position that has room and at the first that has not.
TEST(XposTest, FactorsStayWithinSinglePrecisionUpToTheLimit) {
  const Probe probe(FromText("{name: xpos}"), {1, kWidth, 1});
  const at::Tensor x = at::zeros({1, 2, kWidth}, at::kFloat);
  Pass pass;
  pass.positions_BT = pass.positions_BS = Longs({1, 2}, {34329, 34330});
  for (const at::Tensor& table : probe.encoding().Start(x, pass).tensors) {
    EXPECT_TRUE(table.isfinite().all().item<bool>());
    // Normal numbers, with room to multiply.
    EXPECT_TRUE((table * 50).isfinite().all().item<bool>());
    EXPECT_GT(table.narrow(2, 0, 1).abs().max().item<float>(), 1e-37f);
  }
  pass.positions_BT = pass.positions_BS = Longs({1, 2}, {34330, 34331});
  try {
    probe.encoding().Start(x, pass);
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("34331"));
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("scale_base"));
  }
}

}  // namespace
}  // namespace ordo::model::encodings
