#include <map>
#include <set>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/transformer/layers.h"
#include "model/transformer/transformer.h"

// What may stand elsewhere than in a Llama, or around its blocks.

namespace ordo::model::transformer {
namespace {

using ::ordo::training::v1::Model;
using testing::Encoding;
using testing::Integers;
using testing::Logits;
using testing::Longs;
using testing::MakeTransformer;
using testing::MaxDifference;
using testing::SameBits;
using testing::SmallModel;
using testing::SmallTransformer;

// One layer over one token, which attends to itself.
TEST(TransformerVariantsTest, NormsFollowTheSumsAndTheOutputHasItsOwnMatrices) {
  for (const bool output : {false, true}) {
    Model model = SmallModel();
    model.set_layers(1);
    model.set_mlp("geglu");
    model.set_post_norm(true);
    model.set_output_mlp(output);
    model.set_output_projection(output);
    parameters::ParameterOptions options;
    options.dtype = at::kDouble;
    const auto transformer = MakeTransformer(model, Encoding("none"), options);
    testing::Randomize(transformer->Parameters());
    const at::NoGradGuard no_grad;
    std::map<std::string, at::Tensor> weights;
    for (const auto& parameter : transformer->Parameters()) {
      weights[parameter.name] = parameter.tensor;
    }
    const auto linear = [&](const at::Tensor& x, const std::string& name) {
      return x.matmul(weights.at(name + ".weight").t());
    };
    const auto norm = [&](const at::Tensor& x, const std::string& name) {
      return RmsNorm(x, weights.at(name + ".weight"), model.norm_epsilon());
    };
    const auto mlp = [&](const at::Tensor& x, const std::string& name) {
      const at::Tensor gate = at::gelu(linear(x, name + ".gate_proj"));
      return linear(gate * linear(x, name + ".up_proj"), name + ".down_proj");
    };
    const std::string layer = "model.layers.0.";
    const at::Tensor x = weights.at("model.embed_tokens.weight");
    const at::Tensor middle =
        norm(x + linear(linear(x, layer + "self_attn.v_proj"),
                        layer + "self_attn.o_proj"),
             layer + "input_layernorm");
    at::Tensor y = norm(middle + mlp(middle, layer + "mlp"),
                        layer + "post_attention_layernorm");
    EXPECT_EQ(weights.count("model.norm.weight"), output ? 1u : 0u);
    if (output) {
      y = linear(norm(mlp(y, "model.output_mlp"), "model.norm"),
                 "model.output_projection");
    }
    const at::Tensor tokens = Longs({2, 1}, {3, 8});
    EXPECT_LT(
        MaxDifference(Logits(*transformer, tokens).squeeze(1),
                      linear(y, "lm_head").index_select(0, tokens.squeeze(1))),
        1e-12)
        << output;
  }
}

// As the addition model of the TAPE paper has it, but for sizes.
Model WithEverythingAround(Model model) {
  model.set_mlp("geglu");
  model.set_norm("layernorm");
  model.set_norm_bias(true);
  model.set_embedding_norm(true);
  model.set_post_norm(true);
  model.set_input_noise(0.02);
  model.set_output_mlp(true);
  model.set_output_projection(true);
  model.set_init("deepnorm");
  return model;
}

TEST(TransformerVariantsTest, WhatStandsAroundTheBlocksTrains) {
  const auto transformer =
      MakeTransformer(WithEverythingAround(SmallModel()), Encoding("rope"));
  testing::Randomize(transformer->Parameters(), 0.05);
  at::cross_entropy_loss(
      transformer->Forward(Integers({4, 7}, 11, "tokens")).flatten(0, 1),
      Integers({28}, 11, "targets"))
      .backward();
  std::set<std::string> names;
  for (const auto& [name, tensor] : transformer->Parameters()) {
    names.insert(name);
    EXPECT_GT(tensor.grad().abs().max().item<double>(), 0.0) << name;
  }
  for (const char* name :
       {"model.output_mlp.gate_proj.weight", "model.output_mlp.up_proj.weight",
        "model.output_mlp.down_proj.weight", "model.norm.bias",
        "model.output_projection.weight"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(TransformerVariantsTest, NoiseIsThatOfATokensPlaceHoweverItsRowIsRead) {
  const auto plain = SmallTransformer(Encoding("rope"));
  testing::Randomize(plain->Parameters());
  Model model = SmallModel();
  model.set_input_noise(0.5);
  parameters::ParameterOptions in_double;
  in_double.dtype = at::kDouble;
  const auto transformer = MakeTransformer(model, Encoding("rope"), in_double);
  testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  const at::Tensor logits = Logits(*transformer, tokens);
  EXPECT_GT(MaxDifference(logits, Logits(*plain, tokens)), 1e-3);
  EXPECT_TRUE(SameBits(logits, Logits(*transformer, tokens)));
  // Of a relative encoding, position ids decide nothing.
  ForwardOptions moved;
  moved.positions = at::arange(3, 9, at::TensorOptions(at::kLong)).unsqueeze(0);
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, moved), logits), 1e-12);
  Cache cache;
  ForwardOptions cached;
  cached.cache = &cache;
  Logits(*transformer, tokens.narrow(1, 0, 4), cached);
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens.narrow(1, 4, 2), cached),
                          logits.narrow(1, 4, 2)),
            1e-12);
  ForwardOptions padded;
  padded.attention_mask =
      at::cat({at::zeros({2, 3}, at::kLong), at::ones({2, 6}, at::kLong)}, 1);
  const at::Tensor row = at::cat({at::zeros({2, 3}, at::kLong), tokens}, 1);
  EXPECT_LT(
      MaxDifference(Logits(*transformer, row, padded).narrow(1, 3, 6), logits),
      1e-12);
}

TEST(TransformerVariantsTest, InTrainingNoiseIsThatOfTheStepAndTheRow) {
  Model model = SmallModel();
  model.set_input_noise(0.5);
  const auto transformer = MakeTransformer(model, Encoding("rope"));
  testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = Integers({1, 5}, 11, "tokens").expand({4, 5});
  const auto logits = [&](const encodings::TrainingStep& step, int64_t rows) {
    ForwardOptions options;
    options.training = step;
    return Logits(*transformer, tokens.narrow(0, 0, rows), options);
  };
  const at::Tensor whole = logits({1, 0, 0}, 4);
  EXPECT_TRUE(SameBits(whole, logits({1, 0, 0}, 4)));
  EXPECT_GT(MaxDifference(whole, Logits(*transformer, tokens)), 1e-3);
  EXPECT_GT(MaxDifference(whole, logits({1, 1, 0}, 4)), 1e-3);
  EXPECT_GT(MaxDifference(whole.select(0, 0), whole.select(0, 1)), 1e-3);
  EXPECT_LT(MaxDifference(whole.narrow(0, 2, 2), logits({1, 0, 2}, 2)), 1e-4);
}

}  // namespace
}  // namespace ordo::model::transformer
