#include "worker/trainer/control.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/cost/cost.h"
#include "model/training/durable_folder.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::Environment;
using ordo::model::training::Run;
using ordo::training::v1::RunControl;

// The GPU's name, or "cpu" and its instruction set.
std::string DeviceOf(const Environment& environment) {
  if (environment.gpu.empty()) return "cpu " + environment.cpu_capability;
  // What else it says of the GPU follows a comma.
  return environment.gpu.substr(0, environment.gpu.find(','));
}

void SetEnvironment(const Environment& environment, RunControl* control) {
  const std::pair<const char*, std::string> parts[] = {
      {"threads", absl::StrCat(environment.threads)},
      {"libraries", environment.torch_version},
      {"kernels", environment.kernels},
      {"settings", environment.settings},
      {"gpu", environment.gpu},
      {"ranks", absl::StrCat(environment.ranks)},
  };
  for (const auto& [name, value] : parts) {
    if (!value.empty()) (*control->mutable_environment())[name] = value;
  }
}

// Over a batch of the longest rows.
double StepFlops(const Run& run) {
  const auto& spec = run.spec();
  const model::cost::CostSubject subject{
      spec.model(), spec.encoding(),
      spec.training().has_lora() ? &spec.training().lora() : nullptr};
  return model::cost::TrainingFlops(subject, run.task().row_length() - 1,
                                    spec.training().batch_size());
}

}  // namespace

RunControl ControlOf(const Run& run, const Environment& environment,
                     const model::training::InitialValues& initial) {
  RunControl control;
  control.set_initial_digest(model::training::CombinedDigest(initial));
  control.set_device(DeviceOf(environment));
  SetEnvironment(environment, &control);
  control.set_precision(run.spec().training().precision());
  control.set_learning_rate(run.spec().training().learning_rate());
  control.set_deterministic(model::training::IsDeterministic());
  int64_t all = 0, of_encoding = 0;
  for (const auto& [name, tensor] : run.model().Parameters()) {
    if (!tensor.requires_grad()) continue;
    all += tensor.numel();
    if (run.model().IsOfEncoding(name)) of_encoding += tensor.numel();
  }
  control.set_num_parameters(all);
  control.set_num_encoding_parameters(of_encoding);
  control.set_step_flops(StepFlops(run));
  return control;
}

absl::Status WriteInitialValues(const TrainerContext& context, int attempt,
                                const model::training::InitialValues& values) {
  if (values.empty()) return absl::OkStatus();
  return base::AddContext(
      model::training::WriteDurably(
          context.files,
          base::JoinPath(AttemptFolder(context, attempt), kInitialFile),
          model::training::ToJson(values).dump(2) + "\n"),
      "write the digests of the initial values");
}

}  // namespace ordo::worker::trainer
