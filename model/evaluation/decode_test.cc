#include "model/evaluation/decode.h"

#include <string>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/task.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"

namespace ordo::model::evaluation {
namespace {

// A model whose weights are large enough for its answers to vary.
std::unique_ptr<transformer::Transformer> MakeModel(
    const std::string& encoding) {
  auto spec = training::testing::TinySpec(encoding);
  spec.mutable_model()->set_init_std(0.5);
  auto model =
      transformer::Transformer::Create(spec.model(), spec.encoding(), {});
  ORDO_CHECK(model.ok()) << model.status();
  return *std::move(model);
}

// The slow way: a whole pass for each token.
std::vector<int64_t> DecodeWithoutCache(const transformer::Transformer& model,
                                        std::vector<int64_t> row,
                                        int num_tokens) {
  const at::NoGradGuard no_grad;
  std::vector<int64_t> produced;
  for (int n = 0; n < num_tokens; ++n) {
    const at::Tensor logits =
        model.Forward(at::tensor(row, at::kLong).unsqueeze(0));
    produced.push_back(logits[0][-1].argmax().item<int64_t>());
    row.push_back(produced.back());
    if (produced.back() == tasks::kEnd) break;
  }
  return produced;
}

class EveryEncoding : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Encodings, EveryEncoding,
                         ::testing::Values("none", "rope", "tape"));

TEST_P(EveryEncoding, CachedDecodingGivesTheTokensOfWholePasses) {
  const auto model = MakeModel(GetParam());
  const Rows prompts = {{5, 14, 6, 17}, {9, 14, 13, 17}, {4, 4, 4, 4}};
  DecodeOptions options;
  options.num_tokens = 12;
  const Rows produced = GreedyDecode(*model, prompts, options);
  ASSERT_EQ(produced.size(), prompts.size());
  for (size_t row = 0; row < prompts.size(); ++row) {
    EXPECT_EQ(produced[row], DecodeWithoutCache(*model, prompts[row], 12))
        << row;
  }
}

TEST(GreedyDecode, EndsARowAtItsEndMark) {
  const auto model = MakeModel("none");
  {
    // Every logit but the end mark's is zero or less.
    const at::NoGradGuard no_grad;
    for (const auto& named : model->Parameters()) {
      if (named.name == "lm_head.weight") named.tensor.fill_(0);
      if (named.name == "model.norm.weight") named.tensor.fill_(1);
    }
  }
  // All logits are equal: the lowest id, padding, is taken each time.
  DecodeOptions options;
  options.num_tokens = 3;
  EXPECT_EQ(GreedyDecode(*model, {{5, 6}}, options),
            (Rows{{tasks::kPad, tasks::kPad, tasks::kPad}}));
  const at::NoGradGuard no_grad;
  for (const auto& named : model->Parameters()) {
    if (named.name == "model.embed_tokens.weight") named.tensor.fill_(1);
    if (named.name == "lm_head.weight") named.tensor[tasks::kEnd].fill_(1);
    if (named.name.find("layers") != std::string::npos) named.tensor.fill_(0);
  }
  EXPECT_EQ(GreedyDecode(*model, {{5, 6}, {7, 8}}, options),
            (Rows{{tasks::kEnd}, {tasks::kEnd}}));
}

}  // namespace
}  // namespace ordo::model::evaluation
