// The one numeric test of the kernels for the change of a state: table x
// problems.

#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/check/numbers.h"
#include "kernels/update/reference.h"
#include "kernels/update/table.h"

namespace ordo::kernels::update {
namespace {

using kernels::check::Distance;
using kernels::check::Epsilon;
using kernels::check::Guarded;
using kernels::check::Largest;
using kernels::check::Normals;
using kernels::check::Rounded;
using kernels::check::TestResources;

struct Case {
  std::string label;
  Problem problem;
  // Of the state, and of what else has a type.
  Type type = Type::kFloat32;
  Type other = Type::kFloat32;
  // Whether a token's heads lie side by side.
  bool by_tokens = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.label; }

std::vector<Case> Cases() {
  const std::vector<std::pair<std::string, Problem>> shapes = {
      {"usual", {1, 12, 33, 64, 48}}, {"one", {1, 1, 1, 1, 1}},
      {"tails", {1, 3, 5, 7, 9}},     {"many_heads", {1, 33, 3, 20, 5}},
      {"wide", {1, 4, 2, 130, 16}},   {"blocks", {3, 2, 31, 16, 130}},
      {"long", {1, 2, 1100, 4, 3}},
  };
  std::vector<Case> cases;
  for (const auto& [label, shape] : shapes) {
    for (const bool by_token : {false, true}) {
      Case c{label + (by_token ? "_by_token" : ""), shape};
      if (!by_token) c.problem.inner = 0;
      cases.push_back(c);
      c.by_tokens = true;
      c.type = c.other = Type::kBfloat16;
      cases.push_back(c);
      cases.back().label += "_bf16";
      c.type = Type::kFloat32;
      cases.push_back(c);
      cases.back().label += "_mixed";
    }
  }
  return cases;
}

int64_t StateSize(const Problem& p) {
  return p.batch * p.heads * p.tokens * p.width;
}

Tensors MakeTensors(const Case& c) {
  const Problem& p = c.problem;
  Tensors x;
  const auto state = [&](const std::string& name, Type type) {
    return Normals(StateSize(p), name, type);
  };
  // By token, x is the state.
  x.x_BHTW = state("x", p.by_token() ? c.type : c.other);
  x.d_out_BHTW = state("d_out", c.type);
  if (p.by_token()) {
    x.in_EH = Normals(p.inner * p.heads, "in", Type::kFloat32);
    x.out_HE = Normals(p.inner * p.heads, "out", Type::kFloat32);
    x.psi_BTE = Normals(p.batch * p.tokens * p.inner, "psi", c.other);
  } else {
    x.base_BHTW = state("base", c.type);
    x.mix_HH = Normals(p.heads * p.heads, "mix", Type::kFloat32);
  }
  return x;
}

// As separate operations on tensors have it: W1 e, times psi, W2 of that, each
// in fp32 and rounded to the narrower type there is.
class Naive {
 public:
  Naive(const Case& c, Tensors x)
      : p_(c.problem),
        type_(c.type == Type::kBfloat16 ? c.type : c.other),
        x_(std::move(x)) {}

  Tensors Run() {
    x_.out_BHTW = p_.by_token() ? x_.x_BHTW : x_.base_BHTW;
    x_.d_x_BHTW = p_.by_token() ? x_.d_out_BHTW
                                : std::vector<double>(x_.d_out_BHTW.size());
    x_.d_mix_HH.assign(x_.mix_HH.size(), 0);
    x_.d_in_EH.assign(x_.in_EH.size(), 0);
    x_.d_out_HE.assign(x_.out_HE.size(), 0);
    x_.d_psi_BTE.assign(x_.psi_BTE.size(), 0);
    for (int64_t b = 0; b < p_.batch; ++b) {
      for (int64_t t = 0; t < p_.tokens; ++t) {
        p_.by_token() ? ByToken(b, t) : ByOne(b, t);
      }
    }
    return x_;
  }

