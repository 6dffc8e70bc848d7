#ifndef ORDO_WORKER_TRAINER_EVALUATE_H_
#define ORDO_WORKER_TRAINER_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/repeated_field.h"
#include "model/evaluation/items.h"
#include "model/evaluation/report.h"
#include "model/tasks/task.h"
#include "model/training/model_config.h"
#include "model/transformer/transformer.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/result_key.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "worker/trainer/context.h"
#include "worker/trainer/progress.h"

namespace ordo::worker::trainer {

// One evaluation of one model.
struct EvaluationSubject {
  ordo::model::evaluation::ReportSubject report;
  // Not owned.
  const ordo::model::transformer::Transformer* model = nullptr;
  // What the model was trained on, or null. Not owned.
  const ordo::training::v1::Data* trained_on = nullptr;
  // What `progress` calls it; empty: by the name of the evaluation.
  std::string shown_as = {};
  // What it is asked; null: made from the report's evaluation.
  std::shared_ptr<const ordo::model::tasks::EvaluationTask> task = nullptr;
  // By what answers are kept, as RunEvaluation says, where the report's key is
  // not known yet; unset: by that.
  std::optional<ordo::training::v1::ResultKey> kept_by = std::nullopt;
  // Called after the evaluation: makes the model durable and says which
  // checkpoint it is. Without it there is nothing to report on.
  std::function<absl::StatusOr<std::string>()> checkpoint;
};

// What an evaluation found, of which checkpoint.
struct EvaluationResult {
  ordo::model::evaluation::ReportSubject report;
  ordo::model::evaluation::Outcome outcome;
  // Of what was read for it (EvaluationTask::data_fingerprint).
  std::string data_fingerprint = {};
};

// A question that is answered. Not owned.
struct AnsweredQuestion {
  // SHA-256 of the checkpoint's MANIFEST.json.
  const std::string& manifest_sha256;
  // Resolved; the task is in the catalogue.
  const ordo::training::v1::Evaluation& evaluation;
  // In the place of the checkpoint's own, as asked; null: none is.
  const ordo::training::v1::Component* encoding;
  // Kind of device.
  const std::string& device;
  std::string data_fingerprint;
};

// What its result is known by. After OpenDevice: where no kernel is named,
// those that the device has are part of it.
ordo::training::v1::ResultKey KeyOf(const AnsweredQuestion& answered);

// Evaluates, in fp32 on a CPU and in bf16 on a GPU, or as the evaluation says:
// how a model was trained does not change what it is asked. Where there is a
// key, what was answered is kept until all is, and a later attempt of the job
// goes on from there. CANCELLED on a request to stop; other errors are
// marked with their exit code.
absl::StatusOr<EvaluationResult> RunEvaluation(const TrainerContext& context,
                                               const EvaluationSubject& subject,
                                               Progress* progress);

// The same with a task that is made already: the subject's, or a part of it.
absl::StatusOr<EvaluationResult> RunTask(
    const TrainerContext& context, const EvaluationSubject& subject,
    const ordo::model::tasks::EvaluationTask& task, Progress* progress);

// Loads a checkpoint. CHECKPOINT_DAMAGED naming it, or OUT_OF_MEMORY.
absl::StatusOr<ordo::model::training::LoadedModel> LoadSource(
    const TrainerContext& context,
    const ordo::training::v1::CheckpointSource& source,
    const ordo::model::training::LoadOptions& options);

// Its step: that of the source, else that of its folder, else 0.
absl::StatusOr<int64_t> StepOfSource(
    const TrainerContext& context,
    const ordo::training::v1::CheckpointSource& source);

// A checkpoint that is read as far as it is asked for: its configuration for
// what it was trained on, its weights for the first question that has to be
// evaluated. Not thread-safe; what it is given outlives it.
class LazySource {
 public:
  // As of LoadSource.
  LazySource(const TrainerContext& context,
             const ordo::training::v1::CheckpointSource& source,
             const ordo::model::training::LoadOptions& options)
      : context_(context), source_(source), options_(options) {}

  // What it was trained on; null where that is not known. Errors are those of
  // LoadSource.
  absl::StatusOr<const ordo::training::v1::Data*> TrainedOn();
  absl::StatusOr<const ordo::model::transformer::Transformer*> Model();

 private:
  const TrainerContext& context_;
  const ordo::training::v1::CheckpointSource& source_;
  const ordo::model::training::LoadOptions options_;
  std::optional<ordo::training::v1::Data> data_;
  std::optional<ordo::model::training::LoadedModel> loaded_;
};

using KnownResults =
    google::protobuf::RepeatedPtrField<ordo::training::v1::KnownResult>;

// Whether one of `known` has the key of the report, which is set, and was taken
// over as that, which `progress` is told. Where its files are not what they
// were, it is told that instead.
bool TakeKnown(const TrainerContext& context, const KnownResults& known,
               const ordo::model::evaluation::ReportSubject& report,
               Progress* progress);

// Tells `progress` that so many known results had no room in the task, unless
// it is none.
void WarnOfResultsLeftOut(int32_t number, Progress* progress);

// Writes the report and tells `progress`. STORAGE_ERROR when it cannot be
// written; it may be tried again.
absl::StatusOr<ordo::training::v1::ReportWritten> WriteResult(
    const TrainerContext& context, const EvaluationResult& result,
    Progress* progress);

// Runs one evaluation task: every evaluation on every checkpoint whose report
// is not finished yet. A result that is known by its key is taken over; where
// its files are not what they were, that is told and it is evaluated. FINISHED
// or STOPPED; errors are marked with their exit
// code. `spec` is resolved. The last record is written in every case.
// Configures the numerics of the process.
absl::StatusOr<ordo::training::v1::ExitCode> EvaluateCheckpoints(
    const TrainerContext& context, const ordo::training::v1::EvaluateSpec& spec,
    Progress* progress);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_EVALUATE_H_
