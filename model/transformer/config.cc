#include "model/transformer/config.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::transformer {
namespace {

// The catalogue knows ranges and defaults; what it would still fill in is
// missing.
absl::Status Check(const ordo::training::v1::Model& model) {
  ordo::training::v1::Model resolved = model;
  std::vector<base::FieldViolation> violations;
  catalog::ResolveModel("model", /*task_vocabulary_size=*/0, &resolved,
                        &violations);
  const auto* descriptor = model.GetDescriptor();
  const auto* reflection = model.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    // A preset is nothing but the sizes it stands for.
    if (field->name() != "preset" && !reflection->HasField(model, field) &&
        reflection->HasField(resolved, field)) {
      violations.push_back({absl::StrCat("model.", field->name()), "required"});
    }
  }
  return base::InvalidFields(violations);
}

// `mlp` is one that the catalogue knows.
Activation ActivationOf(const std::string& mlp) {
  if (mlp == "geglu") return Activation::kGeglu;
  if (mlp == "gelu") return Activation::kGelu;
  if (mlp == "gelu_tanh") return Activation::kGeluTanh;
  return mlp == "relu" ? Activation::kRelu : Activation::kSwiglu;
}

}  // namespace

absl::StatusOr<Config> MakeConfig(const ordo::training::v1::Model& model) {
  ORDO_RETURN_IF_ERROR(Check(model));
  Config config;
  config.layers = model.layers();
  config.width = model.width();
  config.heads = model.heads();
  config.key_value_heads = model.key_value_heads();
  config.mlp_width = model.mlp_width();
  config.vocabulary_size = model.vocabulary_size();
  config.head_width = model.head_width();
  config.activation = ActivationOf(model.mlp());
  config.rms_norm = model.norm() == "rmsnorm";
  config.norm_epsilon = model.norm_epsilon();
  config.tie_embeddings = model.tie_embeddings();
  config.qk_norm = model.qk_norm();
  config.causal = model.causal();
  config.init_std = model.init_std();
  config.dropout = model.dropout();
  config.qkv_bias = model.attention_bias() != "none";
  config.output_bias = model.attention_bias() == "all";
  config.mlp_bias = model.mlp_bias();
  config.norm_bias = model.norm_bias();
  config.embedding_norm = model.embedding_norm();
  config.parallel_residual = model.parallel_residual();
  config.sliding_window = model.sliding_window();
  config.post_norm = model.post_norm();
  config.final_norm = !model.post_norm() || model.output_mlp();
  config.input_noise = model.input_noise();
  config.output_mlp = model.output_mlp();
  config.output_projection = model.output_projection();
  config.deepnorm = model.init() == "deepnorm";
  return config;
}

}  // namespace ordo::model::transformer
