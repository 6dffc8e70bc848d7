#ifndef ORDO_MODEL_ENCODINGS_ENCODING_H_
#define ORDO_MODEL_ENCODINGS_ENCODING_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/torch/attention.h"
#include "model/catalog/catalog.h"

// The seam between the transformer and positional encodings: an encoding acts
// at the moments below, each of which does nothing unless overridden. The
// transformer never asks which encoding it has.
//
// Legend of shape suffixes: B batch, H heads, G key heads (H is a multiple of
// G), T new tokens, S tokens seen by attention (those cached and the new ones),
// D head width, C model width.

namespace ordo::model::encodings {

// What an encoding needs to know of the model, and where it acts.
struct ModelShape : catalog::ModelShape {
  // Layers that it acts in, ascending; empty: all. It makes no parameters for
  // others and is not called for them.
  std::vector<int> acting = {};
  // In front of the names of parameters that layers share.
  std::string scope = "model.";
  // It stands `with` an encoding that turns q and k.
  bool turned = false;

  std::vector<int> ActingLayers() const;
};

// In front of the names of one layer's parameters: "model.layers.3.self_attn.".
std::string LayerScope(int layer);

// The step of training that a pass belongs to: what positions, and noise, are
// drawn for.
struct TrainingStep {
  uint64_t seed = 0;
  int64_t step = 0;
  // Number of the pass's first row in the global batch.
  int64_t first_row = 0;
};

// Asks for position ids of T new tokens; on the host.
struct PositionsInput {
  // Counted from 0 over the real tokens, [1,T] or [B,T].
  at::Tensor counted;
  // Number of tokens before these, real or not.
  int64_t num_before = 0;
  // Unset in evaluation.
  std::optional<TrainingStep> training;
  // Number of tokens a row has when all is decoded, at least T and those
  // before; 0: unknown, and there are tokens before.
  int64_t final_length = 0;
};

// Which query sees which key, bool [1,1,T,S] or [B,1,T,S] (one number for all
// heads). Made when it is first asked for, as it has a number for each pair:
// not for Embed, Start and TransformQK, where Pass is of all queries.
class Visible {
 public:
  Visible() = default;
  explicit Visible(std::function<at::Tensor()> make) : make_(std::move(make)) {}
  Visible& operator=(const at::Tensor& visible) {
    visible_ = visible;
    return *this;
  }

  const at::Tensor& get() const {
    if (!visible_.defined() && make_ != nullptr) visible_ = make_();
    return visible_;
  }

 private:
  std::function<at::Tensor()> make_;
  mutable at::Tensor visible_;
};

// What all layers of one pass share; used by one thread at a time. Tensors lie
// where the model's parameters do. Product, Bias and ValueTerm may be given a
// part of it: some queries, which follow each other, and keys that follow each
// other, among them all that those queries see.
struct Pass {
  // All tokens, those cached included, int64 [B,S].
  at::Tensor tokens_BS;
  // Position ids of the new tokens, [1,T] or [B,T], and of all.
  at::Tensor positions_BT;
  at::Tensor positions_BS;
  Visible visible;
  std::optional<TrainingStep> training;
  // Largest distance of two tokens' position ids, or more; and whether ids of
  // real tokens differ by what the tokens' numbers do.
  int64_t reach = 0;
  bool consecutive = false;
  // How far by their position ids a key that a query sees may lie after the
  // query, or more.
  int64_t ahead = 0;
  // Which tokens are real, bool [B,S]; undefined: all.
  at::Tensor real_BS = {};
  // Which of them a query sees, bool [B,S] or [1,S] on the host; undefined:
  // all.
  at::Tensor seen_BS = {};
  // positions_BS on the host, where numbers are read without waiting for a
  // device; undefined: they are there anyway.
  at::Tensor host_positions_BS = {};
  // Where the text of each begins, a number in its row, int64 [B,S]; undefined:
  // a row is one text. For Embed and Start alone: not in a part of a pass.
  at::Tensor first_seen_BS = {};

