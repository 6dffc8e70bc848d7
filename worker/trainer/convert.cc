#include "worker/trainer/convert.h"

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/formats/families.h"
#include "model/formats/tensors.h"
#include "model/guard.h"
#include "model/training/durable_folder.h"
#include "model/training/model_config.h"
#include "model/training/safetensors.h"
#include "model/training/snapshot.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using model::training::LoadedModel;
using model::training::TensorMap;

absl::Status Write(base::Filesystem& files, const std::string& folder,
                   const std::string& config, const TensorMap& tensors) {
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  ORDO_RETURN_IF_ERROR(model::training::WriteSafetensors(
      files, base::JoinPath(folder, model::training::kModelFile), tensors));
  return model::training::WriteDurably(
      files, base::JoinPath(folder, model::training::kConfigFile), config);
}

absl::StatusOr<TensorMap> TheirTensors(const model::formats::Family& family,
                                       const LoadedModel& loaded) {
  TensorMap tensors = model::training::ParametersOf(*loaded.transformer);
  if (family.names == nullptr) return tensors;
  return model::Guard("rename weights", [&] {
    return model::formats::ExportTensors(family.names(), loaded.config.model,
                                         tensors);
  });
}

}  // namespace

absl::Status Convert(base::Filesystem& files, const ConvertOptions& options) {
  auto loaded = model::training::LoadModel(
      files, options.checkpoint, "",
      {options.encoding ? &*options.encoding : nullptr});
  if (!loaded.ok()) {
    return WithExitCode(
        base::AddContext(loaded.status(),
                         absl::StrCat("load checkpoint ", options.checkpoint)),
        ordo::training::v1::CHECKPOINT_DAMAGED);
  }
  const auto& config = loaded->config;
  if (config.lora) {
    return base::InvalidField(
        "--checkpoint",
        absl::StrCat(options.checkpoint, " has adapters; merge them first"));
  }
  if (base::Exists(files, options.out)) {
    return base::InvalidField(
        "--out",
        absl::StrCat(options.out, " exists already; give another folder"));
  }
  const model::formats::Family* family =
      model::formats::FamilyOf(config.model, config.encoding);
  const auto write = [&](const std::string& text, const TensorMap& tensors) {
    return WithExitCode(
        base::AddContext(Write(files, options.out, text, tensors), "--out"),
        ordo::training::v1::STORAGE_ERROR);
  };
  if (family == nullptr && options.encoding) {
    return write(model::training::WriteModelConfig(config),
                 model::training::ParametersOf(*loaded->transformer));
  }
  if (family == nullptr) {
    const std::string field = model::formats::FieldOfNoFamily(config.model);
    if (!field.empty()) {
      return base::InvalidField(
          "--checkpoint",
          absl::StrCat("no kind of model of Hugging Face's has the model.",
                       field, " of ", options.checkpoint,
                       "; train one without it, or use the checkpoint as it "
                       "is, in Ordo's form"));
    }
    return base::InvalidField(
        "--checkpoint",
        absl::StrCat("no kind of model of Hugging Face's computes what ",
                     options.checkpoint, " does, with the encoding ",
                     config.encoding.name()));
  }
  model::formats::Json json;
  json["architectures"] = {family->architecture};
  json["model_type"] = family->model_type;
  json.update(*family->write(config.model, config.encoding));
  json["torch_dtype"] = "float32";
  ORDO_ASSIGN_OR_RETURN(const TensorMap tensors,
                        TheirTensors(*family, *loaded));
  return write(json.dump(2) + "\n", tensors);
}

}  // namespace ordo::worker::trainer
