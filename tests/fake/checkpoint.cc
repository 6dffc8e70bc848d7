#include "tests/fake/checkpoint.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "google/protobuf/util/json_util.h"

namespace ordo::tests::fake {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

// SplitMix64 (Steele, Lea and Flood 2014).
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::string BytesOf(const State& state) {
  std::string bytes(sizeof(state.words), '\0');
  std::memcpy(bytes.data(), state.words.data(), sizeof(state.words));
  return bytes;
}

// A safetensors file with one tensor: a pure function of the parameters.
std::string Safetensors(const State& state, std::string_view name) {
  const std::string data = BytesOf(state);
  const std::string header =
      absl::StrCat("{\"", absl::string_view(name.data(), name.size()),
                   "\":{\"dtype\":\"I64\",\"shape\":[", state.words.size(),
                   "],\"data_offsets\":[0,", data.size(), "]}}");
  std::string file(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

absl::Status WriteDurably(base::Filesystem& files, const std::string& path,
                          const std::string& contents) {
  ORDO_ASSIGN_OR_RETURN(auto file,
                        files.OpenForWrite(path, base::WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(file->Append(contents));
  ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

// The files of a checkpoint, but the manifest, by name.
std::vector<std::pair<std::string, std::string>> Contents(const State& state) {
  return {
      {"config.json", "{\"model_type\":\"fake\"}\n"},
      {"model.safetensors", Safetensors(state, "parameters")},
      {"optimizer.safetensors", Safetensors(state, "moments")},
      {"state.json",
       absl::StrCat("{\"step\":", state.step, ",\"seed\":", state.seed, "}\n")},
  };
}

absl::StatusOr<training::v1::CheckpointWritten> WriteAside(
    base::Filesystem& files, const State& state,
    const CheckpointOptions& options, const std::string& aside) {
  training::v1::CheckpointWritten written;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(aside));
  for (const auto& [name, contents] : Contents(state)) {
    ORDO_RETURN_IF_ERROR(
        WriteDurably(files, base::JoinPath(aside, name), contents));
    if (written.files().empty() && options.midway) options.midway();
    auto* info = written.add_files();
    info->set_path(name);
    info->set_size_bytes(static_cast<int64_t>(contents.size()));
    info->set_sha256(base::Sha256Hex(contents));
  }
  std::string manifest;
  if (!google::protobuf::util::MessageToJsonString(written, &manifest).ok()) {
    return absl::InternalError("cannot write the manifest as JSON");
  }
  ORDO_RETURN_IF_ERROR(
      WriteDurably(files, base::JoinPath(aside, "MANIFEST.json"), manifest));
  ORDO_RETURN_IF_ERROR(files.SyncFolder(aside));
  written.set_manifest_sha256(base::Sha256Hex(manifest));
  return written;
}

}  // namespace

State InitialState(uint64_t seed) {
  State state;
  state.seed = seed;
  uint64_t value = seed;
  for (uint64_t& word : state.words) word = value = Mix(value);
  return state;
}

void Advance(State& state) {
  ++state.step;
  for (uint64_t& word : state.words) {
    word = Mix(word ^ Mix(state.seed ^ static_cast<uint64_t>(state.step)));
  }
}

std::string DigestOf(const State& state) {
  return base::Sha256Hex(
      absl::StrCat(state.seed, ",", state.step, ",", BytesOf(state)));
}

absl::StatusOr<training::v1::CheckpointWritten> WriteCheckpoint(
    base::Filesystem& files, const State& state,
    const CheckpointOptions& options) {
  const std::string id = absl::StrCat(state.step, "-", options.attempt);
  const std::string folder = base::JoinPath(options.folder, id);
  const std::string aside =
      base::JoinPath(options.folder, absl::StrCat(".", id, ".tmp"));
  auto written = WriteAside(files, state, options, aside);
  if (written.ok()) {
    if (absl::Status status = files.Rename(aside, folder); !status.ok()) {
      written = status;
    }
  }
  if (!written.ok()) {
    // The first error says what happened; what cannot be removed is never
    // listed.
    files.RemoveTree(aside).IgnoreError();
    return written;
  }
  ORDO_RETURN_IF_ERROR(files.SyncFolder(options.folder));
  written->set_id(id);
  written->set_step(state.step);
  written->set_state_digest(DigestOf(state));
  return written;
}

absl::StatusOr<State> ReadCheckpoint(base::Filesystem& files,
                                     const std::string& path,
                                     const std::string& manifest_sha256) {
  ORDO_ASSIGN_OR_RETURN(
      const std::string manifest,
      base::ReadFile(files, base::JoinPath(path, "MANIFEST.json"),
                     kMaxFileBytes));
  training::v1::CheckpointWritten listed;
  const bool read =
      google::protobuf::util::JsonStringToMessage(manifest, &listed).ok();
  if (!read || (!manifest_sha256.empty() &&
                base::Sha256Hex(manifest) != manifest_sha256)) {
    return absl::DataLossError(
        absl::StrCat(path, "/MANIFEST.json is not the registered one"));
  }
  State state;
  for (const auto& info : listed.files()) {
    ORDO_ASSIGN_OR_RETURN(
        const std::string contents,
        base::ReadFile(files, base::JoinPath(path, info.path()),
                       kMaxFileBytes));
    if (base::Sha256Hex(contents) != info.sha256()) {
      return absl::DataLossError(
          absl::StrCat(path, "/", info.path(),
                       " does not have the SHA-256 of its manifest"));
    }
    if (info.path() == "model.safetensors") {
      std::memcpy(state.words.data(),
                  contents.data() + contents.size() - sizeof(state.words),
                  sizeof(state.words));
    } else if (info.path() == "state.json") {
      unsigned long long seed = 0;
      long long step = 0;
      std::sscanf(contents.c_str(), "{\"step\":%lld,\"seed\":%llu}", &step,
                  &seed);
      state.step = step;
      state.seed = seed;
    }
  }
  return state;
}

}  // namespace ordo::tests::fake
