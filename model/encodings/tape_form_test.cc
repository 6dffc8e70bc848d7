#include "model/encodings/tape_form.h"

#include <cmath>
#include <complex>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

// Legend: B batch, H heads, T tokens, D head width, R turning channels, P
// pairs.

namespace ordo::model::encodings {
namespace {

using model::testing::MaxDifference;
using model::testing::Normals;
using Complex = std::complex<double>;

constexpr int kH = 2, kT = 3, kD = 12;

RotaryOptions Channels(int64_t channels,
                       PairLayout layout = PairLayout::kHalfSplit) {
  RotaryOptions options;
  options.channels = channels;
  options.layout = layout;
  return options;
}

double At(const at::Tensor& x, int h, int t, int64_t c) {
  return x[0][h][t][c].item<double>();
}

// A head, and the tokens of its query and its key.
struct Pair {
  int h;
  int t;
  int u;
};

// Sum over c of q_c k_c.
double Dot(const at::Tensor& q, const at::Tensor& k, const Pair& at) {
  return (q[0][at.h][at.t] * k[0][at.h][at.u]).sum().item<double>();
}

at::Tensor Heads(int64_t width, const std::string& name) {
  return Normals({1, kH, kT, width}, name);
}

// Equation 6 by definition: Re sum_f (q_f e_f) conj(k_f e'_f), and the plain
// product of the channels that stay.
double ComplexLogit(const RotaryOptions& options, const at::Tensor& table,
                    const Pair& pair) {
  const auto& [head, t, u] = pair;
  const int h = head;
  const at::Tensor q = Heads(kD, "q"), k = Heads(kD, "k");
  const int64_t pairs = options.channels / 2;
  const bool halves = options.layout == PairLayout::kHalfSplit;
  const auto number = [&](const at::Tensor& x, int token, int64_t f) {
    return Complex(At(x, h, token, halves ? f : 2 * f),
                   At(x, h, token, halves ? f + pairs : 2 * f + 1));
  };
  const auto state = [&](int token, int64_t f) {
    return Complex(At(table, h, token, f), At(table, h, token, f + pairs));
  };
  double sum = 0.0;
  for (int64_t f = 0; f < pairs; ++f) {
    sum += std::real(number(q, t, f) * state(t, f) *
                     std::conj(number(k, u, f) * state(u, f)));
  }
  for (int64_t c = options.channels; c < kD; ++c) {
    sum += At(q, h, t, c) * At(k, h, u, c);
  }
  return sum;
}

// All three forms are the same where the state is complex numbers.
TEST(TapeFormTest, EveryFormOfComplexNumbersGivesEquationSix) {
  for (const int64_t channels : {kD, 8}) {
    for (const PairLayout layout :
         {PairLayout::kHalfSplit, PairLayout::kInterleaved}) {
      const RotaryOptions options = Channels(channels, layout);
      const at::Tensor table = Heads(channels, "table");
      for (const auto& form :
           {MakeComplexForm(options), MakeHalvesForm(options),
            MakeBlockForm(options, {2, 2})}) {
        EXPECT_EQ(form->pairs(), channels / 2);
        const at::Tensor state = form->FromComplex(table);
        ASSERT_EQ(state.size(-1), form->width());
        const at::Tensor q = form->Turn(state, Heads(kD, "q"));
        const at::Tensor k = form->Turn(state, Heads(kD, "k"));
        EXPECT_EQ(form->query_factor(kD), 1.0);
        EXPECT_NEAR(Dot(q, k, {1, 2, 0}),
                    ComplexLogit(options, table, {1, 2, 0}), 1e-12);
        EXPECT_NEAR(Dot(q, k, {0, 0, 1}),
                    ComplexLogit(options, table, {0, 0, 1}), 1e-12);
      }
    }
  }
}

// q cos + (-q2, q1) sin, a cosine and a sine for each channel.
TEST(TapeFormTest, UntiedHalvesTurnEachChannelByItsOwn) {
  const auto form = MakeHalvesForm(Channels(kD));
  const at::Tensor state = Heads(2 * kD, "state"), q = Heads(kD, "q");
  const at::Tensor turned = form->Turn(state, q);
  const int64_t pairs = kD / 2;
  for (int64_t c = 0; c < kD; ++c) {
    const double other =
        c < pairs ? -At(q, 1, 2, c + pairs) : At(q, 1, 2, c - pairs);
    EXPECT_NEAR(
        At(turned, 1, 2, c),
        At(q, 1, 2, c) * At(state, 1, 2, c) + other * At(state, 1, 2, kD + c),
        1e-14);
  }
}

// sum over blocks b of q_b^T E E'^T k_b, for any L and D.
TEST(TapeFormTest, BlocksGiveTheGeneralEquationSix) {
  for (const PairLayout layout :
       {PairLayout::kHalfSplit, PairLayout::kInterleaved}) {
    for (const TapeBlock& block :
         {TapeBlock{3, 4}, TapeBlock{2, 3}, TapeBlock{1, 2}, TapeBlock{4, 1}}) {
      const auto form = MakeBlockForm(Channels(kD, layout), block);
      const int64_t blocks = kD / block.rows;
      const at::Tensor state = Heads(form->width(), "state");
      const at::Tensor q = Heads(kD, "q"), k = Heads(kD, "k");
      const auto channel = [&](const at::Tensor& x, int t, int64_t b,
                               int64_t l) {
        return At(x, 1, t,
                  layout == PairLayout::kHalfSplit ? l * blocks + b
                                                   : b * block.rows + l);
      };
      const auto entry = [&](int t, int64_t b, int64_t l, int64_t d) {
        return At(state, 1, t, (b * block.rows + l) * block.columns + d);
      };
      double expected = 0.0;
      for (int64_t b = 0; b < blocks; ++b) {
        for (int64_t l = 0; l < block.rows; ++l) {
          for (int64_t m = 0; m < block.rows; ++m) {
            for (int64_t d = 0; d < block.columns; ++d) {
              expected += channel(q, 2, b, l) * entry(2, b, l, d) *
                          entry(0, b, m, d) * channel(k, 0, b, m);
            }
          }
        }
      }
      const at::Tensor turned_q = form->Turn(state, q);
      EXPECT_NEAR(Dot(turned_q, form->Turn(state, k), {1, 2, 0}), expected,
                  1e-12);
      // The product is divided by the root of its own width.
      EXPECT_NEAR(form->query_factor(kD) /
                      std::sqrt(static_cast<double>(turned_q.size(-1))),
                  1.0 / std::sqrt(kD), 1e-14);
    }
  }
}

TEST(TapeFormTest, ChannelsThatStayCountInTheQueryFactor) {
  const auto form = MakeBlockForm(Channels(8), {2, 6});
  EXPECT_NEAR(form->query_factor(12), std::sqrt((4 + 24) / 12.0), 1e-14);
}

// Row l of [Re, Im] of e exp(i pi l / L), scaled so that every row of a unit
// state has length 1.
TEST(TapeFormTest, BlocksOfComplexNumbersHaveTurnedRows) {
  const TapeBlock block{3, 4};
  const auto form = MakeBlockForm(Channels(kD), block);
  const int64_t pairs = form->pairs();
  EXPECT_EQ(pairs, 8);
  const at::Tensor angle = Normals({pairs}, "angle");
  const at::Tensor table =
      at::cat({angle.cos(), angle.sin()}).view({1, 1, 1, 2 * pairs});
  const at::Tensor state = form->FromComplex(table);
  ASSERT_EQ(state.numel(), 4 * 3 * 4);
  for (int64_t b = 0; b < 4; ++b) {
    for (int64_t l = 0; l < 3; ++l) {
      double square = 0.0;
      for (int64_t p = 0; p < 2; ++p) {
        const double turned =
            angle[b * 2 + p].item<double>() +
            3.14159265358979323846 * static_cast<double>(l) / 3.0;
        const int64_t at = (b * 3 + l) * 4 + 2 * p;
        EXPECT_NEAR(At(state, 0, 0, at), std::sqrt(0.5) * std::cos(turned),
                    1e-14);
        EXPECT_NEAR(At(state, 0, 0, at + 1), std::sqrt(0.5) * std::sin(turned),
                    1e-14);
        square += std::pow(At(state, 0, 0, at), 2) +
                  std::pow(At(state, 0, 0, at + 1), 2);
      }
      EXPECT_NEAR(square, 1.0, 1e-14);
    }
  }
}

// [[c, s], [-s, c]] in this order: the transpose would turn backwards.
TEST(TapeFormTest, TwoByTwoIsTheRotationOfThePaper) {
  const auto form = MakeBlockForm(Channels(2), {2, 2});
  const at::Tensor state = form->FromComplex(
      model::testing::Doubles({1, 1, 1, 2}, {std::cos(0.3), std::sin(0.3)}));
  EXPECT_LT(
      MaxDifference(state.flatten(), model::testing::Doubles(
                                         {4}, {std::cos(0.3), std::sin(0.3),
                                               -std::sin(0.3), std::cos(0.3)})),
      1e-15);
}

// On average, rows of a block, or complex numbers, of length 1.
TEST(TapeFormTest, UnitStdKeepsTheSizeOfAQuery) {
  EXPECT_DOUBLE_EQ(MakeComplexForm(Channels(8))->unit_std(), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(MakeHalvesForm(Channels(8))->unit_std(), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(MakeBlockForm(Channels(8), {2, 4})->unit_std(), 0.5);
}

}  // namespace
}  // namespace ordo::model::encodings
