#include "model/encodings/testing/probe.h"

#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/zeros.h"
#include "ATen/ops/zeros_like.h"
#include "base/check.h"
#include "model/encodings/registry.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/attention.h"

namespace ordo::model::encodings::testing {
namespace {

parameters::ParameterOptions InDouble() {
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  return options;
}

transformer::AttentionMask MaskOf(const Attention& attention) {
  const int64_t length = attention.q_BHTD.size(2);
  return {{length, length, attention.causal}, {}, at::kDouble};
}

// The moments up to the logits, and what they read.
struct Moments {
  Pass pass;
  Carried carried;

  Moments(const Encoding& encoding, const Attention& attention) {
    const at::Tensor& q = attention.q_BHTD;
    const int64_t length = q.size(2);
    pass.positions_BT = attention.positions_BT.defined()
                            ? attention.positions_BT
                            : at::arange(length, at::kLong).unsqueeze(0);
    pass.positions_BS = pass.positions_BT;
    pass.tokens_BS = at::zeros({q.size(0), length}, at::kLong);
    pass.visible = MaskOf(attention).visible();
    if (!attention.causal) {
      pass.ahead =
          (pass.positions_BS.max() - pass.positions_BT.min()).item<int64_t>();
    }
    carried = encoding.Start(Hidden(attention), pass);
  }

  static at::Tensor Hidden(const Attention& attention) {
    if (attention.hidden_BTC.defined()) return attention.hidden_BTC;
    return at::zeros_like(attention.q_BHTD).transpose(1, 2).flatten(2);
  }

  ScoresInput Scores(const Encoding& encoding,
                     const Attention& attention) const {
    at::Tensor q = attention.q_BHTD, k = attention.k_BHTD;
    const LayerInput layer{
        attention.layer,
        pass,
        carried,
        Hidden(attention),
        q,
        k,
        attention.v_BHTD.defined() ? attention.v_BHTD : at::zeros_like(k)};
    encoding.TransformQK(layer, &q, &k);
    return {layer, q, k, encoding.ExtraKeys(layer)};
  }
};

}  // namespace

Attention RandomAttention(int64_t rows, int64_t heads, int64_t length,
                          int64_t head_width) {
  const auto normals = [&](const std::string& name) {
    return model::testing::Normals({rows, heads, length, head_width}, name);
  };
  Attention attention;
  attention.q_BHTD = normals("q");
  attention.k_BHTD = normals("k");
  attention.v_BHTD = normals("v");
  attention.hidden_BTC =
      model::testing::Normals({rows, length, heads * head_width}, "hidden");
  return attention;
}

Attention NoProduct(const at::Tensor& positions_BT, int64_t heads,
                    int64_t head_width) {
  Attention attention;
  attention.q_BHTD =
      at::zeros({positions_BT.size(0), heads, positions_BT.size(1), head_width},
                at::kDouble);
  attention.k_BHTD = attention.q_BHTD;
  attention.positions_BT = positions_BT;
  return attention;
}

Probe::Probe(const ordo::training::v1::Component& component,
             const ModelShape& shape)
    : parameters_(InDouble()) {
  auto made = Make(component, shape, &parameters_);
  ORDO_CHECK(made.ok()) << made.status().ToString();
  encoding_ = *std::move(made);
}

at::Tensor Probe::Parameter(const std::string& name) const {
  const at::Tensor found = parameters_.Find(name);
  ORDO_CHECK(found.defined()) << "no parameter is called " << name;
  return found;
}

void Probe::Randomize(double std) {
  model::testing::Randomize(parameters_.all(), std);
}

at::Tensor Probe::ScoresOf(const ScoresInput& input) const {
  at::Tensor product = encoding_->Product(input);
  if (!product.defined()) {
    product = ScaledProduct(input.q_BHTD, input.k_BHSD);
  }
  const at::Tensor bias = encoding_->Bias(input, product);
  return bias.defined() ? product + bias : product;
}

at::Tensor Probe::Scores(const Attention& attention) const {
  const Moments moments(*encoding_, attention);
  return ScoresOf(moments.Scores(*encoding_, attention));
}

at::Tensor Probe::Attended(const Attention& attention) const {
  const Moments moments(*encoding_, attention);
  const ScoresInput input = moments.Scores(*encoding_, attention);
  const at::Tensor weights = transformer::AttentionWeights(
      {input.q_BHTD, input.k_BHSD, ScoresOf(input), {}}, MaskOf(attention));
  at::Tensor attended = transformer::Mix(weights, {input.layer.v_BGTD})[0];
  if (encoding_->HasValueTerm()) {
    const at::Tensor term = encoding_->ValueTerm(input, weights);
    if (term.defined()) attended = attended + term;
  }
  return attended;
}

}  // namespace ordo::model::encodings::testing
