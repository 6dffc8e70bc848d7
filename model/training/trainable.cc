#include "model/training/trainable.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace ordo::model::training {
namespace {

bool IsNorm(const std::string& module) {
  return module == "norm" || absl::EndsWith(module, "_norm") ||
         absl::EndsWith(module, "_layernorm");
}

}  // namespace

std::string PartOf(const std::string& name) {
  // model.layers.3.self_attn.q_proj.weight, model.norm.weight, ...
  const std::vector<std::string> words = absl::StrSplit(name, '.');
  const size_t size = words.size();
  if (words[0] == "lm_head") return "head";
  if (size < 3) return "encoding";
  const std::string& last = words[size - 1];
  if (last != "weight" && last != "bias") return "encoding";
  const std::string& module = words[size - 2];
  if (module == "lora_A" || module == "lora_B") return kAdapterPart;
  if (size == 3) {
    if (module == "embed_tokens") return "embeddings";
    if (module == "output_projection") return "head";
    return IsNorm(module) ? "norms" : "encoding";
  }
  if (size == 4 && words[1] == "output_mlp") return "mlp";
  if (words[1] != "layers") return "encoding";
  if (size == 5) return IsNorm(module) ? "norms" : "encoding";
  if (size != 6) return "encoding";
  if (words[3] == "mlp") return "mlp";
  if (IsNorm(module)) return "norms";
  for (const char* projection : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    if (module == projection) return "attention";
  }
  return "encoding";
}

bool Trains(const ordo::training::v1::Training& training,
            const std::string& name) {
  const std::string part = PartOf(name);
  const auto& parts = training.trainable();
  if (part == kAdapterPart) return true;
  if (parts.empty()) return !training.has_lora();
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

}  // namespace ordo::model::training
