#ifndef ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_
#define ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"
#include "model/transformer/adapters.h"
#include "model/transformer/cache.h"
#include "model/transformer/config.h"
#include "model/transformer/dropout.h"
#include "model/transformer/layers.h"
#include "model/transformer/mixing.h"
#include "model/transformer/weights.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A decoder-only transformer (Llama's block: RMSNorm before each part,
// rotary-style hooks, gated MLP, no biases; training.v1.Model says what may
// differ) under any positional encoding.
//
// Parameters have Hugging Face's Llama names and shapes ([out, in]):
//   model.embed_tokens.weight                          [V,C]
//   model.embed_norm.weight                            [C]    embedding_norm
//   model.layers.N.self_attn.q_proj.weight             [H*D,C]
//   model.layers.N.self_attn.o_proj.weight             [C,H*D]
//   model.layers.N.self_attn.{k,v}_proj.weight         [G*D,C]
//   model.layers.N.self_attn.{q,k}_norm.weight         [D]    with qk_norm
//   model.layers.N.mlp.{gate,up}_proj.weight           [M,C]  gate where gated
//   model.layers.N.mlp.down_proj.weight                [C,M]
//   model.layers.N.{input,post_attention}_layernorm.weight [C]
//   model.output_mlp.{gate,up,down}_proj.weight        as mlp's, output_mlp
//   model.norm.weight                                  [C]    (*)
//   model.output_projection.weight                     [C,C]  output_projection
//   lm_head.weight                                     [V,C]  unless tied
// the biases, as `bias` in the place of `weight`, and those of the encoding,
// such as model.layers.N.self_attn.tape.mix.weight. With post_norm the first
// norm of a layer follows attention's sum, the second the MLP's, and (*) is
// there with output_mlp only.

namespace ordo::model::transformer {

// Tensors of integers and masks lie on the host, whatever the device: what a
// pass has to know of them is read there, without waiting for the device.
struct ForwardOptions {
  // Position ids, int64 [B,T] or [1,T]; encodings that need them in order throw
  // where those of real tokens go back. Left out: counted from 0, over the real
  // tokens where there is a mask, going on where the cache ends.
  std::optional<at::Tensor> positions;
  // Which of the new tokens are real, bool or integer [B,T]; padding may stand
  // on either side. Left out: all are. A batch padded on the right gives the
  // same logits at real tokens without a mask, and faster.
  std::optional<at::Tensor> attention_mask;
  // The first token of the text that each of the tokens is of, int64 [B,T]: a
  // number in its row. Texts lie one behind the other and see nothing of each
  // other; positions go on all the same. The logits of one are those that it
  // gives alone at its positions, in rows no longer than what
  // catalog::SteadyLength says of the encoding. Left out: a row is one text.
  // Causal models only, not with a cache.
  std::optional<at::Tensor> first_seen;
  // Tokens of earlier calls, which this call reads and appends to. Not with
  // gradients. Not owned.
  Cache* cache = nullptr;
  // Left out: no dropout, whatever Model.dropout says.
  std::optional<Dropout> dropout;
  // The step that the pass belongs to, for input_noise and encodings that draw
  // positions in training. Left out: as in evaluation.
  std::optional<encodings::TrainingStep> training;
  // Tokens of a group of shifted sparse attention (training.v1.ShiftedSparse);
  // 0: every token sees all. Not with a cache.
  int64_t shifted_sparse_group = 0;
  // Number of tokens of a row when all is decoded, for encodings that draw
  // positions in evaluation; 0: those of this call, where no cache is given.
  int64_t final_length = 0;
  // The attention kernel to take (kernels/attention/table.h); empty: the best
  // there is, "reference": plain LibTorch operations. Where the one named does
  // not do what is asked, Forward throws.
  std::string kernel = {};
  // Where no kernel does attention: more logits than so many are made in blocks
  // of queries, and once more in the backward pass. More is faster and takes
  // more memory, results differ by rounding.
  int64_t logits_at_once = kLogitsAtOnce;
  // Takes up the names of the kernels that compute attention, "reference" where
  // plain operations do. Not owned; null: nobody asks.
  std::set<std::string>* kernels_taken = nullptr;
  // Called for each layer, in their order, with what its attention did. That is
  // then done by plain operations, whatever `kernel` says, and in memory for
  // all weights of a layer. Empty: nobody looks.
  LayerObserver on_layer = {};
};

// What a model is trained to say; on the host.
struct Targets {
  // Tokens that follow, int64 [N], and of which tokens: int64 [N], numbers in
  // the flattened [B,T].
  at::Tensor targets_N;
  at::Tensor places_N;
  // Of the sum over N.
  double factor = 1;
};

// Forward and Loss are const and may run in several threads at once; the
// parameters are shared with the optimizer, which must not step meanwhile.
class Transformer {
 public:
  // `model` is resolved: all of its fields are set. The encoding may leave out
  // parameters. INVALID_ARGUMENT names every field that does not fit;
  // RESOURCE_EXHAUSTED when memory runs out.
  static absl::StatusOr<std::unique_ptr<Transformer>> Create(
      const ordo::training::v1::Model& model,
      const ordo::training::v1::Component& encoding,
      const parameters::ParameterOptions& options);

