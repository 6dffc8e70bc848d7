#ifndef ORDO_MODEL_ENCODINGS_TAPE_START_H_
#define ORDO_MODEL_ENCODINGS_TAPE_START_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "c10/core/ScalarType.h"
#include "model/encodings/encoding.h"
#include "model/encodings/tape_form.h"
#include "model/parameters/parameters.h"
#include "proto/ordo/training/v1/component.pb.h"

// What TAPE's state is before the first layer: a function of position ids.

namespace ordo::model::encodings {

class TapeStart {
 public:
  virtual ~TapeStart() = default;

  // The state of the new tokens, shared by heads, as [B,1,T,W] or [1,1,T,W].
  virtual at::Tensor State(const Pass& pass, c10::ScalarType dtype) const = 0;

  // As in Encoding.
  virtual int64_t CachedLength() const {
    return std::numeric_limits<int64_t>::max();
  }
};

// Of a resolved tape component: from the rotary encoding `with` it (rope with
// its defaults if there is none), from random Fourier features, or from a
// learned table, which is a parameter. `form` outlives the start.
std::unique_ptr<TapeStart> MakeTapeStart(
    const ordo::training::v1::Component& tape, const ModelShape& shape,
    const TapeForm& form, parameters::ParameterSet* parameters);

// TAPE over yarn in a row of n = `length` tokens, where L is yarn's
// trained_length (Zhu et al. 2025, section 4.1): past L frequencies are yarn's
// of the scale s = n / L and the state grows by A = 0.1 ln(s) + 1. Up to L
// frequencies are plain and A is 1.
Rotation TapeYarnRotation(const ordo::training::v1::Component& yarn,
                          int64_t channels, int64_t length);

// The same as the authors' code has it, from frequencies that it trains. Up to
// L the factor A is that of yarn's `factor`; past L the ramp is linear in the
// number of turns within L, not in the pair's number.
struct TrainedRotation {
  at::Tensor frequencies;
  double attention_factor = 1.0;
};
TrainedRotation ReleasedYarnRotation(const ordo::training::v1::Component& yarn,
                                     const at::Tensor& frequencies,
                                     int64_t length);

// Number of positions from the first to the last that any query sees, at least
// 1, of each row; one number where all rows have the same. A shift of all
// positions does not change it.
std::vector<int64_t> VisibleSpans(const Pass& pass);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_TAPE_START_H_
