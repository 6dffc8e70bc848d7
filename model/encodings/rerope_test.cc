#include <algorithm>
#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/ops/zeros.h"
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
using testing::Probe;
using testing::RandomAttention;

constexpr int64_t kWidth = 4;

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  return Probe(FromText(yaml), {1, kWidth, 1}).Scores(attention);
}

// q turned by `distance` against k, over sqrt(d), pair by pair.
double Logit(const at::Tensor& q, const at::Tensor& k, double distance) {
  double sum = 0.0;
  for (int64_t f = 0; f < kWidth / 2; ++f) {
    const double angle =
        distance * std::pow(10000.0, -2.0 * static_cast<double>(f) / kWidth);
    const auto at = [&](const at::Tensor& x, int64_t channel) {
      return x[channel].item<double>();
    };
    const double q0 = at(q, f), q1 = at(q, f + kWidth / 2);
    const double k0 = at(k, f), k1 = at(k, f + kWidth / 2);
    sum += (q0 * std::cos(angle) - q1 * std::sin(angle)) * k0 +
           (q0 * std::sin(angle) + q1 * std::cos(angle)) * k1;
  }
  return sum / std::sqrt(static_cast<double>(kWidth));
}

// `clipped` says what distance i - j counts as.
template <typename Clipped>
at::Tensor Expected(const Attention& attention, const Clipped& clipped) {
  const int64_t length = attention.q_BHTD.size(2);
  at::Tensor scores = at::zeros({1, 1, length, length}, at::kDouble);
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      const auto place = [&](int64_t token) {
        return attention.positions_BT.defined()
                   ? attention.positions_BT[0][token].item<double>()
                   : static_cast<double>(token);
      };
      scores[0][0][i][j] =
          Logit(attention.q_BHTD[0][0][i], attention.k_BHTD[0][0][j],
                clipped(place(i) - place(j)));
    }
  }
  return scores;
}

at::Tensor Lower(const at::Tensor& scores) { return scores.tril(); }

TEST(ReRopeTest, DistancesStayAtTheWindow) {
  const Attention attention = RandomAttention(1, 1, 9, kWidth);
  const at::Tensor expected =
      Expected(attention, [](double d) { return d < 3 ? d : 3.0; });
  EXPECT_LT(MaxDifference(
                Lower(Scores("{name: rerope, params: {window: 3}}", attention)),
                Lower(expected)),
            1e-13);
}

TEST(ReRopeTest, LeakyDistancesGrowSlower) {
  Attention attention = RandomAttention(1, 1, 9, kWidth);
  attention.positions_BT = Longs({1, 9}, {0, 1, 2, 3, 4, 5, 90, 91, 400});
  const at::Tensor expected = Expected(
      attention, [](double d) { return d < 3 ? d : 3.0 + (d - 3.0) / 5.0; });
  EXPECT_LT(MaxDifference(
                Lower(Scores("{name: leaky_rerope, params: {window: 3, leak: "
                             "5}}",
                             attention)),
                Lower(expected)),
            1e-12);
}

TEST(ReRopeTest, KeysAfterTheQueryAreClippedTheSameWay) {
  Attention attention = RandomAttention(1, 1, 9, kWidth);
  attention.causal = false;
  EXPECT_LT(
      MaxDifference(
          Scores("{name: rerope, params: {window: 3}}", attention),
          Expected(attention,
                   [](double d) { return std::min(std::max(d, -3.0), 3.0); })),
      1e-13);
  EXPECT_LT(MaxDifference(
                Scores("{name: leaky_rerope, params: {window: 3, leak: 5}}",
                       attention),
                Expected(attention,
                         [](double d) {
                           const double size = std::abs(d);
                           if (size < 3) return d;
                           return std::copysign(3.0 + (size - 3.0) / 5.0, d);
                         })),
            1e-13);
}

TEST(ReRopeTest, AWindowOfTheLengthIsRope) {
  const Attention attention = RandomAttention(1, 1, 9, kWidth);
  const at::Tensor rope = Scores("{name: rope}", attention);
  EXPECT_LT(MaxDifference(
                Lower(Scores("{name: rerope, params: {window: 9}}", attention)),
                Lower(rope)),
            1e-14);
  EXPECT_GT(MaxDifference(
                Lower(Scores("{name: rerope, params: {window: 7}}", attention)),
                Lower(rope)),
            1e-3);
}

TEST(ReRopeTest, WithoutALeakingFactorItIsRope) {
  const Attention attention = RandomAttention(1, 1, 9, kWidth);
  EXPECT_LT(
      MaxDifference(Lower(Scores("{name: leaky_rerope, params: {window: 2, "
                                 "leak: 1}}",
                                 attention)),
                    Lower(Scores("{name: rope}", attention))),
      1e-13);
}

TEST(ReRopeTest, AGreatLeakIsReRope) {
  const Attention attention = RandomAttention(1, 1, 9, kWidth);
  EXPECT_LT(
      MaxDifference(
          Lower(Scores("{name: leaky_rerope, params: {window: 2, "
                       "leak: 1000000}}",
                       attention)),
          Lower(Scores("{name: rerope, params: {window: 2}}", attention))),
      1e-4);
}

// A token far out: the angle is that of the window whatever the position.
TEST(ReRopeTest, FarOutNothingIsLost) {
  Attention attention = RandomAttention(1, 1, 2, kWidth);
  attention.positions_BT = Longs({1, 2}, {0, 5});
  const at::Tensor near =
      Scores("{name: rerope, params: {window: 4}}", attention)[0][0][1][0];
  attention.positions_BT = Longs({1, 2}, {0, 1 << 30});
  EXPECT_LT(MaxDifference(near, Scores("{name: rerope, params: {window: 4}}",
                                       attention)[0][0][1][0]),
            1e-15);
}

}  // namespace
}  // namespace ordo::model::encodings
