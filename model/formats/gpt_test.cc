#include "model/formats/gpt.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

// The least that each kind says.
Json ConfigOf(const std::string& model_type) {
  if (model_type == "gpt2") {
    return Json::parse(
        R"({"n_embd": 16, "n_layer": 2, "n_head": 4, "vocab_size": 30})");
  }
  if (model_type == "gpt_neox") {
    return Json::parse(R"({"hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 24, "vocab_size": 30})");
  }
  if (model_type == "bloom") {
    return Json::parse(
        R"({"n_embed": 16, "n_layer": 2, "n_head": 4, "vocab_size": 30})");
  }
  return Json::parse(R"({"d_model": 16, "n_layers": 2, "n_heads": 4,
      "vocab_size": 30, "attn_config": {"alibi": true}})");
}

ForeignConfig Read(const std::string& model_type, const Json& more) {
  Json json = ConfigOf(model_type);
  json.update(more);
  const auto config = FindFamily(model_type)->read(json, nullptr);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : ForeignConfig();
}

void ExpectRefused(const std::string& model_type, const Json& more,
                   const std::string& message) {
  Json json = ConfigOf(model_type);
  json.update(more);
  EXPECT_THAT(FindFamily(model_type)->read(json, nullptr).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(GptTest, Gpt2HasLearnedPositionsAndBiases) {
  const ForeignConfig config = Read("gpt2", {{"n_positions", 12}});
  EXPECT_EQ(config.encoding.name(), "learned");
  EXPECT_EQ(config.encoding.params().at("max_length").number_value(), 12);
  EXPECT_EQ(config.model.mlp(), "gelu_tanh");
  EXPECT_EQ(config.model.mlp_width(), 64);
  EXPECT_EQ(config.model.attention_bias(), "all");
  EXPECT_TRUE(config.model.mlp_bias());
  EXPECT_TRUE(config.model.norm_bias());
  EXPECT_TRUE(config.model.tie_embeddings());
  EXPECT_EQ(Read("gpt2", {{"activation_function", "relu"}}).model.mlp(),
            "relu");
}

TEST(GptTest, GptNeoxTurnsAQuarterOfTheChannels) {
  const ForeignConfig config = Read("gpt_neox", Json::object());
  EXPECT_EQ(config.encoding.name(), "rope");
  EXPECT_EQ(config.encoding.params().at("partial").number_value(), 0.25);
  EXPECT_TRUE(config.model.parallel_residual());
  EXPECT_EQ(config.model.mlp(), "gelu");
  EXPECT_FALSE(config.model.tie_embeddings());
  EXPECT_EQ(
      Read("gpt_neox", {{"attention_bias", false}}).model.attention_bias(),
      "none");
}

TEST(GptTest, BloomAndMptPenaliseTheDistance) {
  const ForeignConfig bloom = Read("bloom", {{"seq_length", 2048}});
  EXPECT_EQ(bloom.encoding.name(), "alibi");
  EXPECT_TRUE(bloom.model.embedding_norm());
  EXPECT_EQ(bloom.model.mlp_width(), 64);
  const ForeignConfig mpt = Read("mpt", Json::object());
  EXPECT_EQ(mpt.encoding.name(), "alibi");
  EXPECT_FALSE(mpt.model.norm_bias());
  EXPECT_EQ(mpt.model.attention_bias(), "none");
}

TEST(GptTest, WhatIsNotSupportedIsNamed) {
  ExpectRefused("gpt2", {{"scale_attn_by_inverse_layer_idx", true}},
                "scale_attn_by_inverse_layer_idx");
  ExpectRefused("gpt2", {{"activation_function", "silu"}},
                "activation_function");
  ExpectRefused("gpt2", {{"add_cross_attention", true}}, "add_cross_attention");
  ExpectRefused("gpt_neox", {{"hidden_act", "silu"}}, "hidden_act");
  ExpectRefused("bloom", {{"apply_residual_connection_post_layernorm", true}},
                "apply_residual_connection_post_layernorm");
  ExpectRefused("mpt", {{"no_bias", false}}, "no_bias");
  ExpectRefused("mpt", {{"logit_scale", 0.5}}, "logit_scale");
  ExpectRefused("mpt", {{"attn_config", {{"alibi", true}, {"clip_qkv", 6}}}},
                "attn_config.clip_qkv");
  ExpectRefused("mpt", {{"attn_config", {{"alibi", false}}}},
                "attn_config.alibi");
  ExpectRefused("mpt", {{"attn_config", nullptr}}, "attn_config: required");
}

}  // namespace
}  // namespace ordo::model::formats
