#include "model/transformer/config.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::transformer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

ordo::training::v1::Model Resolved() {
  ordo::training::v1::Model model;
  model.set_layers(2);
  model.set_width(16);
  model.set_heads(2);
  model.set_key_value_heads(1);
  model.set_causal(false);
  model.set_mlp_width(32);
  model.set_mlp("gelu");
  model.set_norm("layernorm");
  model.set_norm_epsilon(1e-5);
  model.set_tie_embeddings(true);
  model.set_qk_norm(true);
  model.set_init_std(0.1);
  model.set_dropout(0.25);
  model.set_vocabulary_size(19);
  model.set_head_width(8);
  model.set_attention_bias("qkv");
  model.set_mlp_bias(true);
  model.set_norm_bias(true);
  model.set_embedding_norm(true);
  model.set_parallel_residual(true);
  model.set_sliding_window(5);
  return model;
}

TEST(ConfigTest, AResolvedModelIsTakenOver) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Config config, MakeConfig(Resolved()));
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.head_width, 8);
  EXPECT_EQ(config.key_value_heads, 1);
  EXPECT_FALSE(config.causal);
  EXPECT_EQ(config.mlp_width, 32);
  EXPECT_EQ(config.activation, Activation::kGelu);
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.output_bias);
  EXPECT_TRUE(config.mlp_bias);
  EXPECT_TRUE(config.norm_bias);
  EXPECT_TRUE(config.embedding_norm);
  EXPECT_TRUE(config.parallel_residual);
  EXPECT_EQ(config.sliding_window, 5);
  EXPECT_FALSE(config.rms_norm);
  EXPECT_TRUE(config.tie_embeddings);
  EXPECT_TRUE(config.qk_norm);
  EXPECT_EQ(config.dropout, 0.25);
}

TEST(ConfigTest, WhatSurroundsTheBlocksIsTakenOver) {
  ordo::training::v1::Model model = Resolved();
  ORDO_ASSERT_OK_AND_ASSIGN(const Config plain, MakeConfig(model));
  EXPECT_FALSE(plain.post_norm || plain.output_mlp || plain.output_projection);
  EXPECT_TRUE(plain.final_norm);
  EXPECT_EQ(plain.input_noise, 0);
  EXPECT_FALSE(plain.deepnorm);
  model.set_parallel_residual(false);
  model.set_post_norm(true);
  model.set_input_noise(0.5);
  model.set_output_projection(true);
  model.set_init("deepnorm");
  model.set_init_std(0.02);
  ORDO_ASSERT_OK_AND_ASSIGN(Config config, MakeConfig(model));
  EXPECT_TRUE(config.post_norm);
  EXPECT_FALSE(config.final_norm);
  EXPECT_EQ(config.input_noise, 0.5);
  EXPECT_FALSE(config.output_mlp);
  EXPECT_TRUE(config.output_projection);
  EXPECT_TRUE(config.deepnorm);
  model.set_output_mlp(true);
  ORDO_ASSERT_OK_AND_ASSIGN(config, MakeConfig(model));
  EXPECT_TRUE(config.output_mlp);
  EXPECT_TRUE(config.final_norm);
}

TEST(ConfigTest, AnUnresolvedModelNamesAllThatIsMissing) {
  EXPECT_THAT(MakeConfig({}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model.layers"),
                             HasSubstr("model.width"), HasSubstr("model.heads"),
                             HasSubstr("model.mlp"), HasSubstr("model.norm"),
                             HasSubstr("model.vocabulary_size"))));
}

TEST(ConfigTest, TheHeadWidthMustBeWholeAndEven) {
  ordo::training::v1::Model model = Resolved();
  model.clear_head_width();
  model.set_heads(3);
  EXPECT_THAT(MakeConfig(model), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("model.width")));
  model.set_heads(16);
  EXPECT_THAT(MakeConfig(model), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("model.heads")));
}

TEST(ConfigTest, RangesAreTheCatalogues) {
  ordo::training::v1::Model model = Resolved();
  model.set_dropout(0.999999);
  model.set_norm_epsilon(1e-30);
  ORDO_EXPECT_OK(MakeConfig(model));
  model.set_dropout(0.9999999);
  model.set_norm_epsilon(1e-35);
  EXPECT_THAT(MakeConfig(model),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model.dropout"),
                             HasSubstr("model.norm_epsilon"))));
}

TEST(ConfigTest, EveryActivationIsTakenOver) {
  const std::pair<const char*, Activation> activations[] = {
      {"swiglu", Activation::kSwiglu},
      {"geglu", Activation::kGeglu},
      {"gelu", Activation::kGelu},
      {"gelu_tanh", Activation::kGeluTanh},
      {"relu", Activation::kRelu}};
  for (const auto& [name, activation] : activations) {
    ordo::training::v1::Model model = Resolved();
    model.set_mlp(name);
    ORDO_ASSERT_OK_AND_ASSIGN(const Config config, MakeConfig(model));
    EXPECT_EQ(config.activation, activation) << name;
  }
}

TEST(ConfigTest, AnUnknownNormIsNamed) {
  ordo::training::v1::Model model = Resolved();
  model.set_norm("batchnorm");
  EXPECT_THAT(MakeConfig(model), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("'batchnorm'")));
}

}  // namespace
}  // namespace ordo::model::transformer
