#ifndef ORDO_TESTS_BENCH_TRAINING_STEP_H_
#define ORDO_TESTS_BENCH_TRAINING_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/common/type.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// A training step of a model under an encoding, beside one under rope.

namespace ordo::tests::bench {

// What ratios are to.
inline constexpr char kReferenceEncoding[] = "rope";

// A preset with `layers` layers, or as many as it has if that is 0.
// INVALID_ARGUMENT for an unknown one.
absl::StatusOr<training::v1::Model> ModelOf(const std::string& preset,
                                            int layers, int vocabulary_size);

// An encoding with default parameters, made of the reference where it needs
// others. NOT_FOUND for an unknown one, INVALID_ARGUMENT if it does not fit the
// model.
absl::StatusOr<training::v1::Component> EncodingOf(
    const std::string& name, const training::v1::Model& model);

// Of LibTorch.
int NumStepThreads();

// What steps of an encoding cost. Samples are in the order of rounds. Bytes are
// the most that tensors take at a time, parameters and optimizer included.
struct StepCosts {
  std::vector<double> seconds;
  // To the other step in the same round.
  std::vector<double> ratios;
  int64_t bytes = 0;
};

struct StepShape {
  int64_t rows = 1;
  int64_t length = 0;
  // Pairs of steps, after one that warms up.
  int rounds = 5;
  // Each encoding's steps take plain operations for attention, in turn with its
  // own with the best kernel; not with those of the reference.
  bool plain = false;
  // A GPU has been opened; there matrix products are in bf16.
  kernels::Device device = kernels::Device::kCpu;
};

// Steps of forward, backward and AdamW on random tokens, each encoding's in
// turn with those of the reference, so that what else the machine does falls on
// both. Memory is counted, not sampled.
class StepComparison {
 public:
  // Makes the model under the reference, and keeps it.
  static absl::StatusOr<std::unique_ptr<StepComparison>> Create(
      const training::v1::Model& model, const StepShape& shape);
  ~StepComparison();

  absl::StatusOr<StepCosts> Measure(
      const training::v1::Component& encoding) const;

  int64_t length() const;

 private:
  struct State;
  explicit StepComparison(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace ordo::tests::bench

#endif  // ORDO_TESTS_BENCH_TRAINING_STEP_H_