 private:
  size_t At(int64_t b, int64_t h, int64_t t, int64_t w) const {
    return ((b * p_.heads + h) * p_.tokens + t) * p_.width + w;
  }
  double Round(double x) const { return Rounded(type_, x); }
  // In fp32, rounded.
  double Sum(int64_t count, const std::function<double(int64_t)>& term) const {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<float>(term(i));
    return Round(sum);
  }
  static void Add(double x, double* to) { *to = static_cast<float>(*to + x); }

  void ByOne(int64_t b, int64_t t) {
    const int64_t h = p_.heads;
    for (int64_t n = 0; n < h; ++n) {
      for (int64_t w = 0; w < p_.width; ++w) {
        Add(Sum(h,
                [&](int64_t m) {
                  return x_.mix_HH[n * h + m] * x_.x_BHTW[At(b, m, t, w)];
                }),
            &x_.out_BHTW[At(b, n, t, w)]);
        Add(Sum(h,
                [&](int64_t m) {
                  return x_.mix_HH[m * h + n] * x_.d_out_BHTW[At(b, m, t, w)];
                }),
            &x_.d_x_BHTW[At(b, n, t, w)]);
      }
      for (int64_t m = 0; m < h; ++m) {
        Add(Sum(p_.width,
                [&](int64_t w) {
                  return x_.d_out_BHTW[At(b, n, t, w)] *
                         x_.x_BHTW[At(b, m, t, w)];
                }),
            &x_.d_mix_HH[n * h + m]);
      }
    }
  }

  void ByToken(int64_t b, int64_t t) {
    const int64_t h = p_.heads, inner = p_.inner, width = p_.width;
    // [E,W]: W1 e, its product with psi, and the gradients of both.
    std::vector<double> u(inner * width), g(u), d_g(u), d_u(u);
    for (int64_t e = 0; e < inner; ++e) {
      const double psi = x_.psi_BTE[(b * p_.tokens + t) * inner + e];
      for (int64_t w = 0; w < width; ++w) {
        const int64_t i = e * width + w;
        u[i] = Sum(h, [&](int64_t m) {
          return x_.in_EH[e * h + m] * x_.x_BHTW[At(b, m, t, w)];
        });
        g[i] = Round(psi * u[i]);
        d_g[i] = Sum(h, [&](int64_t n) {
          return x_.out_HE[n * inner + e] * x_.d_out_BHTW[At(b, n, t, w)];
        });
        d_u[i] = Round(psi * d_g[i]);
      }
      x_.d_psi_BTE[(b * p_.tokens + t) * inner + e] =
          Sum(width,
              [&](int64_t w) { return d_g[e * width + w] * u[e * width + w]; });
      for (int64_t m = 0; m < h; ++m) {
        Add(Sum(width,
                [&](int64_t w) {
                  return d_u[e * width + w] * x_.x_BHTW[At(b, m, t, w)];
                }),
            &x_.d_in_EH[e * h + m]);
        Add(Sum(width,
                [&](int64_t w) {
                  return g[e * width + w] * x_.d_out_BHTW[At(b, m, t, w)];
                }),
            &x_.d_out_HE[m * inner + e]);
      }
    }
    for (int64_t n = 0; n < h; ++n) {
      for (int64_t w = 0; w < width; ++w) {
        Add(Sum(inner,
                [&](int64_t e) {
                  return x_.out_HE[n * inner + e] * g[e * width + w];
                }),
            &x_.out_BHTW[At(b, n, t, w)]);
        Add(Sum(inner,
                [&](int64_t e) {
                  return x_.in_EH[e * h + n] * d_u[e * width + w];
                }),
            &x_.d_x_BHTW[At(b, n, t, w)]);
      }
    }
  }

