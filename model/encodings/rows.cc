#include "model/encodings/rows.h"

#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/matmul.h"

namespace ordo::model::encodings {

at::Tensor TakeRows(const at::Tensor& of_row, const at::Tensor& row) {
  return of_row.gather(
      -1, row.expand({of_row.size(0), of_row.size(1), row.size(2), -1}));
}

Waves WavesOf(const at::Tensor& positions, const at::Tensor& frequencies,
              c10::ScalarType dtype) {
  const at::Tensor angle =
      positions.to(at::kDouble).unsqueeze(1).unsqueeze(-1) * frequencies;
  return {angle.sin().to(dtype), angle.cos().to(dtype)};
}

// With a = w i and b = w j: sin(a - b) = sin a cos b - cos a sin b and
// cos(a - b) = cos a cos b + sin a sin b.
at::Tensor DotWavesOfDistance(const at::Tensor& x_BHTF, const Waves& queries,
                              const Waves& keys) {
  const std::vector<at::Tensor> x = x_BHTF.chunk(2, -1);
  const at::Tensor of_cos = x[0] * queries.sin + x[1] * queries.cos;
  const at::Tensor of_sin = x[1] * queries.sin - x[0] * queries.cos;
  return at::matmul(at::cat({of_cos, of_sin}, -1),
                    at::cat({keys.cos, keys.sin}, -1).transpose(2, 3));
}

}  // namespace ordo::model::encodings
