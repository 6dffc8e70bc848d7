#ifndef ORDO_MODEL_ENCODINGS_SINUSOID_H_
#define ORDO_MODEL_ENCODINGS_SINUSOID_H_

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace ordo::model::encodings {

// Vaswani et al. 2017, section 3.5: channel 2f of position i is
// sin(i base^(-2f/width)), channel 2f + 1 the cosine of the same angle. For
// position ids of any shape [*], `width` even: [*,width] in fp64.
at::Tensor Sinusoid(const at::Tensor& positions, int64_t width, double base);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_SINUSOID_H_
