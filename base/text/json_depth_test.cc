#include "base/text/json_depth.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(JsonDepthTest, CountsArraysAndObjectsThatLieInEachOther) {
  EXPECT_FALSE(NestsTooDeep("[[1], {\"a\": [2]}]", 3));
  EXPECT_TRUE(NestsTooDeep("[[1], {\"a\": [2]}]", 2));
  EXPECT_FALSE(NestsTooDeep("[[], [], [], {}, {}]", 2));
  EXPECT_FALSE(NestsTooDeep("", 0));
  EXPECT_TRUE(NestsTooDeep("[", 0));
}

TEST(JsonDepthTest, BracketsInTextsDoNotCount) {
  EXPECT_FALSE(NestsTooDeep(R"({"[[[[": "\"[[[[\\", "a": "{{{{"})", 1));
  EXPECT_TRUE(NestsTooDeep(R"({"a\\": [1]})", 1));
}

TEST(JsonDepthTest, WhatIsDeepIsFoundWhereverItBegins) {
  const std::string deep = "{\"a\": " + std::string(1 << 20, '[');
  EXPECT_TRUE(NestsTooDeep(deep));
  EXPECT_FALSE(NestsTooDeep(std::string(kMaxJsonDepth, '[')));
  EXPECT_TRUE(NestsTooDeep(std::string(kMaxJsonDepth + 1, '[')));
}

}  // namespace
}  // namespace ordo::base
