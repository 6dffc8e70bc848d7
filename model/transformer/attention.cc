#include "model/transformer/attention.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/baddbmm.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros.h"
#include "model/encodings/encoding.h"

namespace ordo::model::transformer {
namespace {

// Finite, so that a query that sees nothing gives numbers and not NaN, in the
// pass and in its gradient; low enough that exp() of its distance to any logit
// is 0.
constexpr double kHidden = -1e30;

at::Tensor Flat(const at::Tensor& x) { return x.flatten(0, 1); }

double Scale(const at::Tensor& q) {
  return 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
}

}  // namespace

AttentionMask::AttentionMask(const MaskOptions& options, const at::Tensor& real,
                             const at::TensorOptions& tensors) {
  const int64_t past = options.num_keys - options.num_queries;
  visible_ = at::ones({1, 1, options.num_queries, options.num_keys},
                      tensors.dtype(at::kBool));
  const bool hides_later = options.causal && options.num_queries > 1;
  if (hides_later) visible_ = visible_.tril(past);
  if (options.allowed.defined()) {
    visible_ = visible_.logical_and(options.allowed);
  }
  if (real.defined()) {
    visible_ = visible_.logical_and(real.unsqueeze(1).unsqueeze(1));
    blind_ = visible_.any(-1, /*keepdim=*/true).logical_not();
  }
  if (!hides_later && !real.defined() && !options.allowed.defined()) return;
  bias_ = at::zeros(visible_.sizes(), tensors)
              .masked_fill(visible_.logical_not(), kHidden);
}

at::Tensor AttentionWeights(const AttentionInput& input,
                            const AttentionMask& mask) {
  at::Tensor logits = input.product;
  const bool one_mask = mask.bias().defined() && mask.bias().size(0) == 1 &&
                        mask.bias().size(1) == 1;
  if (!logits.defined() && one_mask && !input.bias.defined()) {
    // One call for scale, product and mask.
    const at::Tensor& q = input.q_BHTD;
    logits = at::baddbmm(mask.bias().squeeze(0), Flat(q),
                         Flat(input.k_BHSD).transpose(1, 2), 1.0, Scale(q))
                 .view({q.size(0), q.size(1), q.size(2), -1});
  } else {
    if (!logits.defined()) {
      logits = encodings::ScaledProduct(input.q_BHTD, input.k_BHSD);
    }
    if (input.bias.defined()) logits = logits + input.bias;
    if (mask.bias().defined()) logits = logits + mask.bias();
  }
  const at::Tensor weights = logits.softmax(-1);
  if (!mask.blind().defined()) return weights;
  return weights.masked_fill(mask.blind(), 0.0);
}

std::vector<at::Tensor> Mix(const at::Tensor& weights_BHTS,
                            const std::vector<at::Tensor>& values) {
  // One product each rather than one over joined values: the result for v then
  // has the same bits however many others ride along.
  std::vector<at::Tensor> mixed;
  for (const at::Tensor& value : values) {
    mixed.push_back(
        at::bmm(Flat(weights_BHTS), Flat(value))
            .view({value.size(0), value.size(1), -1, value.size(3)}));
  }
  return mixed;
}

}  // namespace ordo::model::transformer
