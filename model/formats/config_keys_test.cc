#include "model/formats/config_keys.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::formats {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

ConfigKeys Keys(const char* text) { return ConfigKeys(Json::parse(text)); }

TEST(ConfigKeysTest, ReadsWhatIsThereAndElseTheFallback) {
  ConfigKeys keys =
      Keys(R"({"a": 3, "b": 0.5, "c": true, "d": "x", "e": null, "f": [1]})");
  EXPECT_EQ(keys.Integer({"other", "a"}), 3);
  EXPECT_EQ(keys.NumberOr({"b"}, 1), 0.5);
  EXPECT_TRUE(keys.BoolOr("c", false));
  EXPECT_EQ(keys.StringOr("d", "y"), "x");
  EXPECT_EQ(keys.IntegerOr("e", 7), 7);
  EXPECT_TRUE(keys.Has("e"));
  EXPECT_FALSE(keys.Has("g"));
  EXPECT_EQ(keys.Value("f").size(), 1u);
  EXPECT_TRUE(keys.Value("g").is_null());
  ORDO_EXPECT_OK(keys.Finish());
}

TEST(ConfigKeysTest, AKeyThatNobodyAskedForIsNamed) {
  ConfigKeys keys = Keys(R"({"use_cache": true, "logit_softcap": 30})");
  EXPECT_THAT(keys.Finish(), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("logit_softcap")));
  keys.Ignore({"logit_softcap"});
  ORDO_EXPECT_OK(keys.Finish());
}

TEST(ConfigKeysTest, WrongValuesAreNamed) {
  const auto expect = [](const char* text, const auto& read,
                         const char* message) {
    ConfigKeys keys = Keys(text);
    read(&keys);
    EXPECT_THAT(keys.Finish(), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr(message)));
  };
  const auto integer = [](ConfigKeys* keys) { keys->Integer({"a"}); };
  expect("{}", integer, "a: required");
  expect(R"({"a": "x"})", integer, "a: \"x\" is not a size");
  expect(R"({"a": 1e10})", integer, "is not a size");
  expect(R"({"a": -1})", integer, "is not a size");
  expect(R"({"a": 1})", [](ConfigKeys* keys) { keys->BoolOr("a", true); },
         "a: 1 is neither");
  expect(R"({"a": 1})", [](ConfigKeys* keys) { keys->StringOr("a", ""); },
         "a: 1 is not text");
  expect(R"({"a": "1"})", [](ConfigKeys* keys) { keys->NumberOr({"a"}, 1); },
         "is not a number");
  expect(R"({"a": 2})", [](ConfigKeys* keys) { keys->Require("a", 1); },
         "a: 2 is not supported, only 1");
}

TEST(ConfigKeysTest, WhatIsWrongInsideIsNamedWithItsPath) {
  ConfigKeys inner = Keys(R"({"qk_ln": true})");
  ConfigKeys keys = Keys("{}");
  keys.Merge(inner, "attn_config.");
  EXPECT_THAT(keys.Finish(), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("attn_config.qk_ln")));
}

}  // namespace
}  // namespace ordo::model::formats
