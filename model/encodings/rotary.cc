#include "model/encodings/rotary.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/where.h"
#include "kernels/torch/launch.h"
#include "kernels/torch/rows.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"

namespace ordo::model::encodings {
namespace {

kernels::torch::Turning TurningOf(const RotaryOptions& options) {
  return {options.channels, options.layout == PairLayout::kInterleaved};
}

}  // namespace

RotaryOptions RotaryFromComponent(
    const ordo::training::v1::Component& component, const ModelShape& shape) {
  const catalog::Params params(component.params());
  RotaryOptions options;
  options.base = params.Number("base");
  options.channels =
      catalog::TurningChannels(component.params(), shape.head_width());
  options.layout = params.String("layout") == "interleaved"
                       ? PairLayout::kInterleaved
                       : PairLayout::kHalfSplit;
  return options;
}

std::vector<double> RotaryFrequencies(const RotaryOptions& options) {
  return GeometricFrequencies(options.base, options.channels);
}

at::Tensor RotaryTable(const at::Tensor& frequencies,
                       const std::vector<double>& factors,
                       const at::Tensor& positions, c10::ScalarType dtype) {
  const at::Tensor angle =
      positions.to(at::kDouble).unsqueeze(1).unsqueeze(-1) *
      frequencies.to(at::kDouble);
  std::vector<double> values = factors;
  const at::Tensor factor = kernels::torch::CopyTo(
      at::from_blob(values.data(),
                    {static_cast<int64_t>(values.size()), 1, 1, 1}, at::kDouble)
          .clone(),
      positions.device());
  return (at::cat({angle.cos(), angle.sin()}, -1) * factor).to(dtype);
}

at::Tensor RotaryTable(const std::vector<Rotation>& rotations,
                       const at::Tensor& positions, c10::ScalarType dtype) {
  const auto rows = static_cast<int64_t>(rotations.size());
  const auto pairs = static_cast<int64_t>(rotations[0].frequencies.size());
  std::vector<double> frequencies, factors;
  for (const Rotation& rotation : rotations) {
    frequencies.insert(frequencies.end(), rotation.frequencies.begin(),
                       rotation.frequencies.end());
    factors.push_back(rotation.attention_factor);
  }
  const at::Tensor values = kernels::torch::CopyTo(
      at::from_blob(frequencies.data(), {rows, 1, 1, pairs}, at::kDouble)
          .clone(),
      positions.device());
  return RotaryTable(values, factors, positions, dtype);
}

at::Tensor RotaryTable(const Rotation& rotation, const at::Tensor& positions,
                       c10::ScalarType dtype) {
  return RotaryTable(std::vector<Rotation>{rotation}, positions, dtype);
}

at::Tensor RotaryTable(const RotaryOptions& options,
                       const at::Tensor& positions, c10::ScalarType dtype) {
  return RotaryTable(Rotation{RotaryFrequencies(options)}, positions, dtype);
}

std::vector<int64_t> VisibleLengths(const Pass& pass) {
  const at::Tensor& ids = pass.PositionsOnHost();
  const at::Tensor seen =
      pass.seen_BS.defined() ? at::where(pass.seen_BS, ids, 0) : ids;
  const at::Tensor lengths = (seen.amax(1) + 1).to(at::kLong).contiguous();
  const auto* first = lengths.const_data_ptr<int64_t>();
  return {first, first + lengths.numel()};
}

at::Tensor Rotate(const RotaryOptions& options, const at::Tensor& table,
                  const at::Tensor& x_BHTD) {
  return kernels::torch::Turn(TurningOf(options), table, x_BHTD);
}

void RotateBoth(const RotaryOptions& options, const at::Tensor& table,
                at::Tensor* q_BHTD, at::Tensor* k_BGTD) {
  kernels::torch::TurnBoth(TurningOf(options), table, q_BHTD, k_BGTD);
}

}  // namespace ordo::model::encodings
