#include "model/catalog/foreign.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using base::testing::StatusIs;
using ordo::training::v1::Component;
using ::testing::HasSubstr;

ForeignRope OfType(const std::string& type) {
  ForeignRope rope;
  rope.max_positions = 64;
  rope.scaling["rope_type"].set_string_value(type);
  return rope;
}

void SetNumber(const std::string& key, double value, ForeignRope* rope) {
  rope->scaling[key].set_number_value(value);
}

Component Resolved(const ForeignRope& rope) {
  auto encoding = FromForeignRope(rope);
  EXPECT_TRUE(encoding.ok()) << encoding.status();
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &*encoding, &violations);
  EXPECT_TRUE(violations.empty()) << violations.front().description;
  return *encoding;
}

void ExpectBadKey(const ForeignRope& rope, const std::string& message) {
  EXPECT_THAT(FromForeignRope(rope).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(ForeignTest, NoScalingIsPlainRope) {
  ForeignRope rope;
  rope.base = 500;
  rope.partial = 0.5;
  const Component encoding = Resolved(rope);
  EXPECT_EQ(encoding.name(), "rope");
  EXPECT_EQ(encoding.params().at("base").number_value(), 500);
  EXPECT_EQ(encoding.params().at("partial").number_value(), 0.5);
}

TEST(ForeignTest, EveryTypeHasItsEncoding) {
  ForeignRope rope = OfType("linear");
  SetNumber("factor", 4, &rope);
  EXPECT_EQ(Resolved(rope).name(), "linear");
  rope = OfType("dynamic");
  SetNumber("factor", 4, &rope);
  EXPECT_EQ(Resolved(rope).name(), "dynamic_ntk");
  EXPECT_EQ(Resolved(rope).params().at("trained_length").number_value(), 64);
  rope = OfType("llama3");
  for (const char* key : {"factor", "low_freq_factor", "high_freq_factor"}) {
    SetNumber(key, 4, &rope);
  }
  ExpectBadKey(rope, "rope_scaling.original_max_position_embeddings: required");
  SetNumber("original_max_position_embeddings", 32, &rope);
  EXPECT_EQ(Resolved(rope).params().at("trained_length").number_value(), 32);
  EXPECT_EQ(Resolved(OfType("default")).name(), "rope");
  // Old files say `type`.
  rope = OfType("linear");
  rope.scaling["type"] = rope.scaling["rope_type"];
  rope.scaling.erase("rope_type");
  SetNumber("factor", 4, &rope);
  EXPECT_EQ(Resolved(rope).name(), "linear");
}

TEST(ForeignTest, AFactorLeftOutIsTheRatioOfTheLengths) {
  ForeignRope rope = OfType("yarn");
  EXPECT_EQ(Resolved(rope).params().at("factor").number_value(), 1);
  SetNumber("original_max_position_embeddings", 16, &rope);
  EXPECT_EQ(Resolved(rope).params().at("factor").number_value(), 4);
  SetNumber("factor", 3, &rope);
  EXPECT_EQ(Resolved(rope).params().at("factor").number_value(), 3);
}

TEST(ForeignTest, WhatHasNoEquivalentIsNamed) {
  ExpectBadKey(OfType("mrope"), "rope_scaling.rope_type: 'mrope'");
  ExpectBadKey(OfType("linear"), "rope_scaling.factor: required");
  ExpectBadKey(OfType("longrope"), "rope_scaling.short_factor: required");
  ForeignRope rope = OfType("linear");
  SetNumber("factor", 2, &rope);
  SetNumber("beta_fast", 2, &rope);
  ExpectBadKey(rope, "rope_scaling.beta_fast");
  rope = ForeignRope();
  SetNumber("factor", 2, &rope);
  ExpectBadKey(rope, "rope_scaling.rope_type: required");
  rope = OfType("dynamic");
  rope.max_positions = 0;
  SetNumber("factor", 2, &rope);
  ExpectBadKey(rope, "max_position_embeddings: required");
}

TEST(ForeignTest, ScalingsComeBackAsTheyWere) {
  for (const char* type : {"linear", "dynamic", "yarn", "longrope", "llama3"}) {
    ForeignRope rope = OfType(type);
    SetNumber("factor", 4, &rope);
    if (std::string(type) == "llama3") {
      SetNumber("low_freq_factor", 1, &rope);
      SetNumber("high_freq_factor", 4, &rope);
    }
    if (std::string(type) != "linear" && std::string(type) != "dynamic") {
      SetNumber("original_max_position_embeddings", 32, &rope);
    }
    if (std::string(type) == "longrope") {
      for (const char* key : {"short_factor", "long_factor"}) {
        auto* list = rope.scaling[key].mutable_list_value();
        list->add_values()->set_number_value(2);
        list->add_values()->set_number_value(3);
      }
    }
    const Component encoding = Resolved(rope);
    const auto back = ToForeignRope(encoding);
    ASSERT_TRUE(back.has_value()) << type;
    ForeignRope again = *back;
    if (again.max_positions == 0) again.max_positions = 64;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
        Resolved(again), encoding))
        << type;
  }
}