  const Problem& p_;
  const Type type_;
  Tensors x_;
};

// [B,H,T,W] as [B,T,H,W], or back.
std::vector<double> Moved(const Problem& p, const std::vector<double>& x,
                          bool back) {
  std::vector<double> moved(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t w = i % p.width, t = i / p.width % p.tokens;
    const int64_t h = i / p.width / p.tokens % p.heads;
    const int64_t b = i / p.width / p.tokens / p.heads;
    const int64_t j = ((b * p.tokens + t) * p.heads + h) * p.width + w;
    moved[back ? i : j] = x[back ? j : i];
  }
  return moved;
}

// A state as the kernel has it.
class State {
 public:
  State(const Case& c, Type type, const std::vector<double>& x)
      : case_(c),
        type_(type),
        guarded_(type, c.by_tokens ? Moved(c.problem, x, false) : x) {}
  State(const Case& c, Type type)
      : case_(c), type_(type), guarded_(type, StateSize(c.problem)) {}

  View view() {
    const Problem& p = case_.problem;
    const int64_t row = p.heads * p.tokens * p.width;
    if (case_.by_tokens) {
      return {guarded_.data(), type_, row, p.width, p.heads * p.width};
    }
    return {guarded_.data(), type_, row, p.tokens * p.width, p.width};
  }
  std::vector<double> Values() const {
    EXPECT_TRUE(guarded_.IsIntact());
    const std::vector<double> x = guarded_.Values();
    return case_.by_tokens ? Moved(case_.problem, x, true) : x;
  }

 private:
  const Case& case_;
  const Type type_;
  Guarded guarded_;
};

// What the kernel makes of the tensors.
Tensors RunKernel(const Case& c, const Kernel& kernel, int threads, Tensors x) {
  const Problem& p = c.problem;
  const TestResources resources(kernel.workspace_bytes(p, threads), threads);
  const Type x_type = p.by_token() ? c.type : c.other;
  State base(c, c.type, p.by_token() ? x.x_BHTW : x.base_BHTW),
      in(c, x_type, x.x_BHTW), out(c, c.type), d_out(c, c.type, x.d_out_BHTW),
      d_x(c, x_type);
  Guarded mix(Type::kFloat32, x.mix_HH), w1(Type::kFloat32, x.in_EH),
      w2(Type::kFloat32, x.out_HE), psi(c.other, x.psi_BTE);
  const auto wanted = [](Type type, const std::vector<double>& like) {
    return Guarded(type, static_cast<int64_t>(like.size()));
  };
  Guarded d_mix = wanted(Type::kFloat32, x.mix_HH),
          d_w1 = wanted(Type::kFloat32, x.in_EH),
          d_w2 = wanted(Type::kFloat32, x.out_HE),
          d_psi = wanted(c.other, x.psi_BTE);
  Call call;
  call.problem = p;
  call.inputs = {base.view(), in.view(),  mix.floats(), w1.floats(),
                 w2.floats(), psi.data(), c.other};
  call.out = out.view();
  EXPECT_TRUE(kernel.forward(call, resources.get()).ok());
  call.gradients = {d_out.view(),  d_x.view(),    d_mix.floats(),
                    d_w1.floats(), d_w2.floats(), d_psi.data()};
  EXPECT_TRUE(kernel.backward(call, resources.get()).ok());
  for (const Guarded* guarded : {&d_mix, &d_w1, &d_w2, &d_psi}) {
    EXPECT_TRUE(guarded->IsIntact());
  }
  EXPECT_TRUE(resources.IsIntact());
  x.out_BHTW = out.Values();
  x.d_x_BHTW = d_x.Values();
  x.d_mix_HH = d_mix.Values();
  x.d_in_EH = d_w1.Values();
  x.d_out_HE = d_w2.Values();
  x.d_psi_BTE = d_psi.Values();
  return x;
}

const std::vector<std::pair<std::string, std::vector<double> Tensors::*>>
    kResults = {{"out", &Tensors::out_BHTW},   {"d_x", &Tensors::d_x_BHTW},
                {"d_mix", &Tensors::d_mix_HH}, {"d_in", &Tensors::d_in_EH},
                {"d_out", &Tensors::d_out_HE}, {"d_psi", &Tensors::d_psi_BTE}};

class UpdateTest
    : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == std::get<0>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    const absl::Status supported = kernel_->supports(c().problem);
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }

