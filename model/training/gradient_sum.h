#ifndef ORDO_MODEL_TRAINING_GRADIENT_SUM_H_
#define ORDO_MODEL_TRAINING_GRADIENT_SUM_H_

#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "model/training/collective.h"

namespace ordo::model::training {

// What a rank asks of all of them. It travels with the gradients, so that all
// know after the same step.
struct Wishes {
  // To end the run with the state after the step.
  bool stop = false;
  // To wait after the step until rank 0 lets them go on.
  bool pause = false;
};

// Adds up what the ranks of a run have computed of a step. Not thread-safe.
class GradientSum {
 public:
  // Bytes that are added in one piece.
  static constexpr int64_t kBucketBytes = 25 << 20;

  struct Result {
    // Of each pass of the batch.
    std::vector<at::Tensor> losses;
    // What any rank wished.
    Wishes wishes;
  };

  // Of parameters that train, fp32, the same on all ranks in the same order,
  // and of batches of `num_passes` passes over all ranks. `collective` outlives
  // it. Throws what LibTorch throws.
  GradientSum(Collective* collective, std::vector<at::Tensor> parameters,
              int64_t num_passes);

  // Replaces the gradients by their sums over the ranks; a parameter that has a
  // gradient on no rank keeps none. They stay as they are until the next call.
  // `losses` are those of this rank's passes, which are every ranks()th from
  // rank() on. Errors: as Collective.
  absl::StatusOr<Result> Add(const std::vector<at::Tensor>& losses,
                             const Wishes& wishes);

 private:
  // Places behind the gradients in all_N.
  int64_t FlagsAt() const { return num_numbers_; }
  int64_t LossesAt() const;
  int64_t WishesAt() const { return LossesAt() + num_passes_; }

  void Fill(const std::vector<at::Tensor>& losses, const Wishes& wishes);
  std::vector<at::Tensor> Buckets() const;
  Result Take();

  Collective* const collective_;
  const std::vector<at::Tensor> parameters_;
  const int64_t num_passes_;
  // Gradients one behind the other, then for each parameter how many ranks have
  // one, the losses of all passes, and how many ranks wish what.
  int64_t num_numbers_ = 0;
  at::Tensor all_N_;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_GRADIENT_SUM_H_
