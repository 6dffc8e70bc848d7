#include "model/training/checkpoint.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/training/durable_folder.h"
#include "model/training/environment_json.h"
#include "model/training/model_config.h"
#include "model/training/recipe.h"
#include "model/training/safetensors.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using Json = nlohmann::ordered_json;
using ::ordo::training::v1::CheckpointWritten;

constexpr int kFormat = 1;
constexpr size_t kMaxJsonBytes = 8 << 20;

std::string StateText(const Checkpoint& checkpoint, const std::string& digest) {
  const Cursors& cursors = checkpoint.snapshot.cursors;
  Json state;
  state["format"] = kFormat;
  state["step"] = cursors.step;
  state["tokens"] = cursors.tokens;
  state["samples"] = cursors.samples;
  state["updates"] = cursors.updates;
  state["skipped_in_a_row"] = cursors.skipped_in_a_row;
  if (!cursors.data_digest.empty()) state["data_digest"] = cursors.data_digest;
  state["seed"] = checkpoint.spec.training().seed();
  state["data_seed"] = checkpoint.spec.data().seed();
  if (!checkpoint.snapshot.data_fingerprint.empty()) {
    state["data_fingerprint"] = checkpoint.snapshot.data_fingerprint;
  }
  state["environment"] = ToJson(checkpoint.environment);
  state["attention_kernels"] = checkpoint.snapshot.attention_kernels;
  state["exact"] = checkpoint.exact;
  state["state_digest"] = digest;
  if (!checkpoint.initial.empty()) {
    state["initial"] = ToJson(checkpoint.initial);
  }
  state["spec"] = Json::parse(
      base::WriteMessage(checkpoint.spec, base::TextForm::kJson), nullptr,
      /*allow_exceptions=*/false);
  return state.dump(2) + "\n";
}

ModelConfig ConfigOf(const ordo::training::v1::TrainSpec& spec) {
  ModelConfig config{spec.model(), spec.encoding(), spec.data()};
  if (spec.training().has_lora()) config.lora = spec.training().lora();
  return config;
}

// Fills everything but the tensors.
absl::Status ParseState(const std::string& text, const std::string& path,
                        Checkpoint* checkpoint) {
  const Json state = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!state.is_object()) return DamagedFile(path, "it is not JSON");
  try {
    if (state.at("format") != kFormat) {
      return DamagedFile(path,
                         absl::StrCat("format is ", state["format"].dump(),
                                      ", this program reads ", kFormat));
    }
    Cursors& cursors = checkpoint->snapshot.cursors;
    cursors.step = state.at("step");
    cursors.tokens = state.at("tokens");
    cursors.samples = state.at("samples");
    cursors.updates = state.at("updates");
    cursors.skipped_in_a_row = state.at("skipped_in_a_row");
    // Not in checkpoints from before it was recorded.
    cursors.data_digest = state.value("data_digest", "");
    checkpoint->environment = EnvironmentOf(state.at("environment"));
    checkpoint->exact = state.at("exact");
    if (const auto initial = state.find("initial"); initial != state.end()) {
      checkpoint->initial = InitialValuesOf(*initial);
    }
    ORDO_RETURN_IF_ERROR(base::AddContext(
        base::ReadMessage(state.at("spec").dump(), base::TextForm::kJson,
                          &checkpoint->spec),
        path));
    checkpoint->snapshot.recipe = RecipeText(checkpoint->spec);
    checkpoint->snapshot.data_fingerprint =
        state.value("data_fingerprint", std::string());
    checkpoint->state_digest = state.at("state_digest");
    return absl::OkStatus();
  } catch (const Json::exception& error) {
    return DamagedFile(path, error.what());
  }
}

}  // namespace

std::string CheckpointId(int64_t step, int attempt) {
  return absl::StrCat(step, "-", attempt);
}

std::optional<CheckpointNumber> ParseCheckpointId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '-');
  CheckpointNumber number;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &number.step) ||
      !absl::SimpleAtoi(parts[1], &number.attempt)) {
    return std::nullopt;
  }
  return number;
}

