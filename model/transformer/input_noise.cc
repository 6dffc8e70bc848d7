#include "model/transformer/input_noise.h"

#include <cstdint>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/ops/empty.h"
#include "base/check.h"
#include "base/random/random.h"
#include "kernels/torch/launch.h"
#include "kernels/torch/threads.h"

namespace ordo::model::transformer {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 20;
constexpr uint64_t kEvaluationSeed = 1;
// Blocks of random numbers set aside for one row, and two normals in each.
constexpr int kRowBits = 40;
constexpr int64_t kNormalsOfBlock = 2;

base::RandomStream StreamOf(
    const std::optional<encodings::TrainingStep>& training) {
  if (!training.has_value()) {
    return base::RandomStream(kEvaluationSeed, "input_noise/evaluation");
  }
  return base::RandomStream(training->seed,
                            "input_noise/" + std::to_string(training->step));
}

}  // namespace

at::Tensor AddInputNoise(double std, const at::Tensor& counted,
                         const std::optional<encodings::TrainingStep>& training,
                         const at::Tensor& x_BTC) {
  const int64_t length = x_BTC.size(1), width = x_BTC.size(2);
  // Without training, rows that count alike have the same noise.
  const int64_t rows = training.has_value() ? x_BTC.size(0) : counted.size(0);
  const int64_t first_row = training.has_value() ? training->first_row : 0;
  const int64_t blocks = (width + kNormalsOfBlock - 1) / kNormalsOfBlock;
  ORDO_CHECK(first_row + rows <= kMaxRows);
  const base::RandomStream stream = StreamOf(training);
  const at::Tensor numbers = counted.expand({rows, length}).contiguous();
  const auto* const number = numbers.const_data_ptr<int64_t>();
  at::Tensor noise = at::empty({rows, length, width}, at::kDouble);
  auto* const out = noise.mutable_data_ptr<double>();
  kernels::torch::RunOnThreads(rows, [&](int64_t row, int /*thread*/) {
    const auto start = training.has_value()
                           ? static_cast<uint64_t>(first_row + row) << kRowBits
                           : uint64_t{0};
    for (int64_t i = row * length; i < (row + 1) * length; ++i) {
      stream.FillNormals(start + static_cast<uint64_t>(number[i] * blocks),
                         out + i * width, static_cast<size_t>(width));
    }
  });
  return x_BTC + kernels::torch::CopyTo(noise.mul_(std).to(x_BTC.scalar_type()),
                                        x_BTC.device());
}

}  // namespace ordo::model::transformer