  const at::Tensor& PositionsOnHost() const {
    return host_positions_BS.defined() ? host_positions_BS : positions_BS;
  }
};

// What travels from layer to layer beside the hidden state: tables of the
// rotary family, the state of TAPE. Only the encoding knows what is in it.
struct Carried {
  std::vector<at::Tensor> tensors;
  // Of the encodings that one is made of.
  std::vector<Carried> parts;
  // What belongs to queries, [*,*,T,*], and to keys, [*,*,S,*]: where Pass is a
  // part, these are too.
  std::vector<at::Tensor> queries = {};
  std::vector<at::Tensor> keys = {};
};

// What a layer has before its attention.
struct LayerInput {
  int layer = 0;
  const Pass& pass;
  const Carried& carried;
  // The layer's input after its norm: [B,T,C].
  at::Tensor hidden_BTC;
  // Its projections, before TransformQK.
  at::Tensor q_BHTD;
  at::Tensor k_BGTD;
  at::Tensor v_BGTD;
};

// What part number `part` sees of a layer, in an encoding that is made of
// others; `whole` outlives it.
LayerInput PartOf(const LayerInput& whole, size_t part);

// What attention has at the moment of its logits. Keys have H heads here.
struct ScoresInput {
  LayerInput layer;
  // As TransformQK left them; k of all tokens.
  at::Tensor q_BHTD;
  at::Tensor k_BHSD;
  // Of all tokens, in the order of ExtraKeys; with its heads.
  std::vector<at::Tensor> extra_keys;
};

// What attention leaves behind.
struct AttentionOutput {
  // After the output projection, not yet added to the residual: [B,T,C].
  at::Tensor output_BTC;
  // The mixed values, in order: [B,H,T,*].
  std::vector<at::Tensor> attended;
};

// q.k / sqrt(D), [B,H,T,S], of q [B,H,T,D] and k [B,H,S,D]: the logits, unless
// an encoding says otherwise.
at::Tensor ScaledProduct(const at::Tensor& q_BHTD, const at::Tensor& k_BHSD);

// Attention in segments: a query sees the tokens of its own segment up to
// itself, and of those before it only the last `memory`, which pass on no
// gradient. Segments count the real tokens of a row, or of a text in it, from
// 0.
struct Segments {
  // Tokens of a segment; 0: one segment.
  int64_t length = 0;
  int64_t memory = 0;
};

// An encoding with its parameters. Holds no state of a pass, so one object
// serves any number of them. Throws what LibTorch throws; lengths and position
// ids that its definition forbids throw c10::Error with the limit.
class Encoding {
 public:
  virtual ~Encoding() = default;

  // Position ids [1,T] or [B,T] of tokens that the model counted itself; not
  // called for ids that a caller gave.
  virtual at::Tensor Positions(const PositionsInput& input) const {
    return input.counted;
  }

  virtual Segments segments() const { return {}; }

  // Longest row, in tokens, that can be decoded token by token. In longer ones
  // what the cache holds of a token would depend on the tokens that follow.
  virtual int64_t CachedLength() const {
    return std::numeric_limits<int64_t>::max();
  }

  // Token embeddings [B,T,C] with what the encoding adds to them.
  virtual at::Tensor Embed(const at::Tensor& x_BTC, const Pass& pass) const {
    return x_BTC;
  }

  // What the first layer carries; x [B,T,C] is Embed's result, for its batch,
  // device and dtype.
  virtual Carried Start(const at::Tensor& x_BTC, const Pass& pass) const {
    return {};
  }

  // Changes q [B,H,T,D] and k [B,G,T,D] of the new tokens before their product.
  // The cache keeps this k. An encoding that turns shared keys by head may make
  // them [B,H,T,D].
  virtual void TransformQK(const LayerInput& input, at::Tensor* q_BHTD,
                           at::Tensor* k_BGTD) const {}

  // Further tensors of the new tokens, [B,*,T,*], that logits need of every
  // token; the cache keeps those of past ones. Always NumExtraKeys of them.
  virtual int NumExtraKeys() const { return 0; }
  virtual std::vector<at::Tensor> ExtraKeys(const LayerInput& input) const {
    return {};
  }

  // Takes the place of q.k / sqrt(D), [B,H,T,S], unless undefined.
  virtual at::Tensor Product(const ScoresInput& input) const { return {}; }

  // Added to the product, broadcasting to [B,H,T,S], unless undefined.
  // `product` is what Product gave, or q.k / sqrt(D), before the mask; it may
  // be undefined where ReadsProduct is false.
  virtual bool ReadsProduct() const { return false; }
  virtual at::Tensor Bias(const ScoresInput& input,
                          const at::Tensor& product) const {
    return {};
  }

  // Added to what attention makes of v, [B,H,T,D], unless undefined;
  // `weights` [B,H,T,S] are attention's.
  virtual at::Tensor ValueTerm(const ScoresInput& input,
                               const at::Tensor& weights_BHTS) const {
    return {};
  }
  // Whether ValueTerm gives anything; it is called only then.
  virtual bool HasValueTerm() const { return false; }

  // The same logits and value term, in a form that kernels compute
  // (kernels/attention/problem.h): what an encoding that overrides Product,
  // Bias or ValueTerm overrides too; unset where no kernel can. The keys of
  // `input` may have fewer heads here.
  virtual std::optional<kernels::torch::Terms> KernelTerms(
      const ScoresInput& input) const {
    return kernels::torch::Terms();
  }

  // Tensors [B,H,T,*] that attention mixes with the weights that it has for v;
  // always NumMixedValues of them. The cache keeps those of past tokens beside
  // v.
  virtual int NumMixedValues(int layer) const { return 0; }
  virtual std::vector<at::Tensor> MixedValues(const LayerInput& input) const {
    return {};
  }

  // The positions as a layer's attention reads them, [1 or B,1 or H,T,*], of
  // queries and keys alike: their inner products along the last axis say how
  // they lie to each other. `carried` is what the layer has before its
  // attention. Undefined where nothing of the kind turns q and k. For those who
  // look into a model; nothing is computed by it.
  virtual at::Tensor PositionState(int layer, const Carried& carried) const {
    return {};
  }

  // After attention.
  virtual void AfterAttention(int layer, const AttentionOutput& output,
                              Carried* carried) const {}

  // After the MLP; its output [B,T,C] is not yet added to the residual.
  virtual void AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                        Carried* carried) const {}
};

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_ENCODING_H_
