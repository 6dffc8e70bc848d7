#include "model/catalog/resolve_model.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::Minimal;

TEST(ResolveModelTest, PresetsAreThoseOfThePaper) {
  v1::Model model;
  Violations violations;
  model.set_preset("small");
  ResolveModel("model", 0, &model, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(model.layers(), 12);
  EXPECT_EQ(model.width(), 768);
  EXPECT_EQ(model.heads(), 12);
  EXPECT_EQ(model.mlp_width(), 3072);
  EXPECT_EQ(model.vocabulary_size(), 32000);

  v1::Model base;
  base.set_preset("base");
  ResolveModel("model", 19, &base, &violations);
  EXPECT_EQ(base.layers(), 16);
  EXPECT_EQ(base.width(), 1024);
  EXPECT_EQ(base.heads(), 16);
  EXPECT_EQ(base.mlp_width(), 2048);
  EXPECT_EQ(base.vocabulary_size(), 19);
}

TEST(ResolveModelTest, TheAdditionModelIsItsFields) {
  v1::Model model;
  Violations violations;
  model.set_preset("addition");
  model.set_init("normal");
  model.set_output_projection(false);
  model.set_embedding_norm(false);
  ResolveModel("model", 19, &model, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(model.preset(), "base");
  EXPECT_EQ(model.layers(), 16);
  EXPECT_EQ(model.width(), 1024);
  EXPECT_EQ(model.heads(), 16);
  EXPECT_EQ(model.mlp_width(), 1024);
  EXPECT_EQ(model.mlp(), "geglu");
  EXPECT_EQ(model.norm(), "layernorm");
  EXPECT_EQ(model.norm_epsilon(), 1e-12);
  EXPECT_TRUE(model.norm_bias());
  EXPECT_TRUE(model.post_norm());
  EXPECT_EQ(model.input_noise(), 0.02);
  EXPECT_TRUE(model.output_mlp());
  // What is said overrides.
  EXPECT_EQ(model.init(), "");
  EXPECT_FALSE(model.has_output_projection());
  EXPECT_FALSE(model.embedding_norm());
  // Once more it stays as it is.
  const std::string once = model.ShortDebugString();
  ResolveModel("model", 19, &model, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(model.ShortDebugString(), once);
}

TEST(ResolveModelTest, DefaultsOfWhatSurroundsTheBlocksAreLeftOut) {
  v1::TrainSpec spec = Minimal();
  const auto plain = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(plain);
  spec.mutable_model()->set_post_norm(false);
  spec.mutable_model()->set_input_noise(0);
  spec.mutable_model()->set_output_mlp(false);
  spec.mutable_model()->set_output_projection(false);
  spec.mutable_model()->set_init("normal");
  const auto said = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(said);
  EXPECT_EQ(said->ShortDebugString(), plain->ShortDebugString());
}

TEST(ResolveModelTest, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_post_norm(true);
                spec->mutable_model()->set_parallel_residual(true);
                spec->mutable_model()->set_input_noise(-0.1);
                spec->mutable_model()->set_init("xavier");
              }),
              ::testing::UnorderedElementsAre(
                  "model.post_norm", "model.input_noise", "model.init"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_init("deepnorm");
                spec->mutable_model()->set_init_std(0.1);
              }),
              HasSubstr("model.init_std: has no effect with init: deepnorm"));
}

TEST(ResolveModelTest, HeadsMayHaveAWidthOfTheirOwn) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_model()->set_width(100);
  spec.mutable_model()->set_heads(3);
  spec.mutable_model()->set_head_width(64);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->model().head_width(), 64);
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* wrong) {
                wrong->mutable_model()->set_head_width(7);
              }),
              ElementsAre("model.head_width"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* wrong) {
                wrong->mutable_model()->set_heads(3);
              }),
              HasSubstr("or set head_width"));
}

TEST(ResolveModelTest, SwitchesOfTheBlockAreChecked) {
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_norm_bias(true);
              }),
              ElementsAre("model.norm_bias"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_attention_bias("q");
                spec->mutable_model()->set_mlp("silu");
                spec->mutable_model()->set_sliding_window(-1);
              }),
              ::testing::UnorderedElementsAre(
                  "model.attention_bias", "model.mlp", "model.sliding_window"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_norm("layernorm");
                spec->mutable_model()->set_norm_bias(true);
                spec->mutable_model()->set_mlp("relu");
              }),
              IsEmpty());
}

TEST(ResolveModelTest, MlpOfAnotherWidthThanThePresetsFollowsTheWidth) {
  v1::Model model;
  Violations violations;
  model.set_preset("small");
  model.set_width(384);
  ResolveModel("model", 0, &model, &violations);
  EXPECT_EQ(model.mlp_width(), 1024);
  EXPECT_EQ(DefaultMlpWidth(128), 352);
  EXPECT_EQ(DefaultMlpWidth(12), 32);
  EXPECT_EQ(DefaultMlpWidth(13), 64);
  EXPECT_EQ(DefaultMlpWidth(65536), 174784);
}

// A dropout whose scale, or an epsilon that, is lost in fp32.
TEST(ResolveModelTest, NumbersThatATrainerCannotUseAreRefused) {
  EXPECT_THAT(
      FieldsOf([](v1::TrainSpec* spec) {
        spec->mutable_model()->set_norm_epsilon(1e-35);
        spec->mutable_model()->set_init_std(1e-35);
        spec->mutable_model()->set_dropout(0.9999999);
      }),
      ElementsAre("model.norm_epsilon", "model.init_std", "model.dropout"));
}

TEST(ResolveModelTest, AnEncodingMustFitTheHeads) {
  // Of the 32 channels of each head, 9.
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                (*spec->mutable_encoding()->mutable_params())["partial"]
                    .set_number_value(0.3);
              }),
              ElementsAre("encoding.params.partial"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                v1::Component rope = spec->encoding();
                (*rope.mutable_params())["partial"].set_number_value(0.3);
                spec->mutable_encoding()->set_name("tape");
                *spec->mutable_encoding()->add_with() = rope;
              }),
              ElementsAre("encoding.with[0].params.partial"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                (*spec->mutable_encoding()->mutable_params())["partial"]
                    .set_number_value(0.25);
              }),
              IsEmpty());
}

TEST(ResolveModelTest, WidthAndHeadsMustFit) {
  EXPECT_THAT(FieldsOf([](auto* spec) { spec->mutable_model()->set_heads(3); }),
              ElementsAre("model.width"));
  EXPECT_THAT(
      FieldsOf([](auto* spec) { spec->mutable_model()->set_heads(128); }),
      ElementsAre("model.heads"));
}

TEST(ResolveModelTest, VocabularyMustHoldTheTask) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_model()->set_vocabulary_size(18);
              }),
              ElementsAre("model.vocabulary_size"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_model()->set_vocabulary_size(19);
              }),
              IsEmpty());
}

TEST(ResolveModelTest, EncodingsCombineAsTheCatalogueSays) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_encoding()->set_name("tape");
                spec->mutable_encoding()->add_with()->set_name("rope");
              }),
              IsEmpty());
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_encoding()->set_name("tape");
                spec->mutable_encoding()->add_with()->set_name("none");
              }),
              ElementsAre("encoding.with[0].name"));
}

}  // namespace
}  // namespace ordo::model::catalog
