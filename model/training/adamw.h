#ifndef ORDO_MODEL_TRAINING_ADAMW_H_
#define ORDO_MODEL_TRAINING_ADAMW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "model/parameters/parameters.h"
#include "model/training/safetensors.h"

// Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight
// Decay Regularization", 2019, algorithm 2, with the rate as its schedule):
//
//   m = b1 m + (1 - b1) g              v = b2 v + (1 - b2) g^2
//   p = p (1 - rate decay) - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + e)
//
// The decay acts on matrices only (two dimensions or more).

namespace ordo::model::training {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

// Parameters that decay lie one behind the other, as those that do not, and
// their moments; so a step is one call of a kernel for each of the two.
//
// Elementwise only, so results do not depend on the number of threads. Not
// thread-safe. Throws what LibTorch throws.
class AdamW {
 public:
  // Moves the parameters to storage that it shares with them: their values stay
  // the same, views of them that were taken before are left behind.
  AdamW(const std::vector<parameters::NamedTensor>& parameters,
        const AdamWOptions& options);

  // Updates the parameters from their gradients times `gradient_scale`. A
  // parameter without a gradient is left alone.
  void Step(double learning_rate, double gradient_scale);

  // t: number of Step calls in all.
  int64_t num_updates() const { return num_updates_; }

  // The moments by name: <parameter>.exp_avg and <parameter>.exp_avg_sq. They
  // share storage with the optimizer's.
  TensorMap State() const;
  // Takes over a state; DATA_LOSS when a tensor is missing, left over or of
  // another shape or type.
  absl::Status Load(const TensorMap& state, int64_t num_updates);

 private:
  // A parameter, from number `first` of its group on.
  struct Slot {
    std::string name;
    at::Tensor parameter;
    int64_t first;
  };

  // Parameters of one decay, type and device.
  struct Group {
    double weight_decay = 0;
    std::vector<Slot> slots;
    // Zeros between parameters.
    at::Tensor parameter_N;
    at::Tensor exp_avg_N;
    at::Tensor exp_avg_sq_N;
  };

  static void Flatten(Group* group);

  const AdamWOptions options_;
  std::vector<Group> groups_;
  int64_t num_updates_ = 0;
};

// DATA_LOSS when the names of `from` and `to` are not the same, or a shape or
// type differs; `what` begins the message.
absl::Status CheckTensors(const TensorMap& from, const TensorMap& to,
                          const std::string& what);

// Copies the tensors of `from` into those of `to`, which keep their storage,
// if CheckTensors finds nothing; else gives its status and copies nothing.
absl::Status CopyTensors(const TensorMap& from, const TensorMap& to,
                         const std::string& what);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_ADAMW_H_
