// Logits of models that were not written by Ordo, against an implementation
// that shares nothing with it: see tools/golden/logits.py, which made the files
// of this folder.

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

using model::training::TensorMap;
using model::transformer::ForwardOptions;

// Largest difference of the logits at real tokens.
double Difference(const at::Tensor& logits, const TensorMap& golden,
                  const std::string& name, bool masked) {
  const at::Tensor& expected = golden.at("logits." + name);
  at::Tensor difference = (logits.to(at::kDouble) - expected).abs();
  if (masked) {
    difference = difference.masked_select(
        golden.at("attention_mask").to(at::kBool).unsqueeze(-1));
  }
  // Not-a-number is a difference.
  EXPECT_TRUE(difference.isfinite().all().item<bool>()) << name;
  return difference.max().item<double>();
}

class GoldenLogitsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenLogitsTest, EqualTheReferences) {
  const std::string folder = std::string("tests/golden/") + GetParam();
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto loaded,
                            model::training::LoadModel(files, folder,
                                                       /*manifest_sha256=*/""));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const TensorMap golden,
      model::training::ReadSafetensors(files, folder + "/cases.safetensors"));
  const double bound = std::string(GetParam()) == "tape" ? 1e-3 : 1e-4;
  const at::NoGradGuard no_grad;
  for (const bool masked : {false, true}) {
    for (const bool placed : {false, true}) {
      ForwardOptions options;
      if (masked) options.attention_mask = golden.at("attention_mask");
      if (placed) options.positions = golden.at("positions");
      const at::Tensor logits =
          loaded.transformer->Forward(golden.at("tokens"), options);
      const std::string name = masked
                                   ? (placed ? "masked_and_placed" : "masked")
                                   : (placed ? "placed" : "plain");
      EXPECT_LT(Difference(logits, golden, name, masked), bound) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenLogitsTest,
                         ::testing::Values("none", "rope", "tape", "options"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ordo::tests::golden
