#include "model/transformer/dropout.h"

#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/ops/empty.h"
#include "base/check.h"
#include "base/random/random.h"
#include "kernels/torch/launch.h"

namespace ordo::model::transformer {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 20;
constexpr int kMaxPlaces = 1 << 10;
// Blocks of random numbers set aside for one row at one place.
constexpr int kRowBits = 32;

}  // namespace

at::Tensor ApplyDropout(const std::optional<Dropout>& dropout,
                        double probability, int place,
                        const at::Tensor& x_BTC) {
  if (!dropout.has_value() || probability == 0.0) return x_BTC;
  const int64_t rows = x_BTC.size(0);
  const int64_t row_size = x_BTC.size(1) * x_BTC.size(2);
  ORDO_CHECK(dropout->first_row + rows <= kMaxRows && place < kMaxPlaces);
  ORDO_CHECK(row_size < (int64_t{1} << kRowBits));
  const base::RandomStream stream(dropout->seed,
                                  "dropout/" + std::to_string(dropout->step));
  at::Tensor mask = at::empty(x_BTC.sizes(), at::kFloat);
  for (int64_t b = 0; b < rows; ++b) {
    const auto row = static_cast<uint64_t>(dropout->first_row + b);
    const uint64_t start = (row * kMaxPlaces + place) << kRowBits;
    stream.FillFloats(start, mask.data_ptr<float>() + b * row_size, row_size);
  }
  const at::Tensor kept =
      kernels::torch::CopyTo(mask.ge(probability), x_BTC.device())
          .to(x_BTC.scalar_type());
  return x_BTC * (kept * (1.0 / (1.0 - probability)));
}

}  // namespace ordo::model::transformer
