#ifndef ORDO_TESTS_BENCH_ATTENTION_CASE_H_
#define ORDO_TESTS_BENCH_ATTENTION_CASE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/attention/problem.h"
#include "kernels/attention/table.h"
#include "kernels/common/type.h"
#include "tests/bench/attention_classes.h"
#include "tests/bench/attention_results.h"

namespace ordo::tests::bench {

// A forward and a backward pass. Both make the tensors that they give and need,
// as a training step would, and that time counts.
struct AttentionRun {
  double forward_s = 0;
  double backward_s = 0;
  // The most that tensors took at a time beyond inputs and the gradients of
  // what is mixed: outputs, gradients, workspace.
  int64_t peak_bytes = 0;
};

// Random tensors of a problem on this machine's CPU, and what can be timed on
// them. Runs on as many threads as LibTorch uses.
class AttentionCase {
 public:
  static absl::StatusOr<std::unique_ptr<AttentionCase>> Create(
      const AttentionClass& about, const AttentionShape& shape);
  ~AttentionCase();

  absl::StatusOr<AttentionRun> RunKernel(
      const kernels::attention::Kernel& kernel) const;

  // LibTorch's flash attention of one value tensor as wide as the keys, with
  // nothing added: at the same shape and of the same type, whatever the problem
  // is.
  absl::StatusOr<AttentionRun> RunFlash() const;

  // Softmax over logits to which a bias [H,T,S] is added, by LibTorch's plain
  // operations, which keep the whole map, with autograd to the bias too.
  absl::StatusOr<AttentionRun> RunMaterialised() const;

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

// The best of five: products of matrices of the type, `side` wide, and copies
// of `bytes`.
absl::StatusOr<MachineRates> MeasureMachine(kernels::Type type, int64_t side,
                                            int64_t bytes);

// Of LibTorch, and so of kernels here.
int NumThreads();

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_ATTENTION_CASE_H_
