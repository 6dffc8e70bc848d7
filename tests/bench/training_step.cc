#include "tests/bench/training_step.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/arange.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve.h"
#include "model/guard.h"
#include "model/training/adamw.h"
#include "model/transformer/transformer.h"
#include "tests/bench/counting_allocator.h"

namespace ordo::tests::bench {
namespace {

namespace catalog = model::catalog;
using model::training::AdamW;
using model::transformer::ForwardOptions;
using model::transformer::Transformer;
using training::v1::Component;
using training::v1::Model;

absl::Status Refused(const std::vector<base::FieldViolation>& violations) {
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      violations.front().field, ": ", violations.front().description));
}

// A model in training on random tokens.
class Training {
 public:
  static absl::StatusOr<std::unique_ptr<Training>> Create(
      const Model& of, const Component& encoding) {
    ORDO_ASSIGN_OR_RETURN(auto transformer,
                          Transformer::Create(of, encoding, {}));
    return model::Guard("make the optimizer", [&] {
      for (const auto& named : transformer->Parameters()) {
        at::Tensor(named.tensor).requires_grad_(true);
      }
      return std::make_unique<Training>(std::move(transformer));
    });
  }

  explicit Training(std::unique_ptr<Transformer> transformer)
      : transformer_(std::move(transformer)),
        optimizer_(transformer_->Parameters(), {}) {}

  // Seconds of forward, backward and update over int64 [B,T].
  absl::StatusOr<double> Step(const at::Tensor& tokens_BT) {
    const auto start = std::chrono::steady_clock::now();
    ORDO_RETURN_IF_ERROR(model::Guard("step", [&] {
      for (const auto& named : transformer_->Parameters()) {
        named.tensor.mutable_grad() = at::Tensor();
      }
      ForwardOptions options;
      options.training = {1, step_++};
      const int64_t count = tokens_BT.numel();
      transformer_
          ->Loss(tokens_BT,
                 {tokens_BT.flatten(), at::arange(count),
                  1.0 / static_cast<double>(count)},
                 options)
          .backward();
      optimizer_.Step(1e-4, 1.0);
    }));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

 private:
  const std::unique_ptr<Transformer> transformer_;
  AdamW optimizer_;
  int64_t step_ = 0;
};

}  // namespace

absl::StatusOr<Model> ModelOf(const std::string& preset, int layers,
                              int vocabulary_size) {
  Model resolved;
  resolved.set_preset(preset);
  if (layers != 0) resolved.set_layers(layers);
  std::vector<base::FieldViolation> violations;
  catalog::ResolveModel("model", vocabulary_size, &resolved, &violations);
  ORDO_RETURN_IF_ERROR(Refused(violations));
  return resolved;
}

absl::StatusOr<Component> EncodingOf(const std::string& name, const Model& of) {
  const catalog::Entry* entry = catalog::Find(catalog::Kind::kEncoding, name);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("'", name, "' is not an encoding of docs/encodings.md"));
  }
  Component component;
  component.set_name(name);
  for (int i = 0; i < entry->min_with; ++i) {
    component.add_with()->set_name(kReferenceEncoding);
  }
  std::vector<base::FieldViolation> violations;
  catalog::ResolveEncoding("encoding", of, &component, &violations);
  ORDO_RETURN_IF_ERROR(Refused(violations));
  return component;
}

int NumStepThreads() { return at::get_num_threads(); }

struct StepComparison::State {
  Model model;
  StepShape shape;
  at::Tensor tokens_BT;
  std::unique_ptr<Training> reference;
};

StepComparison::StepComparison(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

StepComparison::~StepComparison() = default;

absl::StatusOr<std::unique_ptr<StepComparison>> StepComparison::Create(
    const Model& of, const StepShape& shape) {
  CountingAllocator::Installed();
  auto state = std::make_unique<State>();
  state->model = of;
  state->shape = shape;
  state->tokens_BT =
      (at::arange(shape.rows * shape.length) * 7 % of.vocabulary_size())
          .view({shape.rows, shape.length});
  ORDO_ASSIGN_OR_RETURN(const Component reference,
                        EncodingOf(kReferenceEncoding, of));
  ORDO_ASSIGN_OR_RETURN(state->reference, Training::Create(of, reference));
  // From here on it holds as much after each step.
  ORDO_RETURN_IF_ERROR(state->reference->Step(state->tokens_BT).status());
  return std::unique_ptr<StepComparison>(new StepComparison(std::move(state)));
}

absl::StatusOr<StepCosts> StepComparison::Measure(
    const Component& encoding) const {
  CountingAllocator& memory = CountingAllocator::Installed();
  const int64_t before = memory.now();
  ORDO_ASSIGN_OR_RETURN(const auto trained,
                        Training::Create(state_->model, encoding));
  StepCosts costs;
  for (int round = -1; round < state_->shape.rounds; ++round) {
    memory.Restart();
    ORDO_ASSIGN_OR_RETURN(const double ours, trained->Step(state_->tokens_BT));
    costs.bytes = std::max(costs.bytes, memory.most() - before);
    if (round < 0) continue;
    ORDO_ASSIGN_OR_RETURN(const double theirs,
                          state_->reference->Step(state_->tokens_BT));
    costs.seconds.push_back(ours);
    costs.ratios.push_back(ours / theirs);
  }
  return costs;
}

int64_t StepComparison::length() const { return state_->shape.length; }

}  // namespace ordo::tests::bench
