#include "model/transformer/attention.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/baddbmm.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros.h"

namespace ordo::model::transformer {
namespace {

// Finite, so that a query that sees nothing gives numbers and not NaN, in the
// pass and in its gradient; low enough that exp() of its distance to any logit
// is 0.
constexpr double kHidden = -1e30;

at::Tensor Flat(const at::Tensor& x) { return x.flatten(0, 1); }

}  // namespace

AttentionMask::AttentionMask(int64_t num_queries, int64_t num_keys,
                             const at::Tensor& real,
                             const at::TensorOptions& options) {
  if (num_queries == 1 && !real.defined()) return;
  at::Tensor visible =
      at::ones({num_queries, num_keys}, options.dtype(at::kBool))
          .tril(num_keys - num_queries)
          .unsqueeze(0)
          .unsqueeze(0);
  if (real.defined()) {
    visible = visible.logical_and(real.unsqueeze(1).unsqueeze(1));
    blind_ = visible.any(-1, /*keepdim=*/true).logical_not();
  }
  bias_ = at::zeros(visible.sizes(), options)
              .masked_fill(visible.logical_not(), kHidden);
}

at::Tensor AttentionWeights(const AttentionInput& input,
                            const AttentionMask& mask) {
  const at::Tensor q = Flat(input.q_BHTD);
  const at::Tensor k = Flat(input.k_BHSD).transpose(1, 2);
  const int64_t batch = input.q_BHTD.size(0), heads = input.q_BHTD.size(1);
  const int64_t num_queries = q.size(1), num_keys = k.size(2);
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  const bool changed =
      input.change.factor.defined() || input.change.bias.defined();
  at::Tensor logits;
  if (mask.bias().defined() && mask.bias().size(0) == 1 && !changed) {
    // One call for scale, product and mask.
    logits = at::baddbmm(mask.bias().squeeze(0), q, k, 1.0, scale)
                 .view({batch, heads, num_queries, num_keys});
  } else {
    logits = at::bmm(q, k).view({batch, heads, num_queries, num_keys}) * scale;
    if (input.change.factor.defined()) logits = logits * input.change.factor;
    if (input.change.bias.defined()) logits = logits + input.change.bias;
    if (mask.bias().defined()) logits = logits + mask.bias();
  }
  const at::Tensor weights = logits.softmax(-1);
  if (!mask.blind().defined()) return weights;
  return weights.masked_fill(mask.blind(), 0.0);
}

std::vector<at::Tensor> Attend(const AttentionInput& input,
                               const AttentionMask& mask) {
  const at::Tensor weights = AttentionWeights(input, mask);
  // One product each rather than one over joined values: the result for v then
  // has the same bits however many others ride along.
  std::vector<at::Tensor> attended;
  for (const at::Tensor& value : input.values) {
    attended.push_back(at::bmm(Flat(weights), Flat(value))
                           .view({weights.size(0), weights.size(1),
                                  weights.size(2), value.size(3)}));
  }
  return attended;
}

}  // namespace ordo::model::transformer
