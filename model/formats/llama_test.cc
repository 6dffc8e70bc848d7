#include "model/formats/llama.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

Json Config() {
  return Json::parse(R"({
    "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 30})");
}

const Family& Of(const char* model_type) { return *FindFamily(model_type); }

ForeignConfig Read(const char* model_type, const Json& more) {
  Json json = Config();
  json.update(more);
  const auto config = Of(model_type).read(json, nullptr);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : ForeignConfig();
}

void ExpectRefused(const char* model_type, const Json& more,
                   const std::string& message) {
  Json json = Config();
  json.update(more);
  EXPECT_THAT(Of(model_type).read(json, nullptr).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(LlamaTest, KeysOfLlamaAreRead) {
  const auto model = Read("llama", {{"attention_bias", true},
                                    {"mlp_bias", true},
                                    {"tie_word_embeddings", true},
                                    {"head_dim", 6}})
                         .model;
  EXPECT_EQ(model.width(), 16);
  EXPECT_EQ(model.heads(), 4);
  EXPECT_EQ(model.key_value_heads(), 2);
  EXPECT_EQ(model.head_width(), 6);
  EXPECT_EQ(model.attention_bias(), "all");
  EXPECT_TRUE(model.mlp_bias());
  EXPECT_TRUE(model.tie_embeddings());
  EXPECT_EQ(model.norm_epsilon(), 1e-6);
  EXPECT_EQ(
      Read("llama", {{"num_key_value_heads", nullptr}}).model.key_value_heads(),
      4);
}

TEST(LlamaTest, AWindowThatAMistralDoesNotSayIsThatOfTheLibrary) {
  const auto window = [](const Json& more) {
    return Read("mistral", more).model.sliding_window();
  };
  EXPECT_EQ(window(Json::object()), 4096);
  EXPECT_EQ(window({{"sliding_window", nullptr}}), 0);
  EXPECT_EQ(window({{"sliding_window", 8}}), 8);
}

TEST(LlamaTest, QwensHaveBiasesOrNormsOfQueriesAndKeys) {
  const auto qwen2 = Read("qwen2", Json::object()).model;
  EXPECT_EQ(qwen2.attention_bias(), "qkv");
  EXPECT_FALSE(qwen2.qk_norm());
  const auto qwen3 = Read("qwen3", Json::object()).model;
  EXPECT_TRUE(qwen3.qk_norm());
  EXPECT_EQ(qwen3.head_width(), 128);
}

TEST(LlamaTest, AQwensWindowIsOfAllLayersOrNone) {
  const auto window = [](const Json& more) {
    return Read("qwen2", more).model.sliding_window();
  };
  EXPECT_EQ(window({{"sliding_window", 8}}), 0);
  EXPECT_EQ(window({{"sliding_window", 8},
                    {"use_sliding_window", true},
                    {"max_window_layers", 0}}),
            8);
  EXPECT_EQ(window({{"sliding_window", 8},
                    {"use_sliding_window", true},
                    {"max_window_layers", 2}}),
            0);
  EXPECT_EQ(
      window({{"sliding_window", 8},
              {"layer_types", {"sliding_attention", "sliding_attention"}}}),
      8);
  ExpectRefused("qwen2",
                {{"use_sliding_window", true}, {"max_window_layers", 1}},
                "max_window_layers");
  ExpectRefused("qwen3",
                {{"layer_types", {"sliding_attention", "full_attention"}}},
                "layer_types");
}

TEST(LlamaTest, WhatIsNotSupportedIsNamed) {
  ExpectRefused("llama", {{"hidden_act", "gelu"}}, "hidden_act");
  ExpectRefused("llama", {{"hidden_size", "wide"}}, "hidden_size");
  ExpectRefused("llama", {{"num_experts", 8}}, "num_experts");
  ExpectRefused("llama",
                {{"log_scale", false},
                 {"rpe_type", "alibi"},
                 {"rope_scaling", {{"type", "other"}}}},
                "rpe_type: says the encoding without its parameters");
  ExpectRefused("llama", {{"rope_scaling", {{"rope_type", "mrope"}}}},
                "rope_scaling.rope_type");
  ExpectRefused("mistral", {{"num_key_value_heads", nullptr}},
                "num_key_value_heads: required");
  ExpectRefused("qwen2", {{"use_mrope", true}}, "use_mrope");
}

TEST(LlamaTest, AGivenEncodingAllowsTheKeysOfThePapersCode) {
  Json json = Config();
  json.update({{"rpe_type", "fire"},
               {"train_scale", 1024},
               {"log_scale", false},
               {"rope_scaling", {{"type", "other"}}}});
  ordo::training::v1::Component given;
  given.set_name("fire");
  ORDO_ASSERT_OK_AND_ASSIGN(const ForeignConfig config,
                            Of("llama").read(json, &given));
  EXPECT_EQ(config.encoding.name(), "fire");
  json["log_scale"] = true;
  EXPECT_THAT(
      Of("llama").read(json, &given).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("log_scale")));
}

}  // namespace
}  // namespace ordo::model::formats
