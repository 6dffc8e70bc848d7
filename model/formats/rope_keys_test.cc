#include "model/formats/rope_keys.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ordo::training::v1::Component;
using ::testing::HasSubstr;

Component Read(const char* text) {
  ConfigKeys keys(Json::parse(text));
  const Component encoding = ReadRope({}, nullptr, &keys);
  ORDO_EXPECT_OK(keys.Finish());
  return encoding;
}

double Param(const Component& encoding, const char* name) {
  return encoding.params().at(name).number_value();
}

void ExpectRefused(const char* text, const char* message) {
  ConfigKeys keys(Json::parse(text));
  ReadRope({}, nullptr, &keys);
  EXPECT_THAT(keys.Finish(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(RopeKeysTest, OldAndNewFormsSayTheSame) {
  const Component old_form = Read(
      R"({"rope_theta": 700, "partial_rotary_factor": 0.5,
          "rope_scaling": {"type": "linear", "factor": 3}})");
  const Component new_form = Read(
      R"({"rope_parameters": {"rope_type": "linear", "factor": 3,
          "rope_theta": 700, "partial_rotary_factor": 0.5}})");
  EXPECT_EQ(old_form.name(), "linear");
  EXPECT_EQ(Param(old_form, "base"), 700);
  EXPECT_EQ(Param(old_form, "factor"), 3);
  EXPECT_EQ(new_form.name(), old_form.name());
  EXPECT_EQ(Param(new_form, "base"), 700);
  EXPECT_EQ(Param(new_form, "partial"), 0.5);
}

TEST(RopeKeysTest, TheTrainedLengthMayStandOutside) {
  const Component encoding = Read(
      R"({"max_position_embeddings": 32,
          "original_max_position_embeddings": 8,
          "rope_scaling": {"type": "longrope", "short_factor": [1, 2],
                           "long_factor": [3, 4]}})");
  EXPECT_EQ(Param(encoding, "trained_length"), 8);
  EXPECT_EQ(Param(encoding, "factor"), 4);
}

TEST(RopeKeysTest, AGivenEncodingTakesThePlaceOfWhatTheFileSays) {
  ConfigKeys keys(Json::parse(R"({"rope_scaling": {"type": "other"}})"));
  Component given;
  given.set_name("none");
  EXPECT_EQ(ReadRope({}, &given, &keys).name(), "none");
  ORDO_EXPECT_OK(keys.Finish());
}

TEST(RopeKeysTest, WhatIsWrongIsNamed) {
  ExpectRefused(R"({"rope_scaling": {"type": "other"}})",
                "rope_scaling.rope_type: 'other'");
  ExpectRefused(R"({"rope_scaling": 3})", "rope_scaling: 3 is not an object");
  ExpectRefused(R"({"rope_parameters": {"rope_theta": "x"}})", "rope_theta");
  ExpectRefused(R"({"rope_scaling": {"type": "linear", "factor": {}}})",
                "rope_scaling.factor");
}

TEST(RopeKeysTest, WhatIsWrittenReadsAsTheSame) {
  Component encoding = Read(
      R"({"rope_theta": 700, "rope_scaling": {"type": "yarn", "factor": 3,
          "original_max_position_embeddings": 8}})");
  std::vector<base::FieldViolation> violations;
  ordo::training::v1::Model model;
  catalog::ResolveModel("model", 0, &model, &violations);
  catalog::ResolveEncoding("encoding", model, &encoding, &violations);
  ASSERT_TRUE(violations.empty());
  Json json;
  ASSERT_TRUE(WriteRope(encoding, &json));
  EXPECT_EQ(json["rope_theta"], 700);
  EXPECT_EQ(json["rope_scaling"]["rope_type"], "yarn");
  Component again = Read(json.dump().c_str());
  EXPECT_EQ(Param(again, "trained_length"), 8);
  EXPECT_EQ(Param(again, "factor"), 3);
  encoding.set_name("none");
  EXPECT_FALSE(WriteRope(encoding, &json));
}

}  // namespace
}  // namespace ordo::model::formats
