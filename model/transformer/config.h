#ifndef ORDO_MODEL_TRANSFORMER_CONFIG_H_
#define ORDO_MODEL_TRANSFORMER_CONFIG_H_

#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::transformer {

// What stands between the matrices of an MLP.
enum class Activation {
  // Gated by SiLU, by exact GELU.
  kSwiglu,
  kGeglu,
  kGelu,
  kGeluTanh,
  kRelu,
};

inline bool IsGated(Activation activation) {
  return activation == Activation::kSwiglu || activation == Activation::kGeglu;
}

// The sizes and switches of a transformer; see training.v1.Model for what each
// means.
struct Config {
  int layers = 0;
  int width = 0;
  int heads = 0;
  // Heads of keys and values.
  int key_value_heads = 0;
  int mlp_width = 0;
  int vocabulary_size = 0;
  int head_width = 0;
  Activation activation = Activation::kSwiglu;
  // RMSNorm instead of LayerNorm.
  bool rms_norm = true;
  double norm_epsilon = 1e-5;
  bool tie_embeddings = false;
  bool qk_norm = false;
  // Whether a token sees those before it only.
  bool causal = true;
  double init_std = 0.02;
  double dropout = 0.0;
  // Biases of q, k and v; of the output; of the MLP; of the norms.
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool norm_bias = false;
  bool embedding_norm = false;
  bool parallel_residual = false;
  // Norms follow the sums of a block.
  bool post_norm = false;
  // A norm before the head.
  bool final_norm = true;
  double input_noise = 0.0;
  bool output_mlp = false;
  bool output_projection = false;
  // Initial matrices as of DeepNorm, instead of init_std.
  bool deepnorm = false;
  // Number of tokens a token sees, itself included; 0: all.
  int sliding_window = 0;
};

// From a resolved model. INVALID_ARGUMENT names every field that is missing or
// does not fit, as "model.<field>".
absl::StatusOr<Config> MakeConfig(const ordo::training::v1::Model& model);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_CONFIG_H_
