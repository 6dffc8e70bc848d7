#ifndef ORDO_KERNELS_ATTENTION_REFERENCE_CODE_H_
#define ORDO_KERNELS_ATTENTION_REFERENCE_CODE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention/reference.h"

// The formulas of problem.h, a row of the map at a time. In exact arithmetic
// (reference.cc) this is the judge; rounded as separate operations on tensors
// of a type would be (check/naive.cc), it is what a kernel's error is
// measured by.

namespace ordo::kernels::attention {

// Arithmetic: a type Real to sum in, Round(x), a number as it is stored, and
// `keeps_outputs`: whether the backward pass has the sum of a row's weights,
// each times its gradient, from the outputs as they are stored, or from
// weights.
template <typename Arithmetic>
class Formulas {
 public:
  Formulas(const Problem& problem, const Arithmetic& arithmetic,
           Tensors* tensors)
      : p_(problem),
        arithmetic_(arithmetic),
        x_(*tensors),
        group_(p_.heads / p_.key_heads) {}

  // What rounding is relative to: the largest of all logits and terms of
  // logits, the largest gradient of a weight, and the largest derivative of a
  // score mod, by anything that it is of; of the backward pass.
  double largest_logit() const { return largest_logit_; }
  double largest_change() const { return largest_change_; }
  double largest_slope() const { return largest_slope_; }

  void Forward() {
    for (int i = 0; i < kNumOutputs; ++i) {
      x_.outputs[i].assign(ShapeOf(p_, Output(i)).count(), 0);
    }
    x_.lse_BHT.assign(p_.batch * p_.heads * p_.queries, 0);
    ForEachRow([&](Row* row) {
      Weigh(row);
      Mix(*row);
    });
  }

  void Backward() {
    Forward();
    for (int i = 0; i < kNumInputs; ++i) {
      x_.d_inputs[i].assign(x_.inputs[i].size(), 0);
    }
    ForEachRow([&](Row* row) {
      Weigh(row);
      Differentiate(row);
    });
  }

 private:
  using Real = typename Arithmetic::Real;

  // A row of the map: one query and the keys it sees, ascending.
  struct Row {
    int64_t b;
    int64_t h;
    int64_t t;
    std::vector<int64_t> keys;
    // For each of them: a_ij, before it is rectified; g_ij; c_ij; p_ij.
    std::vector<double> product;
    std::vector<double> gate;
    std::vector<double> count;
    std::vector<double> weight;
  };

  // Elements of a tensor with the same batch, head and token.
  struct Span {
    std::vector<double>* of;
    int64_t at;
    int64_t width;
    double& operator[](int64_t i) const { return (*of)[at + i]; }
  };

  double Round(double x) const { return arithmetic_.Round(x); }

  template <typename Term>
  double Sum(int64_t count, const Term& term) const {
    Real sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<Real>(term(i));
    return Round(sum);
  }

  double Dot(const Span& a, const Span& b) const {
    return Sum(a.width, [&](int64_t i) { return a[i] * b[i]; });
  }

  static void Add(double x, double* to) { *to = static_cast<Real>(*to + x); }

  static void Add(double factor, const Span& x, const Span& to) {
    for (int64_t i = 0; i < to.width; ++i) Add(factor * x[i], &to[i]);
  }

  template <typename Function>
  void ForEachRow(const Function& function) {
    for (int64_t b = 0; b < p_.batch; ++b) {
      for (int64_t h = 0; h < p_.heads; ++h) {
        for (int64_t t = 0; t < p_.queries; ++t) {
          Row row{b, h, t, {}, {}, {}, {}, {}};
          for (int64_t j = 0; j < p_.keys; ++j) {
            if (Sees(row, j)) row.keys.push_back(j);
          }
          function(&row);
        }
      }
    }
  }

  // The query's number among all tokens.
  int64_t Token(const Row& row) const { return p_.keys - p_.queries + row.t; }

  bool Sees(const Row& row, int64_t j) const {
    if (p_.causal && j > Token(row)) return false;
    if (p_.bounded &&
        j < x_.first_BHT[(row.b * p_.heads + row.h) * p_.queries + row.t]) {
      return false;
    }
    return !p_.padded || x_.real_BS[row.b * p_.keys + j] != 0;
  }

