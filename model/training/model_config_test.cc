#include "model/training/model_config.h"

#include <ATen/ATen.h>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "model/training/checkpoint.h"
#include "model/training/durable_folder.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

ModelConfig ConfigOf(const std::string& encoding) {
  const auto spec = testing::TinySpec(encoding);
  return {spec.model(), spec.encoding(), spec.data()};
}

constexpr char kLlama[] = R"({
  "model_type": "llama", "hidden_size": 16, "intermediate_size": 24,
  "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
  "rms_norm_eps": 1e-5, "rope_theta": 5000.0, "vocab_size": 30,
  "tie_word_embeddings": true})";

// Whether `config` survives writing and reading.
void ExpectGivenBack(const ModelConfig& config) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const ModelConfig read,
      ParseModelConfig(WriteModelConfig(config), "config.json"));
  EXPECT_TRUE(MessageDifferencer::Equals(read.model, config.model));
  EXPECT_TRUE(MessageDifferencer::Equals(read.encoding, config.encoding))
      << read.encoding.DebugString();
  EXPECT_TRUE(MessageDifferencer::Equals(read.data, config.data));
}

TEST(ModelConfig, GivesBackTheModel) {
  for (const char* encoding : {"none", "rope", "tape"}) {
    ExpectGivenBack(ConfigOf(encoding));
  }
}

// The default model of Ordo is a Llama; this is none.
TEST(ModelConfig, GivesBackWhatNoOtherProgramHas) {
  ModelConfig config = ConfigOf("rope");
  config.model.set_mlp("geglu");
  config.model.set_post_norm(true);
  config.model.set_input_noise(0.02);
  config.model.set_output_mlp(true);
  config.model.set_output_projection(true);
  config.model.set_init("deepnorm");
  ExpectGivenBack(config);
  EXPECT_EQ(nlohmann::json::parse(WriteModelConfig(config))["model_type"],
            "ordo");
}

TEST(ModelConfig, GivesBackEveryParameterOfTheEncoding) {
  ModelConfig rope = ConfigOf("rope");
  auto& params = *rope.encoding.mutable_params();
  params["base"].set_number_value(500);
  params["partial"].set_number_value(0.5);
  params["layout"].set_string_value("interleaved");
  ExpectGivenBack(rope);
  ModelConfig tape = ConfigOf("tape");
  (*tape.encoding.mutable_params())["attention_update"].set_bool_value(false);
  *tape.encoding.add_with() = rope.encoding;
  ExpectGivenBack(tape);
}

TEST(ModelConfig, UsesHuggingFacesKeys) {
  const auto json = nlohmann::json::parse(WriteModelConfig(ConfigOf("rope")));
  EXPECT_EQ(json["model_type"], "llama");
  EXPECT_EQ(json["architectures"][0], "LlamaForCausalLM");
  EXPECT_EQ(json["hidden_size"], 16);
  EXPECT_EQ(json["num_hidden_layers"], 2);
  EXPECT_EQ(json["num_attention_heads"], 2);
  EXPECT_EQ(json["num_key_value_heads"], 2);
  EXPECT_EQ(json["head_dim"], 8);
  EXPECT_EQ(json["vocab_size"], 19);
  EXPECT_EQ(json["rope_theta"], 10000);
  EXPECT_EQ(json["max_position_embeddings"], 10);
  EXPECT_EQ(json["pad_token_id"], 0);
  EXPECT_EQ(json["eos_token_id"], 3);
}

TEST(ModelConfig, CallsOnlyALlamaALlama) {
  EXPECT_EQ(
      nlohmann::json::parse(WriteModelConfig(ConfigOf("tape")))["model_type"],
      "ordo");
  ModelConfig config = ConfigOf("rope");
  config.model.set_qk_norm(true);
  EXPECT_EQ(nlohmann::json::parse(WriteModelConfig(config))["model_type"],
            "qwen3");
  // Whose tensors have other names than Ordo's.
  config = ConfigOf("none");
  config.model.set_norm("layernorm");
  EXPECT_EQ(nlohmann::json::parse(WriteModelConfig(config))["model_type"],
            "ordo");
}

TEST(ModelConfig, ReadsALlamaOfAnotherProgram) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ModelConfig config,
                            ParseModelConfig(kLlama, "config.json"));
  EXPECT_EQ(config.model.mlp_width(), 24);
  EXPECT_EQ(config.model.mlp(), "swiglu");
  EXPECT_TRUE(config.model.tie_embeddings());
  EXPECT_EQ(config.encoding.name(), "rope");
  EXPECT_EQ(config.encoding.params().at("base").number_value(), 5000);
  EXPECT_EQ(config.data.task(), "");
}

