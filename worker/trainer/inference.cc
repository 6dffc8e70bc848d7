#include "worker/trainer/inference.h"

#include <optional>
#include <sstream>
#include <utility>

#include "ATen/core/Tensor.h"
#include "ATen/core/grad_mode.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/kernel_choice.h"
#include "model/evaluation/decode.h"
#include "model/guard.h"
#include "model/tasks/registry.h"
#include "model/training/base_weights.h"
#include "model/training/model_config.h"
#include "model/training/safetensors.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::LoadedModel;
using ordo::model::training::TensorMap;

using ordo::training::v1::Component;

// An `encoding` takes the place of the checkpoint's.
absl::StatusOr<LoadedModel> Load(
    base::Filesystem& files, const std::string& folder,
    const std::optional<Component>& encoding = {}) {
  auto loaded = model::training::LoadModel(files, folder, "",
                                           {encoding ? &*encoding : nullptr});
  if (loaded.ok()) return loaded;
  return WithExitCode(
      base::AddContext(loaded.status(),
                       absl::StrCat("load checkpoint ", folder)),
      ordo::training::v1::CHECKPOINT_DAMAGED);
}

std::string Text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << c10::toString(tensor.scalar_type()) << " " << tensor.sizes();
  return text.str();
}

// Takes an int64 [B,T] tensor out of `tensors`; nothing if it is not there.
absl::StatusOr<std::optional<at::Tensor>> Take(const std::string& name,
                                               const std::string& path,
                                               TensorMap* tensors) {
  const auto found = tensors->find(name);
  if (found == tensors->end()) return std::nullopt;
  const at::Tensor tensor = found->second;
  tensors->erase(found);
  if (tensor.dim() != 2 || tensor.scalar_type() != at::kLong ||
      tensor.numel() == 0) {
    return base::InvalidField(
        name, absl::StrCat("must be int64 [B,T] with B, T >= 1, is ",
                           Text(tensor), " in ", path));
  }
  return tensor;
}

// Whether a checkpoint's model can be computed by it.
absl::Status CheckKernel(const std::string& kernel, const LoadedModel& loaded) {
  std::vector<base::FieldViolation> violations;
  model::catalog::CheckKernel(
      "--kernel",
      {&loaded.config.model, &loaded.config.encoding, "cpu", "fp32", kernel},
      &violations);
  return base::InvalidFields(violations);
}

struct LogitsInput {
  at::Tensor tokens;
  model::transformer::ForwardOptions options;
};

absl::StatusOr<LogitsInput> ReadInput(base::Filesystem& files,
                                      const std::string& path,
                                      int64_t vocabulary_size) {
  ORDO_ASSIGN_OR_RETURN(TensorMap tensors,
                        model::training::ReadSafetensors(files, path));
  LogitsInput input;
  ORDO_ASSIGN_OR_RETURN(const auto tokens, Take("tokens", path, &tensors));
  if (!tokens) {
    return base::InvalidField("tokens", absl::StrCat("is missing in ", path));
  }
  input.tokens = *tokens;
  ORDO_ASSIGN_OR_RETURN(input.options.positions,
                        Take("positions", path, &tensors));
  ORDO_ASSIGN_OR_RETURN(input.options.attention_mask,
                        Take("attention_mask", path, &tensors));
  for (const auto& [name, tensor] : tensors) {
    return base::InvalidField(
        name, absl::StrCat("is not known; ", path,
                           " may hold tokens, positions, attention_mask"));
  }
  const struct {
    const char* name;
    const std::optional<at::Tensor>& tensor;
  } beside[] = {{"positions", input.options.positions},
                {"attention_mask", input.options.attention_mask}};
  for (const auto& [name, tensor] : beside) {
    if (tensor && tensor->sizes() != input.tokens.sizes()) {
      return base::InvalidField(
          name, absl::StrCat("must be of the shape of tokens, ",
                             Text(input.tokens), ", is ", Text(*tensor)));
    }
  }
  const int64_t smallest = input.tokens.min().item<int64_t>();
  const int64_t largest = input.tokens.max().item<int64_t>();
  if (smallest < 0 || largest >= vocabulary_size) {
    return base::InvalidField(
        "tokens", absl::StrCat("must be 0..", vocabulary_size - 1, ", has ",
                               smallest < 0 ? smallest : largest));
  }
  return input;
}

}  // namespace

absl::StatusOr<std::string> Generate(base::Filesystem& files,
                                     const GenerateOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const LoadedModel loaded,
                        Load(files, options.checkpoint));
  if (loaded.config.data.task().empty()) {
    return base::InvalidField(
        "--checkpoint", absl::StrCat(options.checkpoint,
                                     " does not say what its tokens are: only "
                                     "models trained here can generate"));
  }
  ORDO_ASSIGN_OR_RETURN(
      const auto tokenizer,
      model::tasks::MakeTokenizer(loaded.config.data, options.data));
  ORDO_RETURN_IF_ERROR(CheckKernel(options.kernel, loaded));
  if (options.prompt.empty()) {
    return base::InvalidField("--prompt", "must not be empty");
  }
  ORDO_ASSIGN_OR_RETURN(
      const std::vector<int64_t> prompt,
      base::AddContext(tokenizer->Encode(options.prompt), "--prompt"));
  ORDO_ASSIGN_OR_RETURN(const auto rows, model::Guard("generate", [&] {
                          model::evaluation::DecodeOptions decode;
                          decode.num_tokens = options.max_tokens;
                          decode.kernel = options.kernel;
                          if (!tokenizer->has_marks()) decode.end.reset();
                          return model::evaluation::Decode(*loaded.transformer,
                                                           {prompt}, decode);
                        }));
  return tokenizer->Decode(rows.front());
}

absl::Status Logits(base::Filesystem& files, const LogitsOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const LoadedModel loaded,
                        Load(files, options.checkpoint, options.encoding));
  ORDO_RETURN_IF_ERROR(CheckKernel(options.kernel, loaded));
  auto input = ReadInput(files, options.tokens_file,
                         loaded.config.model.vocabulary_size());
  ORDO_RETURN_IF_ERROR(
      WithExitCode(base::AddContext(input.status(), "--tokens"),
                   ordo::training::v1::BAD_SPEC));
  input->options.kernel = options.kernel;
  ORDO_ASSIGN_OR_RETURN(
      const at::Tensor logits, model::Guard("compute logits", [&] {
        const at::NoGradGuard no_grad;
        return loaded.transformer->Forward(input->tokens, input->options)
            .to(at::kFloat);
      }));
  return WithExitCode(
      base::AddContext(model::training::WriteSafetensors(
                           files, options.out_file, {{"logits", logits}}),
                       "--out"),
      ordo::training::v1::STORAGE_ERROR);
}

absl::Status Merge(base::Filesystem& files, const MergeOptions& options) {
  ORDO_ASSIGN_OR_RETURN(LoadedModel loaded, Load(files, options.checkpoint));
  if (!loaded.config.lora) {
    return base::InvalidField(
        "--checkpoint", absl::StrCat(options.checkpoint, " has no adapters"));
  }
  if (base::Exists(files, options.out)) {
    return base::InvalidField(
        "--out",
        absl::StrCat(options.out, " exists already; give another folder"));
  }
  return WithExitCode(
      base::AddContext(
          model::training::WriteMerged(files, options.out, &loaded), "--out"),
      ordo::training::v1::STORAGE_ERROR);
}

}  // namespace ordo::worker::trainer