absl::StatusOr<CheckpointWritten> WriteCheckpoint(
    base::Filesystem& files, const std::string& folder,
    const Checkpoint& checkpoint) {
  CheckpointWritten written;
  const int64_t step = checkpoint.snapshot.cursors.step;
  written.set_id(CheckpointId(step, checkpoint.spec.attempt()));
  written.set_step(step);
  written.set_state_digest(StateDigest(checkpoint.snapshot));
  written.set_data_digest(checkpoint.snapshot.cursors.data_digest);
  written.set_tokens(checkpoint.snapshot.cursors.tokens);
  const auto fill = [&](const std::string& aside) -> absl::Status {
    ORDO_RETURN_IF_ERROR(WriteSafetensors(files,
                                          base::JoinPath(aside, kModelFile),
                                          checkpoint.snapshot.parameters));
    ORDO_RETURN_IF_ERROR(WriteSafetensors(files,
                                          base::JoinPath(aside, kOptimizerFile),
                                          checkpoint.snapshot.optimizer));
    ORDO_RETURN_IF_ERROR(
        WriteDurably(files, base::JoinPath(aside, kConfigFile),
                     WriteModelConfig(ConfigOf(checkpoint.spec))));
    ORDO_RETURN_IF_ERROR(
        WriteDurably(files, base::JoinPath(aside, kStateFile),
                     StateText(checkpoint, written.state_digest())));
    std::vector<ordo::training::v1::FileInfo> infos;
    for (const char* name :
         {kModelFile, kConfigFile, kOptimizerFile, kStateFile}) {
      ORDO_ASSIGN_OR_RETURN(auto info, InfoOfFile(files, aside, name));
      infos.push_back(std::move(info));
    }
    const std::string manifest = ManifestText(infos);
    written.set_manifest_sha256(base::Sha256Hex(manifest));
    ORDO_RETURN_IF_ERROR(
        WriteDurably(files, base::JoinPath(aside, kManifestFile), manifest));
    ORDO_ASSIGN_OR_RETURN(infos.emplace_back(),
                          InfoOfFile(files, aside, kManifestFile));
    written.mutable_files()->Assign(infos.begin(), infos.end());
    return absl::OkStatus();
  };
  ORDO_RETURN_IF_ERROR(base::AddContext(
      WriteAside(files, base::JoinPath(folder, written.id()), fill),
      absl::StrCat("write checkpoint ", written.id())));
  return written;
}

absl::StatusOr<Checkpoint> ReadCheckpoint(base::Filesystem& files,
                                          const std::string& folder,
                                          const std::string& manifest_sha256) {
  ORDO_RETURN_IF_ERROR(
      VerifyManifest(files, folder, manifest_sha256,
                     {kModelFile, kConfigFile, kOptimizerFile, kStateFile}));
  Checkpoint checkpoint;
  const std::string state_path = base::JoinPath(folder, kStateFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, state_path, kMaxJsonBytes));
  ORDO_RETURN_IF_ERROR(ParseState(text, state_path, &checkpoint));
  ORDO_ASSIGN_OR_RETURN(
      checkpoint.snapshot.parameters,
      ReadSafetensors(files, base::JoinPath(folder, kModelFile)));
  ORDO_ASSIGN_OR_RETURN(
      checkpoint.snapshot.optimizer,
      ReadSafetensors(files, base::JoinPath(folder, kOptimizerFile)));
  if (StateDigest(checkpoint.snapshot) != checkpoint.state_digest) {
    return DamagedFile(
        state_path,
        "the digest it records is not that of the tensors and the recipe");
  }
  return checkpoint;
}

absl::StatusOr<int64_t> ReadStep(base::Filesystem& files,
                                 const std::string& folder) {
  const std::string path = base::JoinPath(folder, kStateFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxJsonBytes));
  Checkpoint checkpoint;
  ORDO_RETURN_IF_ERROR(ParseState(text, path, &checkpoint));
  return checkpoint.snapshot.cursors.step;
}

absl::StatusOr<std::vector<std::string>> ListCheckpoints(
    base::Filesystem& files, const std::string& folder) {
  const auto names = files.List(folder);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  ORDO_RETURN_IF_ERROR(names);
  std::vector<std::tuple<int64_t, int64_t, std::string>> found;
  for (const std::string& name : *names) {
    if (const auto number = ParseCheckpointId(name)) {
      found.emplace_back(-number->step, -number->attempt, name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (const auto& entry : found) ids.push_back(std::get<2>(entry));
  return ids;
}

}  // namespace ordo::model::training
