#include "model/encodings/testing/layers.h"

#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/linear.h"
#include "base/check.h"
#include "model/catalog/catalog.h"
#include "model/encodings/registry.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/attention.h"

namespace ordo::model::encodings::testing {

using model::testing::Normals;
using ordo::training::v1::Component;
using transformer::AttentionMask;

std::unique_ptr<Made> MakeRandom(const Component& component,
                                 const ModelShape& shape, MakeEncoding make) {
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  auto made =
      std::make_unique<Made>(Made{parameters::ParameterSet(options), nullptr});
  if (make == nullptr) {
    auto encoding = Make(component, shape, &made->parameters);
    ORDO_CHECK(encoding.ok()) << encoding.status().ToString();
    made->encoding = *std::move(encoding);
  } else {
    Component resolved = component;
    std::vector<base::FieldViolation> violations;
    catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &resolved,
                              &violations);
    ORDO_CHECK(violations.empty()) << violations[0].description;
    made->encoding = make(resolved, shape, &made->parameters);
  }
  model::testing::Randomize(made->parameters.all());
  return made;
}

Stream RunLayers(const Encoding& encoding, int layers, Stream stream,
                 bool causal) {
  const int64_t length = stream.x_BTC.size(1), width = stream.x_BTC.size(2);
  const int64_t num_heads = stream.state_BHTW.size(1);
  const AttentionMask mask({length, length, causal}, {}, at::kDouble);
  Carried carried = {{std::move(stream.state_BHTW)}, {}};
  at::Tensor x_BTC = std::move(stream.x_BTC);
  const Pass pass;
  for (int layer = 0; layer < layers; ++layer) {
    const auto weight = [&](const std::string& name) {
      return Normals({width, width}, name + std::to_string(layer)) * 0.3;
    };
    const auto heads = [&](const std::string& name) {
      return at::linear(x_BTC, weight(name))
          .unflatten(-1, {num_heads, width / num_heads})
          .transpose(1, 2);
    };
    at::Tensor q = heads("q"), k = heads("k");
    const LayerInput input{layer, pass, carried, x_BTC, q, k, heads("v")};
    encoding.TransformQK(input, &q, &k);
    std::vector<at::Tensor> values = encoding.MixedValues(input);
    values.insert(values.begin(), input.v_BGTD);
    std::vector<at::Tensor> mixed = transformer::Mix(
        transformer::AttentionWeights({q, k, {}, {}}, mask), values);
    const at::Tensor output =
        at::linear(mixed[0].transpose(1, 2).flatten(2), weight("o"));
    x_BTC = x_BTC + output;
    mixed.erase(mixed.begin());
    encoding.AfterAttention(layer, {output, mixed}, &carried);
    const at::Tensor mlp = at::linear(x_BTC, weight("m")).tanh();
    encoding.AfterMlp(layer, mlp, &carried);
    x_BTC = x_BTC + mlp;
  }
  return {x_BTC, carried.tensors[0]};
}

at::Tensor StartState(const Encoding& encoding, const at::Tensor& x_BTC,
                      const at::Tensor& positions_BT) {
  Pass pass;
  pass.positions_BT = pass.positions_BS = positions_BT;
  return encoding.Start(x_BTC, pass).tensors[0];
}

}  // namespace ordo::model::encodings::testing
