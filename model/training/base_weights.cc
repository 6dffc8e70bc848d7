#include "model/training/base_weights.h"

#include "ATen/core/grad_mode.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/training/durable_folder.h"
#include "model/training/recipe.h"
#include "model/training/safetensors.h"
#include "model/training/snapshot.h"
#include "model/training/trainable.h"

namespace ordo::model::training {
namespace {

using ordo::training::v1::Model;
using ordo::training::v1::TrainSpec;

// A specification of the architecture alone.
TrainSpec Architecture(const Model& model) {
  TrainSpec spec;
  *spec.mutable_model() = model;
  spec.mutable_model()->clear_preset();
  spec.mutable_model()->clear_init();
  spec.mutable_model()->clear_init_std();
  spec.mutable_model()->clear_dropout();
  return spec;
}

TensorMap WithoutAdapters(TensorMap parameters) {
  for (auto i = parameters.begin(); i != parameters.end();) {
    i = PartOf(i->first) == kAdapterPart ? parameters.erase(i) : std::next(i);
  }
  return parameters;
}

// Whether a parameter may be in one of the two models only.
bool MayBeAlone(const std::string& name) {
  const std::string part = PartOf(name);
  return part == kAdapterPart || part == "encoding";
}

}  // namespace

absl::StatusOr<TakenWeights> TakeWeights(
    LoadedModel* base, const transformer::Transformer& model) {
  const std::vector<std::string> differences = RecipeDifferences(
      Architecture(base->config.model), Architecture(model.model()));
  if (!differences.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the base has another architecture: ",
                     absl::StrJoin(differences, "; ")));
  }
  base->transformer->MergeAdapters();
  const TensorMap from = WithoutAdapters(ParametersOf(*base->transformer));
  const TensorMap to = ParametersOf(model);
  TakenWeights taken;
  for (const auto& [name, tensor] : from) {
    const auto found = to.find(name);
    if (found == to.end()) {
      taken.left.push_back(name);
    } else if (found->second.sizes() != tensor.sizes()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", name,
                       " has another shape in the base; give the encoding the "
                       "base's parameters"));
    }
  }
  for (const auto& [name, tensor] : to) {
    if (from.count(name) == 0) taken.fresh.push_back(name);
  }
  for (const auto* names : {&taken.left, &taken.fresh}) {
    for (const std::string& name : *names) {
      if (MayBeAlone(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", name, " is in one of the models only"));
    }
  }
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : from) {
    if (const auto found = to.find(name); found != to.end()) {
      at::Tensor(found->second).copy_(tensor);
    }
  }
  return taken;
}

absl::Status WriteMerged(base::Filesystem& files, const std::string& folder,
                         LoadedModel* model) {
  ORDO_RETURN_IF_ERROR(
      Guard("merge adapters", [&] { model->transformer->MergeAdapters(); }));
  model->config.lora.reset();
  const auto fill = [&](const std::string& aside) -> absl::Status {
    ORDO_RETURN_IF_ERROR(
        WriteSafetensors(files, base::JoinPath(aside, kModelFile),
                         WithoutAdapters(ParametersOf(*model->transformer))));
    ORDO_RETURN_IF_ERROR(WriteDurably(files, base::JoinPath(aside, kConfigFile),
                                      WriteModelConfig(model->config)));
    std::vector<ordo::training::v1::FileInfo> infos;
    for (const char* name : {kModelFile, kConfigFile}) {
      ORDO_ASSIGN_OR_RETURN(auto info, InfoOfFile(files, aside, name));
      infos.push_back(std::move(info));
    }
    return WriteDurably(files, base::JoinPath(aside, kManifestFile),
                        ManifestText(infos));
  };
  return base::AddContext(WriteAside(files, folder, fill),
                          absl::StrCat("write ", folder));
}

}  // namespace ordo::model::training
