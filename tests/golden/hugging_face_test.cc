// Logits of checkpoints as Hugging Face writes them, against implementations of
// each kind that share nothing with Ordo: see tools/golden/hugging_face.py,
// which made the files of this folder.

#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/training/model_config.h"
#include "model/training/safetensors.h"
#include "model/transformer/transformer.h"

namespace ordo::tests::golden {
namespace {

class HuggingFaceTest : public ::testing::TestWithParam<const char*> {};

TEST_P(HuggingFaceTest, LogitsEqualTheReferences) {
  const std::string folder = std::string("tests/golden/hf_") + GetParam();
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto loaded,
                            model::training::LoadModel(files, folder,
                                                       /*manifest_sha256=*/""));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto golden,
      model::training::ReadSafetensors(files, folder + "/cases.safetensors"));
  const at::NoGradGuard no_grad;
  const at::Tensor logits = loaded.transformer->Forward(golden.at("tokens"));
  const at::Tensor difference =
      (logits.to(at::kDouble) - golden.at("logits")).abs();
  EXPECT_TRUE(difference.isfinite().all().item<bool>());
  EXPECT_LT(difference.max().item<double>(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, HuggingFaceTest,
                         ::testing::Values("llama", "llama_linear",
                                           "llama_dynamic", "llama_yarn",
                                           "llama_longrope", "llama_llama3",
                                           "llama_sharded", "mistral", "qwen2",
                                           "qwen3", "gpt2", "gpt_neox",
                                           "gpt_neox_serial", "bloom", "mpt"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ordo::tests::golden
