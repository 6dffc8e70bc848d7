#ifndef ORDO_MODEL_BENCHMARK_ATTENTION_CASE_H_
#define ORDO_MODEL_BENCHMARK_ATTENTION_CASE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/attention/problem.h"
#include "kernels/attention/table.h"
#include "kernels/common/type.h"
#include "model/benchmark/attention_classes.h"
#include "model/benchmark/attention_results.h"

namespace ordo::model::benchmark {

// A forward and a backward pass. Both make the tensors that they give and need,
// as a training step would, and that time counts.
struct AttentionRun {
  double forward_s = 0;
  double backward_s = 0;
  // The most that tensors took at a time beyond inputs and the gradients of
  // what is mixed: outputs, gradients, workspace.
  int64_t peak_bytes = 0;
};

// Random tensors of a problem on its device, and what can be timed on them.
// Runs on as many threads as LibTorch uses, or in order on a GPU's queue.
class AttentionCase {
 public:
  static absl::StatusOr<std::unique_ptr<AttentionCase>> Create(
      const AttentionClass& about, const AttentionShape& shape);
  ~AttentionCase();

  // Without `backward` the forward pass only, as below.
  absl::StatusOr<AttentionRun> RunKernel(
      const kernels::attention::Kernel& kernel, bool backward) const;

  // LibTorch's attention of one value tensor as wide as the keys, with nothing
  // added: at the same shape and of the same type, whatever the problem is.
  // Flash attention, or on a GPU cuDNN's.
  absl::StatusOr<AttentionRun> RunLibTorch(bool cudnn, bool backward) const;

  // Softmax over logits to which a bias [H,T,S] is added, by LibTorch's plain
  // operations, which keep the whole map, with autograd to the bias too.
  absl::StatusOr<AttentionRun> RunMaterialised(bool backward) const;

  // The largest difference between what the kernel and flash attention make of
  // plain attention, outputs and gradients.
  absl::StatusOr<double> DistanceToFlash(
      const kernels::attention::Kernel& kernel) const;

  const kernels::attention::Problem& problem() const;

 private:
  struct Tensors;
  explicit AttentionCase(std::unique_ptr<Tensors> tensors);

  const std::unique_ptr<Tensors> tensors_;
};

// What a machine's rates are measured by.
struct MachineWork {
  kernels::Device device = kernels::Device::kCpu;
  kernels::Type type = kernels::Type::kFloat32;
  // Of square matrices.
  int64_t gemm_side = 0;
  int64_t copied_bytes = 0;
};

// The best of five products of matrices, and of five copies.
absl::StatusOr<MachineRates> MeasureMachine(const MachineWork& work);

// Of LibTorch, and so of kernels here.
int NumThreads();

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_ATTENTION_CASE_H_