  const Case& c() const { return std::get<1>(GetParam()); }

  const Kernel* kernel_ = nullptr;
};

// At most twice the naive computation's error and one rounding.
TEST_P(UpdateTest, IsNearTheReference) {
  const Tensors inputs = MakeTensors(c());
  Tensors judge = inputs;
  ReferenceForward(c().problem, &judge);
  ReferenceBackward(c().problem, &judge);
  const Tensors naive = Naive(c(), inputs).Run();
  const Tensors found = RunKernel(c(), *kernel_, 2, inputs);
  const Type narrowest = c().other == Type::kBfloat16 ? c().other : c().type;
  for (const auto& [name, member] : kResults) {
    const double bound = 2 * Distance(naive.*member, judge.*member) +
                         Epsilon(narrowest) * Largest(judge.*member);
    EXPECT_LE(Distance(found.*member, judge.*member), bound) << name;
  }
}

TEST_P(UpdateTest, ThreadsChangeNoBit) {
  const Tensors inputs = MakeTensors(c());
  const Tensors one = RunKernel(c(), *kernel_, 1, inputs);
  const Tensors three = RunKernel(c(), *kernel_, 3, inputs);
  for (const auto& [name, member] : kResults) {
    EXPECT_EQ(one.*member, three.*member) << name;
  }
}

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Kernel& kernel : Kernels()) names.push_back(kernel.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Table, UpdateTest,
    ::testing::Combine(::testing::ValuesIn(KernelNames()),
                       ::testing::ValuesIn(Cases())),
    [](const ::testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).label;
    });

// A token's state depends on no other token, and a map of zeros leaves it.
TEST(UpdateKernelTest, TokensKeepTheirBitsWhateverIsBesideThem) {
  const Case all{"", {1, 12, 40, 64, 48}};
  Tensors x = MakeTensors(all);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(all.problem).ok()) continue;
    const std::vector<double> whole = RunKernel(all, kernel, 1, x).out_BHTW;
    Case last = all;
    last.problem.tokens = 1;
    Tensors of_last = x;
    of_last.psi_BTE = {x.psi_BTE.end() - 48, x.psi_BTE.end()};
    of_last.x_BHTW.clear();
    std::vector<double> expected;
    for (int64_t h = 0; h < 12; ++h) {
      for (int64_t w = 0; w < 64; ++w) {
        const size_t at = (h * 40 + 39) * 64 + w;
        of_last.x_BHTW.push_back(x.x_BHTW[at]);
        expected.push_back(whole[at]);
      }
    }
    of_last.d_out_BHTW = of_last.x_BHTW;
    EXPECT_EQ(RunKernel(last, kernel, 1, of_last).out_BHTW, expected)
        << kernel.name;
    Tensors still = x;
    still.out_HE.assign(x.out_HE.size(), 0);
    EXPECT_EQ(RunKernel(all, kernel, 1, still).out_BHTW, x.x_BHTW)
        << kernel.name;
  }
}

TEST(UpdateKernelTest, GradientsThatNobodyWantsAreNotWritten) {
  const Case c{"", {1, 3, 4, 8, 5}};
  const Tensors x = MakeTensors(c);
  State in(c, c.type, x.x_BHTW), out(c, c.type), d_out(c, c.type, x.d_out_BHTW);
  Guarded w1(Type::kFloat32, x.in_EH), w2(Type::kFloat32, x.out_HE),
      psi(c.other, x.psi_BTE);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(c.problem).ok()) continue;
    const TestResources resources(kernel.workspace_bytes(c.problem, 1), 1);
    Call call;
    call.problem = c.problem;
    call.inputs = {{},          in.view(),  nullptr, w1.floats(),
                   w2.floats(), psi.data(), c.other};
    call.gradients.d_out = d_out.view();
    EXPECT_TRUE(kernel.backward(call, resources.get()).ok());
    EXPECT_TRUE(resources.IsIntact());
  }
}

}  // namespace
}  // namespace ordo::kernels::update
