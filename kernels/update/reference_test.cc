#include "kernels/update/reference.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"

namespace ordo::kernels::update {
namespace {

using Member = std::vector<double> Tensors::*;

Tensors Random(const Problem& p) {
  const auto normals = [](int64_t count, const std::string& name) {
    return kernels::check::Normals(count, name, Type::kFloat32);
  };
  const int64_t state = p.batch * p.heads * p.tokens * p.width;
  Tensors x;
  x.x_BHTW = normals(state, "x");
  x.d_out_BHTW = normals(state, "d_out");
  if (p.by_token()) {
    x.in_EH = normals(p.inner * p.heads, "in");
    x.out_HE = normals(p.inner * p.heads, "out");
    x.psi_BTE = normals(p.batch * p.tokens * p.inner, "psi");
  } else {
    x.base_BHTW = normals(state, "base");
    x.mix_HH = normals(p.heads * p.heads, "mix");
  }
  return x;
}

// The sum of out times d_out.
double Loss(const Problem& p, Tensors x) {
  ReferenceForward(p, &x);
  double sum = 0;
  for (size_t i = 0; i < x.out_BHTW.size(); ++i) {
    sum += x.out_BHTW[i] * x.d_out_BHTW[i];
  }
  return sum;
}

TEST(UpdateReferenceTest, GradientsAreDifferencesOfTheFormula) {
  // What is added to `out` has its gradient.
  const std::vector<std::pair<Member, Member>> pairs = {
      {&Tensors::base_BHTW, &Tensors::d_out_BHTW},
      {&Tensors::x_BHTW, &Tensors::d_x_BHTW},
      {&Tensors::mix_HH, &Tensors::d_mix_HH},
      {&Tensors::in_EH, &Tensors::d_in_EH},
      {&Tensors::out_HE, &Tensors::d_out_HE},
      {&Tensors::psi_BTE, &Tensors::d_psi_BTE}};
  for (const int64_t inner : {0, 3}) {
    const Problem p{2, 3, 2, 4, inner};
    Tensors x = Random(p);
    ReferenceForward(p, &x);
    ReferenceBackward(p, &x);
    for (const auto& [value, gradient] : pairs) {
      for (size_t i = 0; i < (x.*value).size(); ++i) {
        Tensors more = x, less = x;
        (more.*value)[i] += 1e-4;
        (less.*value)[i] -= 1e-4;
        EXPECT_NEAR((x.*gradient)[i], (Loss(p, more) - Loss(p, less)) / 2e-4,
                    1e-7);
      }
    }
  }
}

// Two heads of one token, by hand.
TEST(UpdateReferenceTest, HeadsGoThroughTheMap) {
  Tensors one;
  one.base_BHTW = {10, 20};
  one.x_BHTW = {1, 2};
  one.mix_HH = {3, 4, 5, 6};
  ReferenceForward({1, 2, 1, 1, 0}, &one);
  EXPECT_EQ(one.out_BHTW, (std::vector<double>{10 + 11, 20 + 17}));

  Tensors by_token;
  by_token.x_BHTW = {1, 2};
  by_token.in_EH = {3, 4};
  by_token.out_HE = {5, 6};
  by_token.psi_BTE = {7};
  ReferenceForward({1, 2, 1, 1, 1}, &by_token);
  EXPECT_EQ(by_token.out_BHTW,
            (std::vector<double>{1 + 5 * 7 * 11, 2 + 6 * 7 * 11}));
}

}  // namespace
}  // namespace ordo::kernels::update