TEST(ModelConfig, ReadsTheNewFormOfRopesParameters) {
  auto json = nlohmann::json::parse(kLlama);
  json.erase("rope_theta");
  json["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 700.0}};
  ORDO_ASSERT_OK_AND_ASSIGN(const ModelConfig config,
                            ParseModelConfig(json.dump(), "config.json"));
  EXPECT_EQ(config.encoding.params().at("base").number_value(), 700);
}

TEST(ModelConfig, TakesNullAsAbsent) {
  auto json = nlohmann::json::parse(kLlama);
  for (const char* key :
       {"head_dim", "rope_scaling", "rope_parameters", "num_key_value_heads",
        "attention_bias", "hidden_act"}) {
    json[key] = nullptr;
  }
  ORDO_EXPECT_OK(ParseModelConfig(json.dump(), "config.json"));
}

TEST(ModelConfig, SaysWhyAModelCannotBeRebuilt) {
  const auto expect = [](const std::string& key, const nlohmann::json& value,
                         const std::string& message) {
    auto json = nlohmann::json::parse(kLlama);
    json[key] = value;
    EXPECT_THAT(ParseModelConfig(json.dump(), "/x/config.json"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::AllOf(HasSubstr("/x/config.json"),
                                          HasSubstr(message))));
  };
  expect("model_type", "bert", "model_type: 'bert' is not one of llama");
  expect("num_key_value_heads", 3, "model.key_value_heads");
  expect("rope_scaling", {{"factor", 2}}, "rope_scaling");
  expect("attention_bias", 1, "attention_bias");
  expect("head_dim", 5, "model.head_width");
  expect("hidden_size", "wide", "hidden_size");
  expect("hidden_size", 1e10, "hidden_size");
  expect("hidden_size", 15, "model.width");
  expect("num_attention_heads", 0, "num_attention_heads");
  expect("num_experts", 8, "num_experts");
  expect("hidden_act", "gelu", "hidden_act");
  expect("rope_parameters", {{"rope_type", "other"}, {"rope_theta", 10000}},
         "rope_scaling.rope_type");
  expect("rope_parameters", {{"rope_type", "default"}, {"factor", 2}},
         "rope_scaling.factor");
  expect("num_hidden_layers", 0, "num_hidden_layers");
  EXPECT_THAT(
      ParseModelConfig("{", "/x/config.json"),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("/x/config.json")));
}

class LoadModelTest : public ::testing::Test {
 protected:
  void Save(const TensorMap& tensors, const std::string& config) {
    ORDO_ASSERT_OK(WriteSafetensors(files_, folder_.Path(kModelFile), tensors));
    ORDO_ASSERT_OK(WriteDurably(files_, folder_.Path(kConfigFile), config));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(LoadModelTest, RebuildsAModelFromItsTwoFilesAlone) {
  for (const char* encoding : {"none", "rope", "tape"}) {
    const auto run = *training::Run::Create(testing::TinySpec(encoding));
    ORDO_ASSERT_OK(run->Step());
    Save(run->State().parameters, WriteModelConfig(ConfigOf(encoding)));
    ORDO_ASSERT_OK_AND_ASSIGN(const LoadedModel loaded,
                              LoadModel(files_, folder_.path(), ""));
    const at::Tensor tokens = at::arange(4, 12, at::kLong).view({1, 8});
    EXPECT_TRUE(at::equal(loaded.transformer->Forward(tokens),
                          run->model().Forward(tokens)))
        << encoding;
  }
}

TEST_F(LoadModelTest, TakesAForeignLlamaInHalfPrecision) {
  ORDO_ASSERT_OK_AND_ASSIGN(const ModelConfig config,
                            ParseModelConfig(kLlama, "config.json"));
  const auto model =
      *transformer::Transformer::Create(config.model, config.encoding, {});
  TensorMap tensors;
  for (const auto& [name, tensor] : ParametersOf(*model)) {
    tensors[name] = tensor.to(at::kBFloat16);
  }
  tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = at::ones({4});
  tensors["lm_head.weight"] = at::ones({30, 16});
  Save(tensors, kLlama);
  ORDO_EXPECT_OK(LoadModel(files_, folder_.path(), ""));
}

TEST_F(LoadModelTest, AGivenEncodingTakesThePlaceOfTheFiles) {
  const auto run = *training::Run::Create(testing::TinySpec("rope"));
  Save(run->State().parameters, WriteModelConfig(ConfigOf("rope")));
  ordo::training::v1::Component none;
  none.set_name("none");
  ORDO_ASSERT_OK_AND_ASSIGN(const LoadedModel loaded,
                            LoadModel(files_, folder_.path(), "", {&none}));
  EXPECT_EQ(loaded.config.encoding.name(), "none");
  const at::Tensor tokens = at::arange(4, 12, at::kLong).view({1, 8});
  EXPECT_FALSE(at::equal(loaded.transformer->Forward(tokens),
                         run->model().Forward(tokens)));
}

TEST_F(LoadModelTest, NamesWhatDoesNotFit) {
  const auto run = *training::Run::Create(testing::TinySpec("rope"));
  TensorMap tensors = run->State().parameters;
  tensors.erase("model.norm.weight");
  Save(tensors, WriteModelConfig(ConfigOf("rope")));
  EXPECT_THAT(LoadModel(files_, folder_.path(), ""),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("'model.norm.weight' is missing")));
  EXPECT_THAT(LoadModel(files_, folder_.path(), "registered"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("MANIFEST")));
  EXPECT_THAT(LoadModel(files_, folder_.Path("none"), ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("config.json")));
}

}  // namespace
}  // namespace ordo::model::training
