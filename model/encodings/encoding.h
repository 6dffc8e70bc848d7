#ifndef ORDO_MODEL_ENCODINGS_ENCODING_H_
#define ORDO_MODEL_ENCODINGS_ENCODING_H_

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

// The seam between the transformer and positional encodings: an encoding acts
// at the moments below, each of which does nothing unless overridden. The
// transformer never asks which encoding it has.
//
// Legend of shape suffixes: B batch, H heads, T new tokens, S tokens seen by
// attention (those cached and the new ones), D head width, C model width.

namespace ordo::model::encodings {

// What an encoding needs to know of the model.
struct ModelShape {
  int layers = 0;
  int width = 0;
  int heads = 0;

  int head_width() const { return width / heads; }
};

// What travels from layer to layer beside the hidden state: tables of the
// rotary family, the state of TAPE. Only the encoding knows what is in it.
using Carried = std::vector<at::Tensor>;

// What a layer has at the moment of its logits.
struct LogitsInput {
  // Before TransformQK had changed them: [B,H,T,D].
  at::Tensor q_BHTD;
  at::Tensor k_BHTD;
  at::Tensor v_BHTD;
  // The layer's input after its norm: [B,T,C].
  at::Tensor hidden_BTC;
  // Position ids of the new tokens, [1,T] or [B,T], and of all, [1,S] or [B,S].
  at::Tensor positions_BT;
  at::Tensor positions_BS;
};

// What an encoding does to the logits s = q.k / sqrt(D): s * factor + bias.
// Undefined tensors do nothing; the others broadcast to [B,H,T,S].
struct LogitsChange {
  at::Tensor factor;
  at::Tensor bias;
};

// An encoding with its parameters. Holds no state of a pass, so one object
// serves any number of them. Throws what LibTorch throws.
class Encoding {
 public:
  virtual ~Encoding() = default;

  // Position ids for `positions` [1,T] or [B,T] that the model counted itself;
  // not called for those that a caller gave.
  virtual at::Tensor Positions(const at::Tensor& positions) const {
    return positions;
  }

  // Token embeddings [B,T,C] with what the encoding adds to them.
  virtual at::Tensor Embed(const at::Tensor& x_BTC,
                           const at::Tensor& positions) const {
    return x_BTC;
  }

  // What the first layer carries, for position ids [1,T] or [B,T] and
  // embeddings [B,T,C] (for their batch and dtype).
  virtual Carried Start(const at::Tensor& positions,
                        const at::Tensor& x_BTC) const {
    return {};
  }

  // Changes q and k, both [B,H,T,D], before their product.
  virtual void TransformQK(int layer, const Carried& carried,
                           at::Tensor* q_BHTD, at::Tensor* k_BHTD) const {}

  // Whether Logits changes anything; it is called only then.
  virtual bool ChangesLogits() const { return false; }
  virtual LogitsChange Logits(int layer, const Carried& carried,
                              const LogitsInput& input) const {
    return {};
  }

  // Tensors [B,H,T,*] that attention mixes with the weights that it has for v.
  // The cache keeps those of past tokens beside v.
  virtual std::vector<at::Tensor> MixedValues(int layer,
                                              const Carried& carried) const {
    return {};
  }

  // After attention; `attended` are the mixed values, in order.
  virtual void AfterAttention(int layer,
                              const std::vector<at::Tensor>& attended,
                              Carried* carried) const {}

  // After the MLP; its output [B,T,C] is not yet added to the residual.
  virtual void AfterMlp(int layer, const at::Tensor& mlp_output_BTC,
                        Carried* carried) const {}
};

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_ENCODING_H_
