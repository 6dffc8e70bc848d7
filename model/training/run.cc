#include "model/training/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/_foreach_norm.h"
#include "ATen/ops/stack.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/tasks/registry.h"
#include "model/training/autocast.h"
#include "model/training/recipe.h"
#include "model/training/schedule.h"
#include "model/training/trainable.h"

namespace ordo::model::training {
namespace {

AdamWOptions OptimizerOptions(const ordo::training::v1::Training& training) {
  AdamWOptions options;
  options.beta1 = training.beta1();
  options.beta2 = training.beta2();
  options.epsilon = training.epsilon();
  options.weight_decay = training.weight_decay();
  return options;
}

// Adds adapters and lets only those parameters have gradients that train.
absl::Status PrepareParameters(const ordo::training::v1::Training& training,
                               transformer::Transformer* model) {
  if (training.has_lora()) model->AddAdapters(training.lora());
  bool any = false;
  for (const auto& named : model->Parameters()) {
    const bool trains = Trains(training, named.name);
    at::Tensor(named.tensor).requires_grad_(trains);
    any = any || trains;
  }
  if (any) return absl::OkStatus();
  return base::InvalidField("training.trainable",
                            "the model has no parameters in these parts; name "
                            "others");
}

// What a tokenizer in a file has is known only now.
absl::Status CheckVocabulary(const ordo::training::v1::Model& model,
                             const tasks::Tokenizer& tokenizer) {
  const int size = tokenizer.vocabulary_size();
  if (size <= model.vocabulary_size()) return absl::OkStatus();
  return base::InvalidField(
      "model.vocabulary_size",
      absl::StrCat("the tokenizer of the data has ", size, " tokens, is ",
                   model.vocabulary_size(), "; set it to ", size));
}

std::vector<parameters::NamedTensor> Trainable(
    const transformer::Transformer& model) {
  std::vector<parameters::NamedTensor> trainable;
  for (const auto& named : model.Parameters()) {
    if (named.tensor.requires_grad()) trainable.push_back(named);
  }
  return trainable;
}

absl::Status NonFinite(int64_t step, const StepResult& result,
                       const std::string& what_to_do) {
  base::ErrorInfo info;
  info.reason = kNonFiniteReason;
  return base::WithErrorInfo(
      absl::FailedPreconditionError(absl::StrCat(
          "step ", step, ": loss is ", result.loss, " and the gradient's norm ",
          result.gradient_norm, "; ", what_to_do)),
      info);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Run>> Run::Create(
    const ordo::training::v1::TrainSpec& spec, c10::Device device,
    Collective* collective, const tasks::DataAccess& access) {
  ORDO_ASSIGN_OR_RETURN(auto task,
                        tasks::MakeTrainingTask(spec.data(), access));
  ORDO_RETURN_IF_ERROR(CheckVocabulary(spec.model(), task->tokenizer()));
  parameters::ParameterOptions options;
  options.seed = spec.training().seed();
  options.device = device;
  ORDO_ASSIGN_OR_RETURN(
      auto model,
      transformer::Transformer::Create(spec.model(), spec.encoding(), options));
  ORDO_RETURN_IF_ERROR(Guard("prepare the parameters", [&] {
    return PrepareParameters(spec.training(), model.get());
  }));
  return Guard("make the optimizer", [&] {
    return std::unique_ptr<Run>(
        new Run(spec, std::move(model), std::move(task), collective));
  });
}

Run::Run(const ordo::training::v1::TrainSpec& spec,
         std::unique_ptr<transformer::Transformer> model,
         std::unique_ptr<tasks::TrainingTask> task, Collective* collective)
    : spec_(spec),
      model_(std::move(model)),
      task_(std::move(task)),
      optimizer_(Trainable(*model_), OptimizerOptions(spec.training())),
      rank_(collective == nullptr ? 0 : collective->rank()),
      ranks_(collective == nullptr ? 1 : collective->ranks()) {
  // Only rank 0 tells it.
  if (rank_ == 0) cursors_.data_digest = data::OrderDigest::OfNoRows();
  if (collective == nullptr) return;
  std::vector<at::Tensor> parameters;
  for (const auto& named : Trainable(*model_)) {
    parameters.push_back(named.tensor);
  }
  const auto& training = spec.training();
  sum_.emplace(collective, std::move(parameters),
               training.batch_size() / training.micro_batch_size());
}

absl::StatusOr<StepResult> Run::Step(const Wishes& wishes) {
  ORDO_CHECK(cursors_.step < spec_.training().steps());
  StepResult result;
  std::vector<at::Tensor> losses;
  ORDO_RETURN_IF_ERROR(Guard("compute gradients", [&]() -> absl::Status {
    ClearGradients();
    ORDO_ASSIGN_OR_RETURN(const Passes passes, NextPasses());
    result.num_tokens = passes.num_tokens;
    losses = ComputeGradients(passes);
    // A GPU computes meanwhile.
    result.data_digest = passes.order.After(cursors_.data_digest);
    return absl::OkStatus();
  }));
  result.wishes = wishes;
  result.attention_kernels = attention_kernels_;
  if (sum_) {
    ORDO_ASSIGN_OR_RETURN(GradientSum::Result sum, sum_->Add(losses, wishes));
    losses = std::move(sum.losses);
    result.wishes = sum.wishes;
  }
  ORDO_RETURN_IF_ERROR(
      Guard("measure gradients", [&] { Measure(losses, &result); }));
  result.learning_rate = LearningRate(spec_.training(), cursors_.step);
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
    return SkipStep(result);
  }
  const double clip = spec_.training().clip_norm();
  const double scale = clip > 0 && result.gradient_norm > clip
                           ? clip / result.gradient_norm
                           : 1.0;
  ORDO_RETURN_IF_ERROR(Guard("update the parameters", [&] {
    optimizer_.Step(result.learning_rate, scale);
  }));
  cursors_.skipped_in_a_row = 0;
  cursors_.updates = optimizer_.num_updates();
  Advance(result);
  return result;
}

absl::StatusOr<StepResult> Run::SkipStep(StepResult result) {
  const auto& training = spec_.training();
  if (training.non_finite() != "skip") {
    return NonFinite(cursors_.step, result,
                     "lower training.learning_rate, or set "
                     "training.non_finite: skip");
  }
  if (cursors_.skipped_in_a_row >= training.max_non_finite()) {
    return NonFinite(cursors_.step, result,
                     absl::StrCat(training.max_non_finite(),
                                  " steps in a row were skipped already "
                                  "(training.max_non_finite); lower "
                                  "training.learning_rate"));
  }
  result.skipped = true;
  ++cursors_.skipped_in_a_row;
  Advance(result);
  return result;
}

void Run::Advance(const StepResult& result) {
  ++cursors_.step;
  cursors_.samples += spec_.training().batch_size();
  cursors_.tokens += result.num_tokens;
  cursors_.data_digest = result.data_digest;
}

void Run::ClearGradients() {
  for (const auto& named : model_->Parameters()) {
    named.tensor.mutable_grad() = at::Tensor();
  }
}

absl::StatusOr<Run::Passes> Run::NextPasses() const {
  const auto& training = spec_.training();
  Passes passes;
  data::OrderDigest* const order =
      cursors_.data_digest.empty() ? nullptr : &passes.order;
  int pass = 0;
  for (int64_t row = 0; row < training.batch_size();
       row += training.micro_batch_size(), ++pass) {
    data::BatchRows rows;
    rows.seed = spec_.data().seed();
    rows.first = static_cast<uint64_t>(cursors_.samples + row);
    rows.count = training.micro_batch_size();
    if (pass % ranks_ != rank_) {
      ORDO_ASSIGN_OR_RETURN(const data::BatchSize size,
                            data::SizeOfBatch(*task_, rows, order));
      passes.num_tokens += size.num_tokens;
      passes.num_scored += size.num_scored;
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(data::Batch batch,
                          data::MakeBatch(*task_, rows, order));
    passes.batches.push_back(std::move(batch));
    passes.first_rows.push_back(row);
    passes.num_tokens += passes.batches.back().num_tokens();
    passes.num_scored += passes.batches.back().num_scored();
  }
  return passes;
}

std::vector<at::Tensor> Run::ComputeGradients(const Passes& passes) {
  const auto& training = spec_.training();
  attention_kernels_.clear();
  std::vector<at::Tensor> losses;
  for (size_t i = 0; i < passes.batches.size(); ++i) {
    const data::Batch& pass = passes.batches[i];
    transformer::ForwardOptions options;
    options.training = {training.seed(), cursors_.step, passes.first_rows[i]};
    options.shifted_sparse_group = training.shifted_sparse().group();
    options.kernel = training.kernel();
    options.kernels_taken = &attention_kernels_;
    if (pass.first_BT.defined()) options.first_seen = pass.first_BT;
    // A causal model does not see the padding, which is at the end.
    if (!spec_.model().causal() && pass.real_BT.defined()) {
      options.attention_mask = pass.real_BT;
    }
    if (spec_.model().dropout() > 0) {
      options.dropout = {training.seed(), cursors_.step, passes.first_rows[i]};
    }
    at::Tensor part;
    {
      const AutocastScope autocast(training.precision(),
                                   model_->device().type());
      part = model_->Loss(pass.tokens_BT,
                          {pass.targets_N, pass.places_N,
                           1.0 / static_cast<double>(passes.num_scored)},
                          options);
    }
    part.backward();
    losses.push_back(part.detach());
  }
  return losses;
}

void Run::Measure(const std::vector<at::Tensor>& losses,
                  StepResult* result) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const auto& named : model_->Parameters()) {
    const at::Tensor& gradient = named.tensor.grad();
    if (gradient.defined()) gradients.push_back(gradient);
  }
  std::vector<at::Tensor> numbers = losses;
  if (!gradients.empty()) {
    // On a GPU a few launches for all of them.
    for (const at::Tensor& norm : at::_foreach_norm(gradients)) {
      numbers.push_back(norm);
    }
  }
  const at::Tensor on_host = at::stack(numbers).cpu().to(at::kDouble);
  const auto* number = on_host.const_data_ptr<double>();
  for (size_t i = 0; i < losses.size(); ++i) result->loss += *number++;
  double squares = 0;
  for (size_t i = losses.size(); i < numbers.size(); ++i, ++number) {
    squares += *number * *number;
  }
  result->gradient_norm = std::sqrt(squares);
}

Snapshot Run::State() const {
  return {ParametersOf(*model_), optimizer_.State(), cursors_,
          RecipeText(spec_),     attention_kernels_, task_->data_fingerprint()};
}

absl::Status Run::Load(const Snapshot& snapshot) {
  return Guard("load a state", [&]() -> absl::Status {
    // Nothing is taken over unless all of it can be.
    ORDO_RETURN_IF_ERROR(CheckTensors(snapshot.optimizer, optimizer_.State(),
                                      "load optimizer state"));
    ORDO_RETURN_IF_ERROR(CopyTensors(snapshot.parameters, ParametersOf(*model_),
                                     "load parameters"));
    ORDO_RETURN_IF_ERROR(
        optimizer_.Load(snapshot.optimizer, snapshot.cursors.updates));
    cursors_ = snapshot.cursors;
    return absl::OkStatus();
  });
}

}  // namespace ordo::model::training