  int64_t Distance(const Row& row, int64_t j) const {
    if (!p_.positioned) return j - Token(row);
    const int32_t* const positions = &x_.positions_BS[row.b * p_.keys];
    return int64_t{positions[j]} - positions[Token(row)];
  }

  // Where tables have a key.
  int64_t Place(const Row& row, int64_t j) const {
    return std::clamp(Distance(row, j), -p_.reach,
                      p_.causal ? int64_t{0} : p_.reach) +
           p_.reach;
  }

  bool IsFar(const Row& row, int64_t j) const {
    return p_.far_from > 0 && -Distance(row, j) >= p_.far_from;
  }

  Span At(const Shape& shape, std::vector<double>* of,
          const int64_t (&index)[3]) const {
    // Tensors of one row of the batch, or one head, are for all of them.
    const int64_t b = shape.batch == 1 ? 0 : index[0];
    const int64_t h = shape.heads == 1 ? 0 : index[1];
    return {of, ((b * shape.heads + h) * shape.tokens + index[2]) * shape.width,
            shape.width};
  }

  // An input, or its gradient: of the row's query, of a key, or of a place of
  // the tables.
  Span In(std::vector<double>* tensors, Input input, const Row& row,
          int64_t token) const {
    const Shape shape = ShapeOf(p_, input);
    const bool shared = shape.heads != p_.heads && shape.heads > 1;
    return At(shape, &tensors[input],
              {row.b, shared ? row.h / group_ : row.h, token});
  }
  Span OfQuery(std::vector<double>* tensors, Input input,
               const Row& row) const {
    return In(tensors, input, row, row.t);
  }
  Span Out(std::vector<double>* tensors, Output output, const Row& row) const {
    return At(ShapeOf(p_, output), &tensors[output], {row.b, row.h, row.t});
  }

  double Product(const Row& row, int64_t j) const {
    std::vector<double>* const in = x_.inputs;
    const bool far = IsFar(row, j);
    const Span q = OfQuery(in, far ? kFarQ : kQ, row);
    const Span k = In(in, far ? kFarK : kK, row, j);
    double product = 0;
    if (p_.by_channel) {
      const Span channel = In(in, kChannel, row, Place(row, j));
      product =
          Sum(q.width, [&](int64_t i) { return q[i] * k[i] * channel[i]; });
    } else {
      product = Dot(q, k);
    }
    if (p_.query_band > 0) {
      product = Round(product + Dot(OfQuery(in, kQueryBand, row),
                                    In(in, kQueryVector, row, Place(row, j))));
    }
    if (p_.key_band > 0) {
      product = Round(product + Dot(In(in, kKeyBand, row, j),
                                    In(in, kKeyVector, row, Place(row, j))));
    }
    return Round(product * p_.scale);
  }

  double GateProduct(const Row& row, int64_t j) const {
    return Round(p_.scale * Dot(OfQuery(x_.inputs, kGateQ, row),
                                In(x_.inputs, kGateK, row, j)));
  }

  static double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  // Where z is read for a count: between `low` and `high`, `part` of the way.
  struct Between {
    int64_t low;
    int64_t high;
    double part;
  };
  Between Interpolated(double count) const {
    const double last = static_cast<double>(p_.positions - 1);
    const double at = std::min(count, last);
    const double low = std::floor(at);
    return {static_cast<int64_t>(low), static_cast<int64_t>(std::ceil(at)),
            at - low};
  }

  // c of all keys of the row, from the last to the first.
  void Count(Row* row) const {
    row->gate.resize(row->keys.size());
    row->count.resize(row->keys.size());
    Real sum = 0;
    for (size_t n = row->keys.size(); n-- > 0;) {
      row->gate[n] = p_.gates == Gates::kLogits
                         ? row->product[n]
                         : GateProduct(*row, row->keys[n]);
      sum += static_cast<Real>(Sigmoid(row->gate[n]));
      row->count[n] = sum;
    }
  }

