#include "model/encodings/tape_mixing.h"

#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

// Legend: B batch, H heads, T tokens, N size of the mixed axis, E inner width.

namespace ordo::model::encodings {
namespace {

using model::testing::MaxDifference;
using model::testing::Normals;
using model::testing::SameBits;

constexpr int kB = 2, kH = 3, kT = 4;

struct Case {
  std::string name;
  MixAxis axis;
  // Inner width at which two steps cost less than one matrix, and one at which
  // it is the other way round; 0: there is none.
  int64_t two_steps = 0;
  int64_t one_matrix = 0;
};

std::vector<Case> Cases() {
  return {
      {"heads", {true, 1, 1, 10}, 1, 20},
      {"rows of blocks", {false, 5, 2, 3}, 0, 7},
      {"heads and channels", {true, 2, 6, 1}, 8, 0},
      {"channels", {false, 2, 6, 1}, 1, 30},
  };
}

at::Tensor State(const MixAxis& axis) {
  return Normals({kB, kH, kT, axis.outer * axis.size * axis.inner}, "state");
}

// Row, token, number on the mixed axis, and place of everything else.
struct Place {
  int b;
  int t;
  int64_t n;
  int64_t r;
};

// The value of the mixed axis at n, for the place r of everything else.
double At(const MixAxis& axis, const at::Tensor& state, const Place& place) {
  auto [b, t, n, r] = place;
  int64_t head = 0;
  if (axis.across_heads) {
    head = n / axis.size;
    n %= axis.size;
  } else {
    head = r / (axis.outer * axis.inner);
    r %= axis.outer * axis.inner;
  }
  const int64_t outer = r / axis.inner, inner = r % axis.inner;
  return state[b][head][t][(outer * axis.size + n) * axis.inner + inner]
      .item<double>();
}

int64_t Rest(const MixAxis& axis) {
  return axis.outer * axis.inner * (axis.across_heads ? 1 : kH);
}

// Largest difference of `actual` from the state and map(b, t) times it.
template <typename Map>
double Error(const MixAxis& axis, const at::Tensor& actual, const Map& map) {
  const at::Tensor state = State(axis);
  const int64_t size = axis.mixed(kH);
  double worst = 0.0;
  for (int b = 0; b < kB; ++b) {
    for (int t = 0; t < kT; ++t) {
      for (int64_t r = 0; r < Rest(axis); ++r) {
        for (int64_t n = 0; n < size; ++n) {
          double expected = At(axis, state, {b, t, n, r});
          for (int64_t m = 0; m < size; ++m) {
            expected += map(b, t, n, m) * At(axis, state, {b, t, m, r});
          }
          worst = std::max(worst,
                           std::abs(expected - At(axis, actual, {b, t, n, r})));
        }
      }
    }
  }
  return worst;
}

TEST(TapeMixingTest, RowsGoBackToTheState) {
  for (const Case& c : Cases()) {
    const at::Tensor state = State(c.axis);
    const at::Tensor rows = ToRows(c.axis, state);
    EXPECT_EQ(rows.size(0), kB * kT);
    EXPECT_EQ(rows.size(1), c.axis.mixed(kH));
    EXPECT_TRUE(SameBits(FromRows(c.axis, rows, state), state)) << c.name;
  }
}

TEST(TapeMixingTest, OneMapMixesItsAxisAndNothingElse) {
  for (const Case& c : Cases()) {
    const int64_t size = c.axis.mixed(kH);
    const at::Tensor g = Normals({size, size}, "g");
    // What is mixed is not what it is added to.
    const at::Tensor twice = State(c.axis) * 2;
    const at::Tensor mixed =
        ChangeByOne(c.axis, g, State(c.axis), twice) - State(c.axis);
    EXPECT_LT(Error(c.axis, mixed,
                    [&](int, int, int64_t n, int64_t m) {
                      return g[n][m].item<double>();
                    }),
              1e-12)
        << c.name;
  }
}

void CheckByToken(const Case& c, int64_t inner) {
  const int64_t size = c.axis.mixed(kH);
  const MixMlp mlp{Normals({inner, size}, "w1"), Normals({size, inner}, "w2")};
  const at::Tensor psi = Normals({kB, kT, inner}, "psi");
  const at::Tensor mixed = ChangeByToken(c.axis, mlp, psi, State(c.axis));
  const double error =
      Error(c.axis, mixed, [&](int b, int t, int64_t n, int64_t m) {
        double sum = 0.0;
        for (int64_t e = 0; e < inner; ++e) {
          sum += mlp.out_NE[n][e].item<double>() * psi[b][t][e].item<double>() *
                 mlp.in_EN[e][m].item<double>();
        }
        return sum;
      });
  EXPECT_LT(error, 1e-11) << c.name << ", inner width " << inner;
}

TEST(TapeMixingTest, EachTokenHasItsOwnMap) {
  for (const Case& c : Cases()) {
    for (const int64_t inner : {c.two_steps, c.one_matrix}) {
      if (inner == 0) continue;
      const int64_t size = c.axis.mixed(kH), rest = Rest(c.axis);
      EXPECT_EQ(size * (inner + rest) <= 2 * inner * rest,
                inner == c.one_matrix)
          << c.name;
      CheckByToken(c, inner);
    }
  }
}

}  // namespace
}  // namespace ordo::model::encodings
