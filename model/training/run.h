#ifndef ORDO_MODEL_TRAINING_RUN_H_
#define ORDO_MODEL_TRAINING_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/data/order_digest.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/training/adamw.h"
#include "model/training/collective.h"
#include "model/training/gradient_sum.h"
#include "model/training/snapshot.h"
#include "model/transformer/transformer.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::training {

// What one optimizer step did.
struct StepResult {
  // Mean over the batch's scored tokens, nats per token.
  double loss = 0;
  double learning_rate = 0;
  // Global norm of the gradient before clipping.
  double gradient_norm = 0;
  // Read by the passes of all ranks, padding included.
  int64_t num_tokens = 0;
  // Loss or gradient was not finite and the step was left out.
  bool skipped = false;
  // What any rank wished when it began the step.
  Wishes wishes;
  // Names of the kernels that computed attention in this rank's passes,
  // "reference" where plain operations did.
  std::set<std::string> attention_kernels = {};
  // Cursors::data_digest after the step.
  std::string data_digest = {};
};

// The reason (base::ErrorInfo) of a step that ended the run because loss or
// gradient were not finite.
inline constexpr char kNonFiniteReason[] = "NON_FINITE";

// Model, optimizer, data stream and their cursors: a run that can be stepped,
// saved and gone on with. What it computes is a pure function of the
// specification and the Environment (numerics.h). Not thread-safe.
class Run {
 public:
  // `spec` is resolved. The run stands at step 0 with initial weights. What of
  // the model the recipe does not let train keeps its bits. `device` is where
  // parameters and optimizer lie and steps compute; open (numerics.h).
  // `collective` is that of several ranks, which all make the same calls of
  // their runs; it outlives the run. Data is opened through `access`, whose
  // errors are those of MakeTrainingTask; INVALID_ARGUMENT with field
  // model.vocabulary_size when the model has fewer tokens than the data.
  static absl::StatusOr<std::unique_ptr<Run>> Create(
      const ordo::training::v1::TrainSpec& spec,
      c10::Device device = c10::Device(c10::DeviceType::CPU),
      Collective* collective = nullptr, const tasks::DataAccess& access = {});

  // One optimizer step over the next batch_size rows, in passes of
  // micro_batch_size rows whose gradients add up: the loss of each is divided
  // by the number of scored tokens of the whole batch. Rank r of n computes
  // passes r, r + n, ..., and all come to the same state. Called at most until
  // cursors().step == spec.training().steps().
  //
  // However the batch is split, over ranks or within one, its gradient is that
  // of one pass but for rounding: the norm of the difference is at most 1e-6
  // (fp32) or 2^-7 (bf16, whose passes each round to 8 bits) of the sum of the
  // norms of what the passes add.
  //
  // FAILED_PRECONDITION with kNonFiniteReason when loss or gradient is not
  // finite and the policy does not let the step be skipped; nothing has changed
  // then. RESOURCE_EXHAUSTED when memory runs out. UNAVAILABLE with
  // kPeerLostReason when another rank is lost, with kNcclErrorReason when NCCL
  // fails, and with neither when the device does. tasks::kDataMissingReason
  // when data cannot be read.
  absl::StatusOr<StepResult> Step(const Wishes& wishes = {});

  const ordo::training::v1::TrainSpec& spec() const { return spec_; }
  const transformer::Transformer& model() const { return *model_; }
  const tasks::TrainingTask& task() const { return *task_; }
  const Cursors& cursors() const { return cursors_; }

  // The state now; tensors share storage with the run's. See Copy.
  Snapshot State() const;
  // Goes on from a state. DATA_LOSS when it does not fit the model.
  absl::Status Load(const Snapshot& snapshot);

 private:
  Run(const ordo::training::v1::TrainSpec& spec,
      std::unique_ptr<transformer::Transformer> model,
      std::unique_ptr<tasks::TrainingTask> task, Collective* collective);

  // This rank's passes of the next batch.
  struct Passes {
    std::vector<data::Batch> batches;
    // Of each, its first row in the batch.
    std::vector<int64_t> first_rows;
    // Of all ranks' passes.
    int64_t num_tokens = 0;
    int64_t num_scored = 0;
    // Took up the rows of all ranks if Cursors::data_digest is known.
    data::OrderDigest order;
  };
  absl::StatusOr<Passes> NextPasses() const;
  // Adds the gradients of this rank's passes up. Their losses, which with those
  // of the other ranks add up to the mean. Sets attention_kernels_.
  std::vector<at::Tensor> ComputeGradients(const Passes& passes);
  // Moves the cursors past the step's batch.
  void Advance(const StepResult& result);
  // Fills in loss and norm; the one place where a step waits for a device.
  void Measure(const std::vector<at::Tensor>& losses, StepResult* result) const;
  absl::StatusOr<StepResult> SkipStep(StepResult result);
  void ClearGradients();

  const ordo::training::v1::TrainSpec spec_;
  const std::unique_ptr<transformer::Transformer> model_;
  const std::unique_ptr<tasks::TrainingTask> task_;
  AdamW optimizer_;
  const int rank_;
  const int ranks_;
  // Unless there is one rank.
  std::optional<GradientSum> sum_;
  Cursors cursors_;
  // Of the last step.
  std::set<std::string> attention_kernels_;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_RUN_H_
