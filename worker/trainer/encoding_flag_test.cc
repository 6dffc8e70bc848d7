#include "worker/trainer/encoding_flag.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(EncodingFlagTest, IsYamlOrJson) {
  for (const char* text : {"{name: rope, params: {base: 500}}",
                           R"({"name": "rope", "params": {"base": 500}})"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto encoding, ParseEncodingFlag(text));
    ASSERT_TRUE(encoding.has_value());
    EXPECT_EQ(encoding->name(), "rope");
    EXPECT_EQ(encoding->params().at("base").number_value(), 500);
  }
}

TEST(EncodingFlagTest, MayBeANameAlone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto encoding, ParseEncodingFlag("yarn"));
  ASSERT_TRUE(encoding.has_value());
  EXPECT_EQ(encoding->name(), "yarn");
}

TEST(EncodingFlagTest, LeftOutIsNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto encoding, ParseEncodingFlag(""));
  EXPECT_FALSE(encoding.has_value());
}

TEST(EncodingFlagTest, WhatIsWrongIsNamedWithTheFlag) {
  EXPECT_THAT(
      ParseEncodingFlag("{nam: rope}").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--encoding")));
}

}  // namespace
}  // namespace ordo::worker::trainer