  double PositionTerm(const Row& row, double count) const {
    if (p_.positions == 0) {
      return In(x_.inputs, kPositionSlope, row, 0)[0] * count;
    }
    const Between at = Interpolated(count);
    const Span z = OfQuery(x_.inputs, kPositionTerm, row);
    return z[at.low] * (1 - at.part) + z[at.high] * at.part;
  }

  // The functions of score_mod.h.
  struct Math {
    using Number = Real;
    static Real Of(float x) { return static_cast<Real>(x); }
    static Real Exp(Real x) { return std::exp(x); }
    static Real Log(Real x) { return std::log(x); }
  };

  // What f is of for a key of the row.
  template <typename Mod>
  struct ModAt {
    ModPair<Real> pair;
    Real theta[Mod::kParameters];
    int64_t piece;
  };
  template <typename Mod>
  ModAt<Mod> AtMod(const Row& row, int64_t j) const {
    ModAt<Mod> at;
    at.pair.t = static_cast<Real>(x_.inputs[kModDistance][Place(row, j)]);
    at.pair.r =
        static_cast<Real>(x_.inputs[kModQuery][row.b * p_.queries + row.t]);
    const auto& knots = x_.knots;
    const auto above =
        std::lower_bound(knots.begin(), knots.end(), at.pair.t * at.pair.r);
    at.piece = above - knots.begin();
    const Span theta = In(x_.inputs, kModParameter, row, 0);
    for (int i = 0; i < Mod::kParameters; ++i) {
      at.theta[i] = static_cast<Real>(theta[i * p_.pieces + at.piece]);
    }
    return at;
  }

  double ModValue(const Row& row, int64_t j) const {
    double value = 0;
    WithMod(p_.mod, [&](auto of) {
      using Mod = decltype(of);
      const ModAt<Mod> at = AtMod<Mod>(row, j);
      value = Mod::template Value<Math>(at.pair, at.theta);
    });
    return value;
  }

  void Note(double slope) {
    largest_slope_ = std::max(largest_slope_, std::abs(slope));
  }

  // Of what f is of.
  void DifferentiateMod(const Row& row, int64_t j, double d_logit) {
    std::vector<double>* const d_in = x_.d_inputs;
    WithMod(p_.mod, [&](auto of) {
      using Mod = decltype(of);
      const ModAt<Mod> at = AtMod<Mod>(row, j);
      const auto gradient = Mod::template Gradient<Math>(at.pair, at.theta);
      Note(gradient.t);
      Note(gradient.r);
      for (const double slope : gradient.theta) Note(slope);
      Add(d_logit * gradient.t, &d_in[kModDistance][Place(row, j)]);
      Add(d_logit * gradient.r, &d_in[kModQuery][row.b * p_.queries + row.t]);
      const Span d_theta = In(d_in, kModParameter, row, 0);
      for (int i = 0; i < Mod::kParameters; ++i) {
        Add(d_logit * gradient.theta[i], &d_theta[i * p_.pieces + at.piece]);
      }
    });
  }

  double Logit(const Row& row, size_t n) const {
    std::vector<double>* const in = x_.inputs;
    const int64_t j = row.keys[n], place = Place(row, j);
    double logit = row.product[n];
    if (p_.rectified) logit = std::max(logit, 0.0);
    if (p_.multiplied) {
      logit = Round(logit * In(in, kMultiplier, row, 0)[place]);
    }
    if (p_.biased) logit = Round(logit + In(in, kBias, row, 0)[place]);
    if (HasMod(p_)) logit = Round(logit + ModValue(row, j));
    if (p_.gates != Gates::kNone) {
      logit = Round(logit + Round(PositionTerm(row, row.count[n])));
    }
    return logit;
  }

  // Fills in the row.
  void Weigh(Row* row) {
    for (const int64_t j : row->keys) row->product.push_back(Product(*row, j));
    if (p_.gates != Gates::kNone) Count(row);
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t n = 0; n < row->keys.size(); ++n) {
      row->weight.push_back(Logit(*row, n));
      largest = std::max(largest, row->weight[n]);
      largest_logit_ = std::max({largest_logit_, std::abs(row->weight[n]),
                                 std::abs(row->product[n])});
    }
    Real sum = 0;
    for (double& weight : row->weight) {
      weight = static_cast<Real>(std::exp(weight - largest));
      sum += static_cast<Real>(weight);
    }
    for (double& weight : row->weight) weight = Round(weight / sum);
    x_.lse_BHT[(row->b * p_.heads + row->h) * p_.queries + row->t] =
        row->keys.empty() ? std::numeric_limits<double>::infinity()
                          : largest + std::log(static_cast<double>(sum));
  }

