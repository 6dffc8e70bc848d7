#include "model/formats/families.h"

#include <functional>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::formats {
namespace {

using google::protobuf::util::MessageDifferencer;
using ordo::training::v1::Component;
using ordo::training::v1::Model;

struct Resolved {
  Model model;
  Component encoding;
};

Resolved Resolve(Model model, Component encoding) {
  std::vector<base::FieldViolation> violations;
  catalog::ResolveModel("model", 30, &model, &violations);
  catalog::ResolveEncoding("encoding", model, &encoding, &violations);
  EXPECT_TRUE(violations.empty())
      << violations.front().field << violations.front().description;
  return {model, encoding};
}

Resolved Make(const std::string& encoding,
              const std::function<void(Model*)>& change) {
  Model model;
  change(&model);
  Component component;
  component.set_name(encoding);
  return Resolve(model, component);
}

// A model of each kind.
Resolved Example(const std::string& model_type) {
  if (model_type == "llama") {
    return Make("yarn", [](Model* model) { model->set_key_value_heads(2); });
  }
  if (model_type == "mistral") {
    return Make("rope", [](Model* model) { model->set_sliding_window(7); });
  }
  if (model_type == "qwen2") {
    return Make("linear",
                [](Model* model) { model->set_attention_bias("qkv"); });
  }
  if (model_type == "qwen3") {
    return Make("llama3", [](Model* model) {
      model->set_qk_norm(true);
      model->set_head_width(16);
    });
  }
  const bool biases = model_type != "mpt";
  const auto gpt = [&](Model* model) {
    model->set_norm("layernorm");
    model->set_mlp(model_type == "bloom" ? "gelu_tanh" : "gelu");
    model->set_mlp_width(512);
    model->set_norm_bias(biases);
    model->set_mlp_bias(biases);
    model->set_attention_bias(biases ? "all" : "none");
    model->set_embedding_norm(model_type == "bloom");
    model->set_parallel_residual(model_type == "gpt_neox");
    model->set_tie_embeddings(true);
  };
  if (model_type == "gpt2") return Make("learned", gpt);
  if (model_type == "gpt_neox") return Make("rope", gpt);
  return Make("alibi", gpt);
}

TEST(FamiliesTest, WhatAKindWritesReadsAsTheSameModel) {
  for (const Family& family : Families()) {
    const Resolved example = Example(family.model_type);
    ASSERT_EQ(FamilyOf(example.model, example.encoding), &family)
        << family.model_type;
    const auto json = family.write(example.model, example.encoding);
    ASSERT_TRUE(json.has_value());
    ORDO_ASSERT_OK_AND_ASSIGN(ForeignConfig read, family.read(*json, nullptr));
    read.model.set_init_std(example.model.init_std());
    const Resolved back = Resolve(read.model, read.encoding);
    EXPECT_TRUE(MessageDifferencer::Equals(back.model, example.model))
        << family.model_type << "\n"
        << back.model.DebugString() << example.model.DebugString();
    EXPECT_TRUE(MessageDifferencer::Equals(back.encoding, example.encoding))
        << back.encoding.DebugString() << example.encoding.DebugString();
  }
}

TEST(FamiliesTest, AModelThatNoKindComputesHasNone) {
  const auto expect_none = [](const Resolved& of) {
    EXPECT_EQ(FamilyOf(of.model, of.encoding), nullptr)
        << of.model.DebugString() << of.encoding.DebugString();
  };
  for (const char* encoding : {"none", "tape", "cope", "xpos"}) {
    expect_none(Make(encoding, [](Model*) {}));
  }
  // Each option that Llama's relatives lack.
  expect_none(Make("rope", [](Model* model) { model->set_mlp("gelu"); }));
  expect_none(Make("rope", [](Model* model) { model->set_causal(false); }));
  expect_none(Make("rope", [](Model* model) { model->set_norm("layernorm"); }));
  expect_none(
      Make("rope", [](Model* model) { model->set_embedding_norm(true); }));
  expect_none(
      Make("rope", [](Model* model) { model->set_parallel_residual(true); }));
  expect_none(Make("rope", [](Model* model) {
    model->set_attention_bias("qkv");
    model->set_mlp_bias(true);
  }));
  expect_none(Make("rope", [](Model* model) {
    model->set_sliding_window(5);
    model->set_attention_bias("all");
  }));
}

TEST(FamiliesTest, WhatNoKindKnowsIsNamed) {
  const std::pair<const char*, std::function<void(Model*)>> changes[] = {
      {"mlp", [](Model* model) { model->set_mlp("geglu"); }},
      {"post_norm", [](Model* model) { model->set_post_norm(true); }},
      {"input_noise", [](Model* model) { model->set_input_noise(0.1); }},
      {"output_mlp", [](Model* model) { model->set_output_mlp(true); }},
      {"output_projection",
       [](Model* model) { model->set_output_projection(true); }}};
  for (const auto& [field, change] : changes) {
    for (const Family& family : Families()) {
      Resolved example = Example(family.model_type);
      EXPECT_EQ(FieldOfNoFamily(example.model), "");
      change(&example.model);
      EXPECT_EQ(FieldOfNoFamily(example.model), field);
      EXPECT_EQ(FamilyOf(example.model, example.encoding), nullptr)
          << family.model_type << " " << field;
    }
  }
}

TEST(FamiliesTest, KindsAreFoundByTheirNames) {
  for (const Family& family : Families()) {
    EXPECT_EQ(FindFamily(family.model_type), &family);
  }
  EXPECT_EQ(FindFamily("bert"), nullptr);
}

}  // namespace
}  // namespace ordo::model::formats
