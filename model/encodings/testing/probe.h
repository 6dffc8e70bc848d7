#ifndef ORDO_MODEL_ENCODINGS_TESTING_PROBE_H_
#define ORDO_MODEL_ENCODINGS_TESTING_PROBE_H_

#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"
#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::model::encodings::testing {

// One layer's attention: q and v [B,H,T,D], k [B,H,T,D], with as many heads.
struct Attention {
  at::Tensor q_BHTD;
  at::Tensor k_BHTD;
  // Undefined: zeros.
  at::Tensor v_BHTD = {};
  // [B,T,H*D]; undefined: zeros.
  at::Tensor hidden_BTC = {};
  // [1,T] or [B,T]; undefined: 0, 1, 2, ...
  at::Tensor positions_BT = {};
  bool causal = true;
  int layer = 0;
};

// Random q, k, v and hidden in double, the same on every run.
Attention RandomAttention(int64_t rows, int64_t heads, int64_t length,
                          int64_t head_width);

// Attention whose q and k are 0, over the given position ids [1,T] or [B,T]:
// its logits are the bias alone.
Attention NoProduct(const at::Tensor& positions_BT, int64_t heads,
                    int64_t head_width);

// An encoding by itself, in double, to compare with formulas.
class Probe {
 public:
  // Dies where the component or the shape is wrong.
  Probe(const ordo::training::v1::Component& component,
        const ModelShape& shape);

  // Its parameters; they may be changed under at::NoGradGuard.
  const parameters::ParameterSet& parameters() const { return parameters_; }
  // The parameter called `name`, or death.
  at::Tensor Parameter(const std::string& name) const;
  // Moves every parameter by normal values of standard deviation `std`.
  void Randomize(double std = 0.3);

  // Logits [B,H,T,T] before the mask.
  at::Tensor Scores(const Attention& attention) const;
  // What attention makes of v under the mask, [B,H,T,D].
  at::Tensor Attended(const Attention& attention) const;

  const Encoding& encoding() const { return *encoding_; }

 private:
  at::Tensor ScoresOf(const ScoresInput& input) const;

  parameters::ParameterSet parameters_;
  std::unique_ptr<Encoding> encoding_;
};

}  // namespace ordo::model::encodings::testing

#endif  // ORDO_MODEL_ENCODINGS_TESTING_PROBE_H_