  void Mix(const Row& row) {
    for (int v = 0; v < p_.num_values; ++v) {
      const Span out = Out(x_.outputs, Output(kMixed + v), row);
      for (int64_t d = 0; d < out.width; ++d) {
        out[d] = Sum(row.keys.size(), [&](int64_t n) {
          const Span value = In(x_.inputs, Input(kValue + v), row, row.keys[n]);
          return row.weight[n] * value[d];
        });
      }
    }
    if (!p_.summed) return;
    const Span out = Out(x_.outputs, kSummed, row);
    for (size_t n = 0; n < row.keys.size(); ++n) {
      Add(row.weight[n], &out[Place(row, row.keys[n])]);
    }
    for (int64_t d = 0; d < out.width; ++d) out[d] = Round(out[d]);
  }

  // Of the row's weight for its key number n; and what flows to the values.
  double WeightGradient(const Row& row, size_t n) {
    const int64_t j = row.keys[n];
    double gradient = 0;
    for (int v = 0; v < p_.num_values; ++v) {
      const Output output = Output(kMixed + v);
      if (x_.d_outputs[output].empty()) continue;
      const Span change = Out(x_.d_outputs, output, row);
      const Input input = Input(kValue + v);
      gradient += Dot(change, In(x_.inputs, input, row, j));
      Add(row.weight[n], change, In(x_.d_inputs, input, row, j));
    }
    if (p_.summed && !x_.d_outputs[kSummed].empty()) {
      gradient += Out(x_.d_outputs, kSummed, row)[Place(row, j)];
    }
    return gradient;
  }

  // The sum of the row's weights, each times its gradient.
  double MeanGradient(const Row& row, const std::vector<double>& change) {
    if (!arithmetic_.keeps_outputs) {
      return Sum(change.size(),
                 [&](int64_t n) { return row.weight[n] * change[n]; });
    }
    double mean = 0;
    for (int i = 0; i < kNumOutputs; ++i) {
      const auto output = static_cast<Output>(i);
      if (x_.d_outputs[output].empty()) continue;
      mean += Dot(Out(x_.d_outputs, output, row), Out(x_.outputs, output, row));
    }
    return mean;
  }

  void Differentiate(Row* row) {
    std::vector<double> change;
    for (size_t n = 0; n < row->keys.size(); ++n) {
      change.push_back(WeightGradient(*row, n));
      largest_change_ = std::max(largest_change_, std::abs(change[n]));
    }
    const double mean = MeanGradient(*row, change);
    // Of a_ij, and of c_ij.
    std::vector<double> d_product, d_count;
    for (size_t n = 0; n < change.size(); ++n) {
      const double d_logit = Round(row->weight[n] * (change[n] - mean));
      DifferentiateLogit(*row, n, d_logit);
      d_product.push_back(ProductGradient(*row, n, d_logit));
      if (p_.gates == Gates::kNone) continue;
      d_count.push_back(CountGradient(*row, n, d_logit));
    }
    if (p_.gates != Gates::kNone) DifferentiateGates(*row, d_count, &d_product);
    for (size_t n = 0; n < change.size(); ++n) {
      DifferentiateProduct(*row, row->keys[n], d_product[n]);
    }
  }

  // Down to the terms that are added to a_ij M[d].
  void DifferentiateLogit(const Row& row, size_t n, double d_logit) {
    const int64_t j = row.keys[n];
    if (p_.biased) Add(d_logit, &In(x_.d_inputs, kBias, row, 0)[Place(row, j)]);
    DifferentiateMod(row, j, d_logit);
  }

