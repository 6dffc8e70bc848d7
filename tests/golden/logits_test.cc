// Logits of models that were not written by Ordo, against implementations that
// share nothing with it. The files of a folder tests/golden/<x> were made by
// tools/golden: hugging_face.py and hugging_face_logits.py (hf_*),
// tape_release.py (vita_*), logits.py (the rest).

#include <optional>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gtest/gtest.h"
#include "model/training/model_config.h"
#include "model/training/safetensors.h"
#include "model/transformer/transformer.h"

namespace ordo::tests::golden {
namespace {

using model::training::TensorMap;
using model::transformer::ForwardOptions;
using ordo::training::v1::Component;

// Published code computes in fp32, and sums in another order than Ordo; a state
// that passes through all layers adds its own rounding.
constexpr double kBound = 1e-4;
constexpr double kBoundOfState = 1e-3;

constexpr char kLogits[] = "logits";

// What `--encoding` is given where the files do not say it.
std::optional<Component> EncodingOf(base::Filesystem& files,
                                    const std::string& folder) {
  const std::string path = folder + "/encoding.json";
  if (!base::Exists(files, path)) return std::nullopt;
  Component component;
  const auto text = base::ReadFile(files, path, /*max_bytes=*/1 << 16);
  ORDO_EXPECT_OK(text.status());
  ORDO_EXPECT_OK(
      base::ReadMessage(text.value(), base::TextForm::kJson, &component));
  return component;
}

// Tensor "<what>.<name>" of a case or, where all have the same, "<what>".
const at::Tensor& Find(const TensorMap& golden, const std::string& what,
                       const std::string& name) {
  const auto own = golden.find(absl::StrCat(what, ".", name));
  return own != golden.end() ? own->second : golden.at(what);
}

// Largest difference of the logits at real tokens, in a case whose name says
// what is passed beside the tokens.
double Difference(const model::transformer::Transformer& transformer,
                  const TensorMap& golden, const std::string& name) {
  const bool masked = absl::StrContains(name, "masked");
  ForwardOptions options;
  if (masked) options.attention_mask = golden.at("attention_mask");
  if (absl::StrContains(name, "placed")) {
    options.positions = golden.at("positions");
  }
  const at::Tensor logits =
      transformer.Forward(Find(golden, "tokens", name), options);
  at::Tensor difference =
      (logits.to(at::kDouble) - Find(golden, kLogits, name)).abs();
  if (masked) {
    difference = difference.masked_select(
        golden.at("attention_mask").to(at::kBool).unsqueeze(-1));
  }
  // Not-a-number is a difference.
  EXPECT_TRUE(difference.isfinite().all().item<bool>()) << name;
  return difference.max().item<double>();
}

class GoldenLogitsTest : public ::testing::TestWithParam<const char*> {};

// Of all cases of a file.
void ExpectEqual(const model::transformer::Transformer& transformer,
                 const std::string& path, double bound) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const TensorMap golden,
                            model::training::ReadSafetensors(files, path));
  int cases = 0;
  for (const auto& [key, unused] : golden) {
    if (!absl::StartsWith(key, kLogits)) continue;
    const std::string name(absl::StripPrefix(key, absl::StrCat(kLogits, ".")));
    const double difference = Difference(transformer, golden, name);
    ::testing::Test::RecordProperty(absl::StrCat(path, " ", key),
                                    absl::StrCat(difference));
    EXPECT_LT(difference, bound) << path << " " << key;
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

TEST_P(GoldenLogitsTest, EqualTheReferences) {
  const std::string folder = absl::StrCat("tests/golden/", GetParam());
  base::PosixFilesystem files;
  const std::optional<Component> encoding = EncodingOf(files, folder);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto loaded,
      model::training::LoadModel(files, folder, /*manifest_sha256=*/"",
                                 {encoding ? &*encoding : nullptr}));
  const bool state = absl::StrContains(GetParam(), "tape");
  const double bound = state ? kBoundOfState : kBound;
  const at::NoGradGuard no_grad;
  ExpectEqual(*loaded.transformer, folder + "/cases.safetensors", bound);
  const std::string published = folder + "/published.safetensors";
  if (absl::StartsWith(GetParam(), "hf_")) {
    ExpectEqual(*loaded.transformer, published, bound);
  }
}

INSTANTIATE_TEST_SUITE_P(Own, GoldenLogitsTest,
                         ::testing::Values("none", "rope", "tape", "options"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(
    HuggingFace, GoldenLogitsTest,
    ::testing::Values("hf_llama", "hf_llama_linear", "hf_llama_dynamic",
                      "hf_llama_yarn", "hf_llama_longrope", "hf_llama_llama3",
                      "hf_llama_sharded", "hf_mistral", "hf_qwen2", "hf_qwen3",
                      "hf_gpt2", "hf_gpt_neox", "hf_gpt_neox_serial",
                      "hf_bloom", "hf_mpt"),
    [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(
    TapeRelease, GoldenLogitsTest,
    ::testing::Values("vita_tape", "vita_tape_linear", "vita_tape_yarn",
                      "vita_tape_attention", "vita_tape_mlp",
                      "vita_tape_not_equivariant", "vita_tape_vector",
                      "vita_alibi", "vita_t5", "vita_fire", "vita_xpos",
                      "vita_sinusoidal", "vita_rope", "vita_none"),
    [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ordo::tests::golden
