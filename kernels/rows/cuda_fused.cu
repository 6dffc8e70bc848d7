// Rows on any GPU of compute capability 8.0 or newer: what a transformer does
// beside products of matrices, each number read and written once. Any type,
// width and stride; rows that begin where four numbers may are read as such.
// Nothing is added by atomics: reruns agree bit for bit.
//
// Not measured: written without a device.

#include <algorithm>

#include "kernels/rows/cuda_code.h"
#include "kernels/rows/cuda_fused_body.h"
#include "kernels/rows/cuda_fused_turn.h"

namespace ordo::kernels::rows {
namespace {

// Warps whose parts of a weight's gradient are summed up, at most: 16 for each
// multiprocessor of the largest GPU.
constexpr int64_t kMostParts = 2112;
// Of a grid's second axis.
constexpr int64_t kMostInGrid = 65535;

int64_t Quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

device::Grid InBlocks(int64_t threads) {
  return {Quotient(threads, kThreads), 1, 1, kThreads, 0};
}

const char* Refusal() {
  if (device::SharedBytesOfBlock() == 0) return "no device";
  static const char* const not_built = device::WhyNotBuilt(FusedGate);
  return not_built;
}

// Calls launch(part) for parts of a rotation whose rows of the batch fit a
// grid.
const char* Turn(const Rotation& rotation, void (*kernel)(const TurnArguments),
                 void* stream) {
  TurnArguments a = {rotation, Quotient(rotation.channels / 2, 4), 0};
  a.threads = a.turning + Quotient(rotation.width - rotation.channels, 4);
  const int64_t threads = rotation.heads * rotation.tokens * a.threads;
  if (threads > UINT32_MAX - kThreads || rotation.batch > kMostInGrid) {
    return "a rotation of 2^32 numbers of a row of the batch, or of 65536 rows";
  }
  device::Grid grid = InBlocks(threads);
  grid.y = rotation.batch;
  return device::Launch(kernel, grid, stream, a);
}

int64_t NumParts(const Norm& norm) { return std::min(kMostParts, norm.rows); }

int64_t NormWorkspaceBytes(const Norm& norm) {
  return NumParts(norm) * norm.width * static_cast<int64_t>(sizeof(float));
}

const char* DoNorm(const Norm& norm, void* /*workspace*/, void* stream) {
  return device::Launch(FusedNorm,
                        {Quotient(norm.rows, kWarps), 1, 1, kThreads, 0},
                        stream, norm);
}

const char* DoNormBackward(const Norm& norm, void* workspace, void* stream) {
  const int64_t bytes =
      kWarps * norm.width * static_cast<int64_t>(sizeof(float));
  NormArguments a = {norm, static_cast<float*>(workspace), NumParts(norm),
                     bytes <= device::SharedBytesOfBlock() / 2};
  if (norm.d_weight_C == nullptr) a.parts = nullptr;
  const bool shared = a.parts != nullptr && a.sums_in_shared;
  const char* const error = device::Launch(
      FusedNormBackward,
      {Quotient(a.num_parts, kWarps), 1, 1, kThreads, shared ? bytes : 0},
      stream, a);
  if (error != nullptr || a.parts == nullptr) return error;
  return device::Launch(
      FusedNormSum,
      {Quotient(norm.width, 32), 1, 1, kThreads, kThreads * sizeof(float)},
      stream, a);
}

const char* DoGate(const Gate& gate, void* /*workspace*/, void* stream) {
  return device::Launch(
      FusedGate, InBlocks(Quotient(gate.rows * gate.width, 4)), stream, gate);
}

const char* DoGateBackward(const Gate& gate, void* /*workspace*/,
                           void* stream) {
  return device::Launch(FusedGateBackward,
                        InBlocks(Quotient(gate.rows * gate.width, 4)), stream,
                        gate);
}

const char* DoAdam(const Adam& adam, void* /*workspace*/, void* stream) {
  for (int64_t first = 0; first < adam.num_parts; first += kAdamParts) {
    AdamArguments a = {};
    a.adam = adam;
    a.adam.num_parts = std::min<int64_t>(kAdamParts, adam.num_parts - first);
    std::copy_n(adam.parts + first, a.adam.num_parts, a.parts);
    const AdamPart& last = a.parts[a.adam.num_parts - 1];
    const int64_t count = last.first + last.count - a.parts[0].first;
    const char* const error =
        device::Launch(FusedAdam, InBlocks(Quotient(count, 4)), stream, a);
    if (error != nullptr) return error;
  }
  return nullptr;
}

const char* DoLoss(const Loss& loss, void* /*workspace*/, void* stream) {
  return device::Launch(FusedLoss,
                        {loss.rows, 1, 1, kThreads, kWarps * sizeof(LogSum)},
                        stream, loss);
}

const char* DoLossBackward(const Loss& loss, void* /*workspace*/,
                           void* stream) {
  // Rows by as many as fit a grid.
  for (int64_t first = 0; first < loss.rows; first += kMostInGrid) {
    Loss part = loss;
    part.rows = std::min(kMostInGrid, loss.rows - first);
    part.logits_NC += first * loss.width;
    part.targets_N += first;
    part.log_sum_N += first;
    device::Grid grid = InBlocks(Quotient(loss.width, 4));
    grid.y = part.rows;
    const char* const error =
        device::Launch(FusedLossBackward, grid, stream, part);
    if (error != nullptr) return error;
  }
  return nullptr;
}

}  // namespace

const CudaCode& FusedCuda() {
  static constexpr CudaCode kCode = {
      "cuda_fused",
      Refusal,
      NormWorkspaceBytes,
      [](const Rotation& r, void* /*workspace*/, void* stream) {
        return Turn(r, FusedTurn, stream);
      },
      [](const Rotation& r, void* /*workspace*/, void* stream) {
        return Turn(r, FusedTurnBackward, stream);
      },
      DoNorm,
      DoNormBackward,
      DoGate,
      DoGateBackward,
      DoAdam,
      DoLoss,
      DoLossBackward,
  };
  return kCode;
}

}  // namespace ordo::kernels::rows