  // Of a_ij through a_ij M[d]; and what flows to M.
  double ProductGradient(const Row& row, size_t n, double d_logit) {
    double product = row.product[n];
    if (p_.rectified) product = std::max(product, 0.0);
    double gradient = d_logit;
    if (p_.multiplied) {
      const int64_t place = Place(row, row.keys[n]);
      Add(d_logit * product, &In(x_.d_inputs, kMultiplier, row, 0)[place]);
      gradient = d_logit * In(x_.inputs, kMultiplier, row, 0)[place];
    }
    return p_.rectified && row.product[n] <= 0 ? 0 : gradient;
  }

  // Of c_ij; and what flows to z.
  double CountGradient(const Row& row, size_t n, double d_logit) {
    const double count = row.count[n];
    if (p_.positions == 0) {
      Add(d_logit * count, &In(x_.d_inputs, kPositionSlope, row, 0)[0]);
      return d_logit * In(x_.inputs, kPositionSlope, row, 0)[0];
    }
    const Between at = Interpolated(count);
    const Span z = OfQuery(x_.inputs, kPositionTerm, row);
    const Span d_z = OfQuery(x_.d_inputs, kPositionTerm, row);
    Add(d_logit * (1 - at.part), &d_z[at.low]);
    Add(d_logit * at.part, &d_z[at.high]);
    if (count > static_cast<double>(p_.positions - 1)) return 0;
    return d_logit * (z[at.high] - z[at.low]);
  }

  // The gate of a key counts for all keys before it.
  void DifferentiateGates(const Row& row, const std::vector<double>& d_count,
                          std::vector<double>* d_product) {
    Real sum = 0;
    for (size_t n = 0; n < row.keys.size(); ++n) {
      sum += static_cast<Real>(d_count[n]);
      const double open = Sigmoid(row.gate[n]);
      const double d_gate = sum * open * (1 - open);
      if (p_.gates == Gates::kLogits) {
        (*d_product)[n] += d_gate;
        continue;
      }
      const Span q = OfQuery(x_.inputs, kGateQ, row);
      const Span k = In(x_.inputs, kGateK, row, row.keys[n]);
      Add(p_.scale * d_gate, k, OfQuery(x_.d_inputs, kGateQ, row));
      Add(p_.scale * d_gate, q, In(x_.d_inputs, kGateK, row, row.keys[n]));
    }
  }

  void DifferentiateProduct(const Row& row, int64_t j, double d_product) {
    std::vector<double>* const in = x_.inputs;
    std::vector<double>* const d_in = x_.d_inputs;
    const double factor = p_.scale * d_product;
    const bool far = IsFar(row, j);
    const Input of_q = far ? kFarQ : kQ, of_k = far ? kFarK : kK;
    const Span q = OfQuery(in, of_q, row), k = In(in, of_k, row, j);
    const Span d_q = OfQuery(d_in, of_q, row), d_k = In(d_in, of_k, row, j);
    const int64_t place = Place(row, j);
    if (p_.by_channel) {
      const Span channel = In(in, kChannel, row, place);
      const Span d_channel = In(d_in, kChannel, row, place);
      for (int64_t i = 0; i < q.width; ++i) {
        Add(factor * k[i] * channel[i], &d_q[i]);
        Add(factor * q[i] * channel[i], &d_k[i]);
        Add(factor * q[i] * k[i], &d_channel[i]);
      }
    } else {
      Add(factor, k, d_q);
      Add(factor, q, d_k);
    }
    const auto band = [&](Input vector, const Span& x, const Span& d_x) {
      Add(factor, In(in, vector, row, place), d_x);
      Add(factor, x, In(d_in, vector, row, place));
    };
    if (p_.query_band > 0) {
      band(kQueryVector, OfQuery(in, kQueryBand, row),
           OfQuery(d_in, kQueryBand, row));
    }
    if (p_.key_band > 0) {
      band(kKeyVector, In(in, kKeyBand, row, j), In(d_in, kKeyBand, row, j));
    }
  }

  const Problem& p_;
  const Arithmetic arithmetic_;
  Tensors& x_;
  const int64_t group_;
  double largest_logit_ = 0;
  double largest_change_ = 0;
  double largest_slope_ = 0;
};

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_REFERENCE_CODE_H_
