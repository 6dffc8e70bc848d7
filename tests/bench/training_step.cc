#include "tests/bench/training_step.h"

#include <algorithm>
#include <utility>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/arange.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/benchmark/meter.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve_model.h"
#include "model/guard.h"
#include "model/training/adamw.h"
#include "model/training/autocast.h"
#include "model/transformer/transformer.h"

namespace ordo::tests::bench {
namespace {

namespace catalog = model::catalog;
using model::benchmark::DeviceOf;
using model::benchmark::Meter;
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
      const Model& of, const Component& encoding, c10::Device device,
      const std::string& kernel = "") {
    model::parameters::ParameterOptions options;
    options.device = device;
    ORDO_ASSIGN_OR_RETURN(auto transformer,
                          Transformer::Create(of, encoding, options));
    return model::Guard("make the optimizer", [&] {
      for (const auto& named : transformer->Parameters()) {
        at::Tensor(named.tensor).requires_grad_(true);
      }
      return std::make_unique<Training>(std::move(transformer), kernel);
    });
  }

  // `kernel` is that of attention; empty: the best.
  Training(std::unique_ptr<Transformer> transformer, std::string kernel)
      : transformer_(std::move(transformer)),
        kernel_(std::move(kernel)),
        optimizer_(transformer_->Parameters(), {}) {}

  // Seconds of forward, backward and update over int64 [B,T].
  absl::StatusOr<double> Step(const at::Tensor& tokens_BT) {
    const c10::Device device = tokens_BT.device();
    return Meter(device).Time([&] {
      return model::Guard("step", [&] {
        for (const auto& named : transformer_->Parameters()) {
          named.tensor.mutable_grad() = at::Tensor();
        }
        ForwardOptions options;
        options.training = {1, step_++};
        options.kernel = kernel_;
        const int64_t count = tokens_BT.numel();
        at::Tensor loss;
        {
          const model::training::AutocastScope autocast(
              device.is_cpu() ? "fp32" : "bf16", device.type());
          loss = transformer_->Loss(tokens_BT,
                                    {tokens_BT.flatten(), at::arange(count),
                                     1.0 / static_cast<double>(count)},
                                    options);
        }
        loss.backward();
        optimizer_.Step(1e-4, 1.0);
      });
    });
  }

 private:
  const std::unique_ptr<Transformer> transformer_;
  const std::string kernel_;
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
  // Counts from the first tensor on.
  const Meter meter(DeviceOf(shape.device));
  auto state = std::make_unique<State>();
  state->model = of;
  state->shape = shape;
  state->tokens_BT =
      (at::arange(shape.rows * shape.length) * 7 % of.vocabulary_size())
          .view({shape.rows, shape.length})
          .to(DeviceOf(shape.device));
  ORDO_ASSIGN_OR_RETURN(const Component reference,
                        EncodingOf(kReferenceEncoding, of));
  ORDO_ASSIGN_OR_RETURN(
      state->reference,
      Training::Create(of, reference, DeviceOf(shape.device)));
  // From here on it holds as much after each step.
  ORDO_RETURN_IF_ERROR(state->reference->Step(state->tokens_BT).status());
  return std::unique_ptr<StepComparison>(new StepComparison(std::move(state)));
}

absl::StatusOr<StepCosts> StepComparison::Measure(
    const Component& encoding) const {
  const c10::Device device = DeviceOf(state_->shape.device);
  const Meter meter(device);
  Training* other = state_->reference.get();
  std::unique_ptr<Training> with_kernel;
  if (state_->shape.plain) {
    ORDO_ASSIGN_OR_RETURN(with_kernel,
                          Training::Create(state_->model, encoding, device));
    other = with_kernel.get();
    ORDO_RETURN_IF_ERROR(other->Step(state_->tokens_BT).status());
  }
  const int64_t before = meter.NowBytes();
  ORDO_ASSIGN_OR_RETURN(
      const auto trained,
      Training::Create(state_->model, encoding, device,
                       state_->shape.plain ? "reference" : ""));
  StepCosts costs;
  for (int round = -1; round < state_->shape.rounds; ++round) {
    meter.Restart();
    ORDO_ASSIGN_OR_RETURN(const double ours, trained->Step(state_->tokens_BT));
    costs.bytes = std::max(costs.bytes, meter.MostBytes() - before);
    if (round < 0) continue;
    ORDO_ASSIGN_OR_RETURN(const double theirs, other->Step(state_->tokens_BT));
    costs.seconds.push_back(ours);
    costs.ratios.push_back(ours / theirs);
  }
  return costs;
}

int64_t StepComparison::length() const { return state_->shape.length; }

}  // namespace ordo::tests::bench
