#include "model/testing/models.h"

#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "base/check.h"
#include "model/testing/tensors.h"

namespace ordo::model::testing {

using ordo::training::v1::Component;
using ordo::training::v1::Model;
using transformer::Transformer;

Model SmallModel() {
  Model model;
  model.set_layers(3);
  model.set_width(16);
  model.set_heads(2);
  model.set_key_value_heads(2);
  model.set_causal(true);
  model.set_mlp_width(24);
  model.set_mlp("swiglu");
  model.set_norm("rmsnorm");
  model.set_norm_epsilon(1e-5);
  model.set_tie_embeddings(false);
  model.set_qk_norm(false);
  model.set_init_std(0.02);
  model.set_dropout(0.0);
  model.set_vocabulary_size(11);
  model.set_head_width(8);
  model.set_attention_bias("none");
  model.set_mlp_bias(false);
  model.set_norm_bias(false);
  model.set_embedding_norm(false);
  model.set_parallel_residual(false);
  model.set_sliding_window(0);
  return model;
}

Component Encoding(const std::string& name) {
  Component component;
  component.set_name(name);
  return component;
}

std::unique_ptr<Transformer> MakeTransformer(
    const Model& model, const Component& encoding,
    const parameters::ParameterOptions& options) {
  auto transformer = Transformer::Create(model, encoding, options);
  ORDO_CHECK(transformer.ok()) << transformer.status().ToString();
  return *std::move(transformer);
}

std::unique_ptr<Transformer> SmallTransformer(const Component& encoding) {
  parameters::ParameterOptions options;
  options.dtype = at::kDouble;
  return MakeTransformer(SmallModel(), encoding, options);
}

void Randomize(const std::vector<parameters::NamedTensor>& parameters,
               double std) {
  const at::NoGradGuard no_grad;
  for (const parameters::NamedTensor& parameter : parameters) {
    const at::Tensor noise =
        Normals(parameter.tensor.sizes().vec(), "test/" + parameter.name);
    parameter.tensor.add_(noise.to(parameter.tensor.scalar_type()), std);
  }
}

at::Tensor Logits(const Transformer& transformer, const at::Tensor& tokens,
                  const transformer::ForwardOptions& options) {
  const at::NoGradGuard no_grad;
  return transformer.Forward(tokens, options);
}

}  // namespace ordo::model::testing
