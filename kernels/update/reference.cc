#include "kernels/update/reference.h"

namespace ordo::kernels::update {
namespace {

// Calls step(b, t, index), index(h, w) being the place in a tensor [B,H,T,W].
template <typename Step>
void ForEachToken(const Problem& p, const Step& step) {
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t t = 0; t < p.tokens; ++t) {
      step(b * p.tokens + t, [&p, b, t](int64_t h, int64_t w) {
        return ((b * p.heads + h) * p.tokens + t) * p.width + w;
      });
    }
  }
}

// M [H,H] of a token.
std::vector<double> MapOf(const Problem& p, const Tensors& x, int64_t token) {
  if (!p.by_token()) return x.mix_HH;
  std::vector<double> map(p.heads * p.heads);
  for (int64_t n = 0; n < p.heads; ++n) {
    for (int64_t m = 0; m < p.heads; ++m) {
      for (int64_t e = 0; e < p.inner; ++e) {
        map[n * p.heads + m] += x.out_HE[n * p.inner + e] *
                                x.psi_BTE[token * p.inner + e] *
                                x.in_EH[e * p.heads + m];
      }
    }
  }
  return map;
}

// From the gradient of one token's M.
void BackwardMap(const Problem& p, const std::vector<double>& d_map,
                 int64_t token, Tensors* x) {
  for (int64_t n = 0; n < p.heads; ++n) {
    for (int64_t m = 0; m < p.heads; ++m) {
      const double change = d_map[n * p.heads + m];
      if (!p.by_token()) x->d_mix_HH[n * p.heads + m] += change;
      for (int64_t e = 0; e < p.inner; ++e) {
        const double w2 = x->out_HE[n * p.inner + e];
        const double psi = x->psi_BTE[token * p.inner + e];
        const double w1 = x->in_EH[e * p.heads + m];
        x->d_out_HE[n * p.inner + e] += change * psi * w1;
        x->d_psi_BTE[token * p.inner + e] += change * w2 * w1;
        x->d_in_EH[e * p.heads + m] += change * w2 * psi;
      }
    }
  }
}

}  // namespace

void ReferenceForward(const Problem& p, Tensors* x) {
  x->out_BHTW = p.by_token() ? x->x_BHTW : x->base_BHTW;
  ForEachToken(p, [&](int64_t token, const auto& index) {
    const std::vector<double> map = MapOf(p, *x, token);
    for (int64_t n = 0; n < p.heads; ++n) {
      for (int64_t m = 0; m < p.heads; ++m) {
        for (int64_t w = 0; w < p.width; ++w) {
          x->out_BHTW[index(n, w)] +=
              map[n * p.heads + m] * x->x_BHTW[index(m, w)];
        }
      }
    }
  });
}

void ReferenceBackward(const Problem& p, Tensors* x) {
  x->d_x_BHTW =
      p.by_token() ? x->d_out_BHTW : std::vector<double>(x->d_out_BHTW.size());
  x->d_mix_HH.assign(x->mix_HH.size(), 0);
  x->d_in_EH.assign(x->in_EH.size(), 0);
  x->d_out_HE.assign(x->out_HE.size(), 0);
  x->d_psi_BTE.assign(x->psi_BTE.size(), 0);
  ForEachToken(p, [&](int64_t token, const auto& index) {
    const std::vector<double> map = MapOf(p, *x, token);
    std::vector<double> d_map(map.size());
    for (int64_t n = 0; n < p.heads; ++n) {
      for (int64_t m = 0; m < p.heads; ++m) {
        for (int64_t w = 0; w < p.width; ++w) {
          const double d_out = x->d_out_BHTW[index(n, w)];
          x->d_x_BHTW[index(m, w)] += map[n * p.heads + m] * d_out;
          d_map[n * p.heads + m] += d_out * x->x_BHTW[index(m, w)];
        }
      }
    }
    BackwardMap(p, d_map, token, x);
  });
}

}  // namespace ordo::kernels::update
