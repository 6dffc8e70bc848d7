#include "kernels/attention/testing/naive.h"

#include <algorithm>
#include <cmath>

namespace ordo::kernels::attention::testing {
namespace {

constexpr double kHidden = -1e30;

}  // namespace

double Largest(const std::vector<double>& x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

struct Naive::Row {
  int64_t b;
  int64_t h;
  int64_t t;
  // Where its query begins, and its head of keys.
  int64_t q;
  int64_t k;
  // Of the keys: weights and their gradients.
  std::vector<double> weights;
  std::vector<double> changes;
};

bool Naive::Weigh(Row* row) {
  const int64_t token = p_.keys - p_.queries + row->t, width = p_.width;
  const int64_t bias = row->h * p_.bias_length() + p_.keys - 1 - token;
  double largest = kHidden;
  for (int64_t j = 0; j < p_.keys; ++j) {
    if (p_.causal && j > token) continue;
    if (p_.padded && x_.real_BS[row->b * p_.keys + j] == 0) continue;
    const double product = Sum(width, [&](int64_t d) {
      return x_.q_BHTD[row->q + d] * x_.k_BGSD[row->k + j * width + d];
    });
    double& logit = row->weights[j];
    logit = Round(product * p_.scale);
    if (p_.biased) logit = Round(logit + x_.bias_HL[bias + j]);
    largest = std::max(largest, logit);
    largest_logit_ = std::max(largest_logit_, std::abs(logit));
  }
  if (largest == kHidden) return false;
  float sum = 0;
  for (double& weight : row->weights) {
    weight = std::exp(static_cast<float>(weight - largest));
    sum += static_cast<float>(weight);
  }
  for (double& weight : row->weights) weight = Round(weight / sum);
  return true;
}

void Naive::Mix(int v, Row* row) {
  const int64_t m = p_.values[v].width, heads = p_.values[v].heads;
  const int64_t head =
      heads == p_.heads ? row->h : row->h / (p_.heads / p_.key_heads);
  const int64_t value = (row->b * heads + head) * p_.keys * m;
  const int64_t out = ((row->b * p_.heads + row->h) * p_.queries + row->t) * m;
  const std::vector<double>& values = x_.values[v];
  for (int64_t d = 0; d < m; ++d) {
    x_.mixed[v][out + d] = Sum(p_.keys, [&](int64_t j) {
      return row->weights[j] * values[value + j * m + d];
    });
  }
  for (int64_t j = 0; j < p_.keys; ++j) {
    row->changes[j] += Sum(m, [&](int64_t d) {
      return x_.d_mixed[v][out + d] * values[value + j * m + d];
    });
    for (int64_t d = 0; d < m; ++d) {
      double& at = x_.d_values[v][value + j * m + d];
      at = static_cast<float>(at + row->weights[j] * x_.d_mixed[v][out + d]);
    }
  }
}

void Naive::Differentiate(const Row& row) {
  const int64_t token = p_.keys - p_.queries + row.t, width = p_.width;
  const int64_t bias = row.h * p_.bias_length() + p_.keys - 1 - token;
  largest_change_ = std::max(largest_change_, Largest(row.changes));
  const double mean =
      Sum(p_.keys, [&](int64_t j) { return row.weights[j] * row.changes[j]; });
  for (int64_t j = 0; j < p_.keys; ++j) {
    const double d_logit = Round(row.weights[j] * (row.changes[j] - mean));
    if (d_logit == 0) continue;
    if (p_.biased) {
      double& at = x_.d_bias_HL[bias + j];
      at = static_cast<float>(at + d_logit);
    }
    const double factor = p_.scale * d_logit;
    for (int64_t d = 0; d < width; ++d) {
      double& dq = x_.dq_BHTD[row.q + d];
      double& dk = x_.dk_BGSD[row.k + j * width + d];
      dq = static_cast<float>(dq + factor * x_.k_BGSD[row.k + j * width + d]);
      dk = static_cast<float>(dk + factor * x_.q_BHTD[row.q + d]);
    }
  }
}

void Naive::RunRow(int64_t b, int64_t h, int64_t t) {
  const int64_t group = p_.heads / p_.key_heads;
  Row row{b,
          h,
          t,
          ((b * p_.heads + h) * p_.queries + t) * p_.width,
          (b * p_.key_heads + h / group) * p_.keys * p_.width,
          std::vector<double>(p_.keys, kHidden),
          std::vector<double>(p_.keys, 0.0)};
  if (!Weigh(&row)) return;
  for (int v = 0; v < p_.num_values; ++v) Mix(v, &row);
  Differentiate(row);
}

Tensors Naive::Run() {
  x_.dq_BHTD.assign(x_.q_BHTD.size(), 0);
  x_.dk_BGSD.assign(x_.k_BGSD.size(), 0);
  x_.d_bias_HL.assign(x_.bias_HL.size(), 0);
  for (int v = 0; v < p_.num_values; ++v) {
    x_.mixed[v].assign(x_.d_mixed[v].size(), 0);
    x_.d_values[v].assign(x_.values[v].size(), 0);
  }
  for (int64_t b = 0; b < p_.batch; ++b) {
    for (int64_t h = 0; h < p_.heads; ++h) {
      for (int64_t t = 0; t < p_.queries; ++t) RunRow(b, h, t);
    }
  }
  return x_;
}

}  // namespace ordo::kernels::attention::testing
