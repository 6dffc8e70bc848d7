#ifndef ORDO_MODEL_TRANSFORMER_INPUT_NOISE_H_
#define ORDO_MODEL_TRANSFORMER_INPUT_NOISE_H_

#include <optional>

#include <ATen/core/Tensor.h>

#include "model/encodings/encoding.h"

namespace ordo::model::transformer {

// x [B,T,C] plus normal values of standard deviation `std`, which pass on the
// gradient as it is. `counted`, int64 [1,T] or [B,T] on the host, has the
// tokens' numbers in their rows, from 0. In training values come from stream
// "input_noise/<step>" and depend on the row's number in the global batch and
// the token's in its row, so that splitting a batch or padding it changes none;
// otherwise from "input_noise/evaluation" of seed 1 and depend on the token's
// number alone, so that a row decoded token by token, or beside others, has the
// noise that it has alone. At most 2^20 rows.
at::Tensor AddInputNoise(double std, const at::Tensor& counted,
                         const std::optional<encodings::TrainingStep>& training,
                         const at::Tensor& x_BTC);

}  // namespace ordo::model::transformer

#endif  // ORDO_MODEL_TRANSFORMER_INPUT_NOISE_H_