  ~Transformer();

  // Logits [B,T,V] for tokens int64 [B,T] on the host, in the parameters' dtype
  // (autocast aside) and on their device. A token that sees none, as left
  // padding does, gives finite values without meaning. Throws what LibTorch
  // throws; see model/guard.h.
  at::Tensor Forward(const at::Tensor& tokens,
                     const ForwardOptions& options) const;
  at::Tensor Forward(const at::Tensor& tokens) const {
    return Forward(tokens, ForwardOptions());
  }

  // targets.factor times the sum of -ln p(target), a number in fp32 at least;
  // logits are made for the targets' places only, and never all at once.
  at::Tensor Loss(const at::Tensor& tokens, const Targets& targets,
                  const ForwardOptions& options) const;

  // -ln p(target) of each, fp32 [N] on the parameters' device; the factor has
  // no part in it. Without gradients. Logits exist for a block of places at a
  // time, at most options.logits_at_once numbers; all blocks have one size, so
  // that what is said of a place does not depend on how many others there are.
  at::Tensor Losses(const at::Tensor& tokens, const Targets& targets,
                    const ForwardOptions& options) const;

  // Gives matrices of every layer adapters, which start without effect and are
  // further parameters, <matrix>.lora_A.weight and <matrix>.lora_B.weight.
  // `lora` is resolved and fits the model. At most once.
  void AddAdapters(const ordo::training::v1::Lora& lora);
  // Adds what the adapters do to their matrices, which then act alone, and
  // takes it back; the matrices then have their old bits. Not while a Forward
  // runs.
  void MergeAdapters() { adapters_.Merge(); }
  void UnmergeAdapters() { adapters_.Unmerge(); }

  // All parameters, in an order that depends on the configuration only. The
  // tensors are the model's own: to load weights, copy into them under
  // at::NoGradGuard.
  const std::vector<parameters::NamedTensor>& Parameters() const {
    return parameters_.all();
  }

  // Whether the parameter of this name is the encoding's own.
  bool IsOfEncoding(const std::string& name) const {
    return names_of_encoding_.count(name) != 0;
  }

  // The resolved configuration that it was made from.
  const ordo::training::v1::Model& model() const { return model_; }
  const ordo::training::v1::Component& encoding() const { return encoding_; }
  // Where the parameters are and passes compute.
  c10::Device device() const { return embedding_VC_.device(); }
  // Longest row, in tokens, that can be decoded with a cache.
  int64_t CachedLength() const { return encoder_->CachedLength(); }

 private:
  struct Pass;

  Transformer(const ordo::training::v1::Model& model,
              const ordo::training::v1::Component& encoding,
              const Config& config,
              const parameters::ParameterOptions& options);

  absl::Status AddParameters();
  at::Tensor Norm(const at::Tensor& x, const NormWeights& weights) const;
  // What attention or the MLP reads of x, and the sum with what it gives, each
  // normalised where the model has it so.
  at::Tensor Before(const at::Tensor& x, const NormWeights& weights) const;
  at::Tensor After(const at::Tensor& sum, const NormWeights& weights) const;
  Pass StartPass(const at::Tensor& tokens, const ForwardOptions& options) const;
  at::Tensor Positions(const at::Tensor& counted,
                       const ForwardOptions& options) const;
  encodings::LayerInput Project(encodings::LayerInput input,
                                const at::Tensor& x_BTC) const;
  Scored Score(const encodings::LayerInput& input, const Pass& pass) const;
  // What is mixed of each value.
  std::vector<at::Tensor> MixValues(const Scored& scored,
                                    const at::Tensor& x_BTC,
                                    const Pass& pass) const;
  at::Tensor SelfAttention(int number, const at::Tensor& x_BTC,
                           const Pass& pass, encodings::Carried* carried) const;
  at::Tensor Block(int number, const at::Tensor& x_BTC, const Pass& pass,
                   encodings::Carried* carried) const;
  // What the head reads, [B,T,C].
  at::Tensor Hidden(const at::Tensor& tokens,
                    const ForwardOptions& options) const;

  const ordo::training::v1::Model model_;
  const ordo::training::v1::Component encoding_;
  const Config config_;
  parameters::ParameterSet parameters_;
  // With the graph of gradients it may outlive the model.
  std::shared_ptr<const encodings::Encoding> encoder_;
  std::vector<at::Tensor> of_encoding_;
  std::set<std::string> names_of_encoding_;
  at::Tensor embedding_VC_;
  // Undefined without embedding_norm.
  NormWeights embedding_norm_C_;
  std::vector<LayerWeights> layers_;
  // Of matrices in `layers_`, which stay where they are.
  Adapters adapters_;
  // Undefined without output_mlp, a final norm, output_projection.
  MlpWeights output_mlp_;
  NormWeights norm_C_;
  LinearWeights output_projection_;
  at::Tensor head_VC_;
};

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_TRANSFORMER_H_
