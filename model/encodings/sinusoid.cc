#include "model/encodings/sinusoid.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/stack.h"

namespace ordo::model::encodings {

at::Tensor Sinusoid(const at::Tensor& positions, int64_t width, double base) {
  const at::Tensor f =
      at::arange(width / 2, positions.options().dtype(at::kDouble));
  const at::Tensor frequency =
      at::pow(base, f * (-2.0 / static_cast<double>(width)));
  const at::Tensor angle = positions.to(at::kDouble).unsqueeze(-1) * frequency;
  return at::stack({angle.sin(), angle.cos()}, -1).flatten(-2);
}

}  // namespace ordo::model::encodings
