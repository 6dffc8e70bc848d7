#include "services/testing/model_folders.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"

namespace ordo::services::testing {
namespace {

struct Tensor {
  std::string name;
  std::vector<int> shape;
};

constexpr char kConfig[] = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "num_hidden_layers": 1,
  "hidden_size": 16,
  "num_attention_heads": 2,
  "num_key_value_heads": 1,
  "intermediate_size": 24,
  "vocab_size": 19,
  "rms_norm_eps": 1e-5,
  "max_position_embeddings": 64,
  "rope_theta": 10000.0
}
)";

std::vector<Tensor> Tensors() {
  const std::string layer = "model.layers.0.";
  return {{"lm_head.weight", {19, 16}},
          {"model.embed_tokens.weight", {19, 16}},
          {layer + "input_layernorm.weight", {16}},
          {layer + "mlp.down_proj.weight", {16, 24}},
          {layer + "mlp.gate_proj.weight", {24, 16}},
          {layer + "mlp.up_proj.weight", {24, 16}},
          {layer + "post_attention_layernorm.weight", {16}},
          {layer + "self_attn.k_proj.weight", {8, 16}},
          {layer + "self_attn.o_proj.weight", {16, 16}},
          {layer + "self_attn.q_proj.weight", {16, 16}},
          {layer + "self_attn.v_proj.weight", {8, 16}},
          {"model.norm.weight", {16}}};
}

// Its bytes: ones for norms, else numbers of [-0.5, 0.5) of a congruential
// generator that begins with its name's length.
std::string BytesOf(const Tensor& tensor) {
  size_t count = 1;
  for (const int size : tensor.shape) count *= static_cast<size_t>(size);
  auto state = static_cast<uint32_t>(tensor.name.size());
  std::string bytes(count * sizeof(float), '\0');
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const float value =
        absl::StrContains(tensor.name, "norm")
            ? 1.0F
            : static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U) -
                  0.5F;
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(value));
  }
  return bytes;
}

std::string Safetensors(const std::vector<Tensor>& tensors) {
  std::vector<std::string> entries;
  std::string data;
  for (const Tensor& tensor : tensors) {
    const size_t begin = data.size();
    data += BytesOf(tensor);
    entries.push_back(
        absl::StrCat("\"", tensor.name, R"(":{"dtype":"F32","shape":[)",
                     absl::StrJoin(tensor.shape, ","), R"(],"data_offsets":[)",
                     begin, ",", data.size(), "]}"));
  }
  const std::string header =
      absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  const uint64_t length = header.size();
  std::string prefix(sizeof(length), '\0');
  std::memcpy(prefix.data(), &length, sizeof(length));
  return prefix + header + data;
}

}  // namespace

Folder TinyLlama() {
  return {{"config.json", kConfig},
          {"model.safetensors", Safetensors(Tensors())}};
}

Folder ShardedLlama() {
  const std::vector<Tensor> all = Tensors();
  constexpr int kFirst = 5;
  Folder folder = {{"config.json", kConfig}};
  std::vector<std::string> entries;
  const auto add = [&](const std::string& name, std::vector<Tensor> tensors) {
    for (const Tensor& tensor : tensors) {
      entries.push_back(absl::StrCat("\"", tensor.name, "\": \"", name, "\""));
    }
    folder[name] = Safetensors(tensors);
  };
  add("model-00001-of-00002.safetensors", {all.begin(), all.begin() + kFirst});
  add("model-00002-of-00002.safetensors", {all.begin() + kFirst, all.end()});
  folder["model.safetensors.index.json"] =
      absl::StrCat(R"({"metadata": {}, "weight_map": {)",
                   absl::StrJoin(entries, ", "), "}}");
  return folder;
}

ordo::checkpoints::v1::Upload ListOf(const Folder& folder) {
  ordo::checkpoints::v1::Upload upload;
  for (const auto& [name, content] : folder) {
    auto& file = *upload.add_files();
    file.set_path(name);
    file.set_size_bytes(static_cast<int64_t>(content.size()));
    file.set_sha256(base::Sha256Hex(content));
  }
  return upload;
}

void WriteTo(base::Filesystem& files, const std::string& path,
             const Folder& folder) {
  for (const auto& [name, content] : folder) {
    ORDO_EXPECT_OK(
        base::AtomicWrite(files, base::JoinPath(path, name), content));
  }
}

}  // namespace ordo::services::testing
