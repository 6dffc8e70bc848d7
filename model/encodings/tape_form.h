#ifndef ORDO_MODEL_ENCODINGS_TAPE_FORM_H_
#define ORDO_MODEL_ENCODINGS_TAPE_FORM_H_

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

#include "model/encodings/rotary.h"

// What TAPE's state is made of, and how it turns q and k (Zhu et al. 2025,
// equation 6). The state of one token and head is a row of W real numbers; all
// forms start from P complex numbers e.
//
// Legend: B batch, H heads, T tokens, R turning channels, W width of the state.

namespace ordo::model::encodings {

class TapeForm {
 public:
  virtual ~TapeForm() = default;

  // Number P of complex numbers of a head that the state starts from.
  virtual int64_t pairs() const = 0;
  // Number W of real numbers of a head's state.
  virtual int64_t width() const = 0;
  // Standard deviation at which a state of normal values keeps, on average, the
  // size of q and k.
  virtual double unit_std() const = 0;
  // Factor of q where the product is over another number of channels than a
  // head has, so that it is divided by the root of the head's.
  virtual double query_factor(int64_t head_width) const { return 1.0; }

  // The state [*,W] that is e, given as [*,2P], real parts first.
  virtual at::Tensor FromComplex(const at::Tensor& table) const = 0;

  // q or k [B,H,T,D], turned by the state [B,H,T,W]: a product of two results
  // is that of equation 6. Computed in the state's dtype, returned in x's.
  virtual at::Tensor Turn(const at::Tensor& state_BHTW,
                          const at::Tensor& x_BHTD) const = 0;
  // The same of q and k, both [B,H,T,D].
  virtual void TurnBoth(const at::Tensor& state_BHTW, at::Tensor* q_BHTD,
                        at::Tensor* k_BHTD) const {
    *q_BHTD = Turn(state_BHTW, *q_BHTD);
    *k_BHTD = Turn(state_BHTW, *k_BHTD);
  }
};

// One complex number for each pair of channels, W = R: real parts first.
std::unique_ptr<TapeForm> MakeComplexForm(const RotaryOptions& options);

// A cosine and a sine for each channel, W = 2R, cosines first: the same as one
// complex number as long as both channels of a pair have the same. Otherwise
// q_f cos_f - q_{f+P} sin_f and q_{f+P} cos_{f+P} + q_f sin_{f+P}.
std::unique_ptr<TapeForm> MakeHalvesForm(const RotaryOptions& options);

// A real matrix E of L rows and D columns for each block of L channels, W =
// R D, as [blocks,L,D]; q becomes E^T q in each block. Channels are in blocks
// as the layout says: half-split, channel l * blocks + b is row l of block b.
// FromComplex (D even) makes row l of D / 2 complex numbers e that each block
// has: [Re, Im] of e exp(i pi l / L) sqrt(2 / D); with L = D = 2 this is [[c,
// s], [-s, c]], which acts as the complex number c + i s.
struct TapeBlock {
  int64_t rows = 2;
  int64_t columns = 2;
};
std::unique_ptr<TapeForm> MakeBlockForm(const RotaryOptions& options,
                                        const TapeBlock& block);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_TAPE_FORM_H_
