#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ordo::kernels::attention {
namespace {

// A row of a tensor.
struct Place {
  int64_t at;
  int64_t width;
};

// That of a token in a tensor [B, heads, tokens, width].
struct Index {
  int64_t b;
  int64_t head;
  int64_t token;
};
Place RowOf(int64_t heads, int64_t tokens, int64_t width, const Index& index) {
  return {((index.b * heads + index.head) * tokens + index.token) * width,
          width};
}

double Dot(const std::vector<double>& x, const Place& a,
           const std::vector<double>& y, const Place& b) {
  double sum = 0;
  for (int64_t d = 0; d < a.width; ++d) sum += x[a.at + d] * y[b.at + d];
  return sum;
}

struct Term {
  double factor;
  const std::vector<double>& x;
  Place place;
};

// y += factor x, row by row.
void Add(const Term& term, std::vector<double>* y, const Place& to) {
  for (int64_t d = 0; d < to.width; ++d) {
    (*y)[to.at + d] += term.factor * term.x[term.place.at + d];
  }
}

// A query: its row of the batch, its head, its number among the queries.
struct Query {
  int64_t b;
  int64_t h;
  int64_t t;
};

class Reference {
 public:
  Reference(const Problem& problem, Tensors* tensors)
      : p_(problem), x_(*tensors), group_(p_.heads / p_.key_heads) {}

  void Forward() {
    for (int v = 0; v < p_.num_values; ++v) {
      x_.mixed[v].assign(p_.batch * p_.heads * p_.queries * p_.values[v].width,
                         0);
    }
    x_.lse_BHT.assign(p_.batch * p_.heads * p_.queries, 0);
    ForEachQuery([&](const Query& query) { Forward(query); });
  }

  void Backward() {
    x_.dq_BHTD.assign(x_.q_BHTD.size(), 0);
    x_.dk_BGSD.assign(x_.k_BGSD.size(), 0);
    x_.d_bias_HL.assign(x_.bias_HL.size(), 0);
    for (int v = 0; v < p_.num_values; ++v) {
      x_.d_values[v].assign(x_.values[v].size(), 0);
    }
    ForEachQuery([&](const Query& query) { Backward(query); });
  }

 private:
  template <typename Function>
  void ForEachQuery(const Function& function) {
    for (int64_t b = 0; b < p_.batch; ++b) {
      for (int64_t h = 0; h < p_.heads; ++h) {
        for (int64_t t = 0; t < p_.queries; ++t) function(Query{b, h, t});
      }
    }
  }

  // The query's number among all tokens.
  int64_t Token(const Query& query) const {
    return p_.keys - p_.queries + query.t;
  }

  bool Sees(const Query& query, int64_t j) const {
    if (p_.causal && j > Token(query)) return false;
    return !p_.padded || x_.real_BS[query.b * p_.keys + j] != 0;
  }

  Place QueryRow(const Query& query, int64_t width) const {
    return RowOf(p_.heads, p_.queries, width, {query.b, query.h, query.t});
  }

  Place KeyRow(const Query& query, int64_t j) const {
    return RowOf(p_.key_heads, p_.keys, p_.width,
                 {query.b, query.h / group_, j});
  }

  Place ValueRow(int v, const Query& query, int64_t j) const {
    const int64_t heads = p_.values[v].heads;
    return RowOf(heads, p_.keys, p_.values[v].width,
                 {query.b, heads == p_.heads ? query.h : query.h / group_, j});
  }

  int64_t BiasAt(const Query& query, int64_t j) const {
    return query.h * p_.bias_length() + j - Token(query) + p_.keys - 1;
  }

  double Logit(const Query& query, int64_t j) const {
    const double product =
        Dot(x_.q_BHTD, QueryRow(query, p_.width), x_.k_BGSD, KeyRow(query, j));
    return p_.scale * product +
           (p_.biased ? x_.bias_HL[BiasAt(query, j)] : 0.0);
  }

  void Forward(const Query& query) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (Sees(query, j)) largest = std::max(largest, Logit(query, j));
    }
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (Sees(query, j)) sum += std::exp(Logit(query, j) - largest);
    }
    double& lse = x_.lse_BHT[QueryRow(query, 1).at];
    lse = sum > 0 ? largest + std::log(sum)
                  : std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (!Sees(query, j)) continue;
      const double weight = std::exp(Logit(query, j) - lse);
      for (int v = 0; v < p_.num_values; ++v) {
        const int64_t width = p_.values[v].width;
        Add({weight, x_.values[v], ValueRow(v, query, j)}, &x_.mixed[v],
            QueryRow(query, width));
      }
    }
  }

  // Of the query's weight for key j.
  double WeightGradient(const Query& query, int64_t j) const {
    double sum = 0;
    for (int v = 0; v < p_.num_values; ++v) {
      if (x_.d_mixed[v].empty()) continue;
      const int64_t width = p_.values[v].width;
      sum += Dot(x_.d_mixed[v], QueryRow(query, width), x_.values[v],
                 ValueRow(v, query, j));
    }
    return sum;
  }

  void Backward(const Query& query) {
    const double lse = x_.lse_BHT[QueryRow(query, 1).at];
    double mean = 0;
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (!Sees(query, j)) continue;
      mean += std::exp(Logit(query, j) - lse) * WeightGradient(query, j);
    }
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (!Sees(query, j)) continue;
      const double weight = std::exp(Logit(query, j) - lse);
      const double d_logit = weight * (WeightGradient(query, j) - mean);
      if (p_.biased) x_.d_bias_HL[BiasAt(query, j)] += d_logit;
      const Place q = QueryRow(query, p_.width), k = KeyRow(query, j);
      Add({p_.scale * d_logit, x_.k_BGSD, k}, &x_.dq_BHTD, q);
      Add({p_.scale * d_logit, x_.q_BHTD, q}, &x_.dk_BGSD, k);
      for (int v = 0; v < p_.num_values; ++v) {
        if (x_.d_mixed[v].empty()) continue;
        const int64_t width = p_.values[v].width;
        Add({weight, x_.d_mixed[v], QueryRow(query, width)}, &x_.d_values[v],
            ValueRow(v, query, j));
      }
    }
  }

  const Problem& p_;
  Tensors& x_;
  const int64_t group_;
};

}  // namespace

void ReferenceForward(const Problem& problem, Tensors* tensors) {
  Reference(problem, tensors).Forward();
}

void ReferenceBackward(const Problem& problem, Tensors* tensors) {
  Reference(problem, tensors).Backward();
}

}  // namespace ordo::kernels::attention
