#ifndef ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_
#define ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "absl/status/statusor.h"
#include "model/parameters/parameters.h"
#include "model/transformer/cache.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A pre-norm decoder-only transformer (Llama's block: RMSNorm, rotary-style
// hooks, gated MLP, no biases) under any positional encoding.
//
// Parameters have Hugging Face's Llama names and shapes ([out, in]):
//   model.embed_tokens.weight                          [V,C]
//   model.layers.N.self_attn.{q,k,v,o}_proj.weight     [C,C]
//   model.layers.N.self_attn.{q,k}_norm.weight         [D]    with qk_norm
//   model.layers.N.mlp.{gate,up}_proj.weight           [M,C]  gate with swiglu
//   model.layers.N.mlp.down_proj.weight                [C,M]
//   model.layers.N.{input,post_attention}_layernorm.weight [C]
//   model.norm.weight                                  [C]
//   lm_head.weight                                     [V,C]  unless tied
// and those of the encoding, such as model.layers.N.self_attn.tape.mix.weight.

namespace ordo::model::transformer {

// Dropout in training. Masks come from stream "dropout/<step>" and depend on
// the row's number in the global batch, the place and the token's column, so
// splitting a batch changes none.
struct Dropout {
  // Seed of training, and the optimizer step (the first is 0).
  uint64_t seed = 1;
  int64_t step = 0;
  // Number of this pass's first row in the global batch.
  int64_t first_row = 0;
};

struct ForwardOptions {
  // Position ids, int64 [B,T] or [1,T]. Left out: counted from 0, over the real
  // tokens where there is a mask, going on where the cache ends.
  std::optional<at::Tensor> positions;
  // Which of the new tokens are real, bool or integer [B,T]; padding may stand
  // on either side. Left out: all are. A batch padded on the right gives the
  // same logits at real tokens without a mask, and faster.
  std::optional<at::Tensor> attention_mask;
  // Tokens of earlier calls, which this call reads and appends to. Not with
  // gradients. Not owned.
  Cache* cache = nullptr;
  // Left out: no dropout, whatever Model.dropout says.
  std::optional<Dropout> dropout;
};

// Forward is const and may run in several threads at once; the parameters are
// shared with the optimizer, which must not step meanwhile.
class Transformer {
 public:
  // `model` is resolved: all of its fields are set. The encoding may leave out
  // parameters. INVALID_ARGUMENT names every field that does not fit;
  // RESOURCE_EXHAUSTED when memory runs out.
  static absl::StatusOr<std::unique_ptr<Transformer>> Create(
      const ordo::training::v1::Model& model,
      const ordo::training::v1::Component& encoding,
      const parameters::ParameterOptions& options);

  // Logits [B,T,V] for tokens int64 [B,T], in the parameters' dtype (autocast
  // aside). A token that sees none, as left padding does, gives finite values
  // without meaning. Throws what LibTorch throws; see model/guard.h.
  at::Tensor Forward(const at::Tensor& tokens,
                     const ForwardOptions& options) const;
  at::Tensor Forward(const at::Tensor& tokens) const {
    return Forward(tokens, ForwardOptions());
  }

  // All parameters, in an order that depends on the configuration only. The
  // tensors are the model's own: to load weights, copy into them under
  // at::NoGradGuard.
  const std::vector<parameters::NamedTensor>& Parameters() const {
    return parameters_.all();
  }

  // The resolved configuration that it was made from.
  const ordo::training::v1::Model& model() const { return model_; }
  const ordo::training::v1::Component& encoding() const { return encoding_; }

 private:
  struct Layer;
  struct Pass;

  Transformer(const ordo::training::v1::Model& model,
              const ordo::training::v1::Component& encoding,
              const parameters::ParameterOptions& options);

  void AddParameters();
  at::Tensor Block(int layer, const Pass& pass, at::Tensor x_BTC,
                   encodings::Carried* carried) const;

  const ordo::training::v1::Model model_;
  const ordo::training::v1::Component encoding_;
  const Config config_;
  parameters::ParameterSet parameters_;
  std::unique_ptr<encodings::Encoding> encoder_;
};

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_
