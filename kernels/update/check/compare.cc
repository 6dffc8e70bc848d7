#include "kernels/update/check/compare.h"

#include <functional>

#include "kernels/common/check/numbers.h"
#include "kernels/update/reference.h"

namespace ordo::kernels::update::check {
namespace {

using kernels::check::Distance;
using kernels::check::Epsilon;
using kernels::check::Largest;
using kernels::check::Miss;
using kernels::check::Rounded;

Type Narrowest(const Case& c) {
  return c.other == Type::kFloat32 ? c.type : c.other;
}

// As separate operations on tensors have it: W1 e, times psi, W2 of that, each
// in fp32 and rounded to the narrower type there is.
class Naive {
 public:
  Naive(const Case& c, Tensors x)
      : p_(c.problem), type_(Narrowest(c)), x_(std::move(x)) {}

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

}  // namespace

const std::vector<std::pair<std::string, std::vector<double> Tensors::*>>&
Results() {
  static const auto* const results =
      new std::vector<std::pair<std::string, std::vector<double> Tensors::*>>{
          {"out", &Tensors::out_BHTW},   {"d_x", &Tensors::d_x_BHTW},
          {"d_mix", &Tensors::d_mix_HH}, {"d_in", &Tensors::d_in_EH},
          {"d_out", &Tensors::d_out_HE}, {"d_psi", &Tensors::d_psi_BTE}};
  return *results;
}

std::vector<Miss> MissesOf(const Case& c, const Kernel& kernel) {
  const Tensors inputs = MakeTensors(c);
  Tensors judge = inputs;
  ReferenceForward(c.problem, &judge);
  ReferenceBackward(c.problem, &judge);
  const Tensors naive = Naive(c, inputs).Run();
  const auto [found, trouble] = RunKernel(c, kernel, 2, inputs);
  if (!trouble.empty()) return {{trouble}};
  std::vector<Miss> misses;
  for (const auto& [name, member] : Results()) {
    const double bound = 2 * Distance(naive.*member, judge.*member) +
                         Epsilon(Narrowest(c)) * Largest(judge.*member);
    const double error = Distance(found.*member, judge.*member);
    if (!(error <= bound)) misses.push_back({name, error, bound});
  }
  return misses;
}

}  // namespace ordo::kernels::update::check
