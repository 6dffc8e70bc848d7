#include "model/training/trainable.h"

#include <set>
#include <string>

#include <ATen/ATen.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/fine_tuning.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"

namespace ordo::model::training {
namespace {

using ::ordo::training::v1::Component;
using ::ordo::training::v1::Model;
using ::ordo::training::v1::Training;

std::set<std::string> NamesOf(const Model& model, const Component& encoding) {
  parameters::ParameterOptions options;
  options.device = at::kMeta;
  std::set<std::string> names;
  const auto transformer =
      model::testing::MakeTransformer(model, encoding, options);
  for (const auto& named : transformer->Parameters()) names.insert(named.name);
  return names;
}

// With everything that has parameters.
Model FullModel() {
  Model model = model::testing::SmallModel();
  model.set_norm("layernorm");
  model.set_norm_bias(true);
  model.set_attention_bias("all");
  model.set_mlp_bias(true);
  model.set_qk_norm(true);
  model.set_embedding_norm(true);
  model.set_output_mlp(true);
  model.set_output_projection(true);
  return model;
}

TEST(PartOf, EveryParameterOfTheModelIsOfAPartThatIsNotTheEncoding) {
  std::set<std::string> parts;
  for (const auto& name :
       NamesOf(FullModel(), model::testing::Encoding("none"))) {
    EXPECT_NE(PartOf(name), "encoding") << name;
    parts.insert(PartOf(name));
  }
  EXPECT_THAT(parts, ::testing::ElementsAre("attention", "embeddings", "head",
                                            "mlp", "norms"));
}

TEST(PartOf, WhatAnEncodingAddsIsTheEncodings) {
  const auto base = NamesOf(FullModel(), model::testing::Encoding("none"));
  for (const auto& example : encodings::testing::Examples()) {
    for (const auto& name : NamesOf(FullModel(), example.encoding)) {
      EXPECT_EQ(PartOf(name) == "encoding", base.count(name) == 0)
          << example.label << ": " << name;
    }
  }
}

TEST(PartOf, WhatStandsBeforeTheHeadIsOfTheMlpAndOfTheHead) {
  EXPECT_EQ(PartOf("model.output_mlp.up_proj.weight"), "mlp");
  EXPECT_EQ(PartOf("model.output_mlp.down_proj.bias"), "mlp");
  EXPECT_EQ(PartOf("model.output_projection.weight"), "head");
}

TEST(PartOf, AdaptersAreTheirOwn) {
  EXPECT_EQ(PartOf("model.layers.0.self_attn.q_proj.lora_A.weight"),
            kAdapterPart);
  EXPECT_EQ(PartOf("model.layers.11.mlp.up_proj.lora_B.weight"), kAdapterPart);
}

TEST(Trains, AllWithoutAdaptersAndOnlyTheseWithThem) {
  Training training;
  EXPECT_TRUE(Trains(training, "lm_head.weight"));
  EXPECT_TRUE(Trains(training, "model.norm.weight"));
  training.mutable_lora();
  EXPECT_FALSE(Trains(training, "lm_head.weight"));
  EXPECT_TRUE(Trains(training, "model.layers.0.mlp.up_proj.lora_A.weight"));
  training.add_trainable("norms");
  training.add_trainable("embeddings");
  EXPECT_TRUE(Trains(training, "model.norm.weight"));
  EXPECT_TRUE(Trains(training, "model.layers.2.input_layernorm.weight"));
  EXPECT_TRUE(Trains(training, "model.embed_tokens.weight"));
  EXPECT_FALSE(Trains(training, "lm_head.weight"));
  training.clear_lora();
  EXPECT_FALSE(Trains(training, "model.layers.0.mlp.up_proj.weight"));
}

}  // namespace
}  // namespace ordo::model::training