TEST(ForeignTest, OtherEncodingsAreNotRope) {
  Component encoding;
  encoding.set_name("none");
  EXPECT_FALSE(ToForeignRope(encoding).has_value());
  encoding = Resolved(ForeignRope());
  EXPECT_TRUE(ToForeignRope(encoding).has_value());
  (*encoding.mutable_params())["layout"].set_string_value("interleaved");
  EXPECT_FALSE(ToForeignRope(encoding).has_value());
  encoding = Resolved(ForeignRope());
  encoding.add_with()->set_name("alibi");
  EXPECT_FALSE(ToForeignRope(encoding).has_value());
}

TEST(ForeignTest, ImpliedEncodingsAreInTheCatalogue) {
  for (const ImpliedEncoding kind :
       {ImpliedEncoding::kLearned, ImpliedEncoding::kLinearBias}) {
    Component encoding = FromImplied(kind, 12);
    std::vector<base::FieldViolation> violations;
    ResolveComponent(Kind::kEncoding, "encoding", &encoding, &violations);
    EXPECT_TRUE(violations.empty());
    EXPECT_TRUE(IsImplied(kind, encoding));
    const bool learned = kind == ImpliedEncoding::kLearned;
    EXPECT_EQ(IsImplied(ImpliedEncoding::kLearned, encoding), learned);
    if (learned) {
      EXPECT_EQ(LearnedPositions(encoding), 12);
    }
  }
}

TEST(ForeignTest, ConstantsOfForeignTensorsAreParameters) {
  int constants = 0;
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    Component encoding;
    encoding.set_name(entry->name);
    std::vector<base::FieldViolation> violations;
    ResolveComponent(Kind::kEncoding, "encoding", &encoding, &violations);
    for (const ForeignTensor& tensor : ForeignTensors(encoding)) {
      if (tensor.param.empty()) continue;
      ++constants;
      EXPECT_TRUE(tensor.ours.empty()) << tensor.theirs;
      EXPECT_NE(FindParam(*entry, tensor.param), nullptr) << tensor.param;
    }
  }
  EXPECT_EQ(constants, 1);
}

TEST(ForeignTest, OnlyTheReleasedTapeOverYarnTakesTrainedFrequencies) {
  const auto takes = [](const char* reading, const char* start) {
    Component tape;
    tape.set_name("tape");
    (*tape.mutable_params())["reading"].set_string_value(reading);
    tape.add_with()->set_name(start);
    std::vector<base::FieldViolation> violations;
    ResolveComponent(Kind::kEncoding, "encoding", &tape, &violations);
    EXPECT_TRUE(violations.empty());
    for (const ForeignTensor& tensor : ForeignTensors(tape)) {
      if (tensor.theirs == "model.rotary_emb.inv_freq") return true;
    }
    return false;
  };
  EXPECT_TRUE(takes("released", "yarn"));
  EXPECT_FALSE(takes("released", "linear"));
  EXPECT_FALSE(takes("canonical", "yarn"));
}

}  // namespace
}  // namespace ordo::model::catalog
