#include "base/text/cut.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(CutTest, WhatFitsStays) {
  EXPECT_EQ(Cut("", 10), "");
  EXPECT_EQ(Cut("ten bytes.", 10), "ten bytes.");
}

TEST(CutTest, WhatIsLongerEndsWithAMark) {
  EXPECT_EQ(Cut("eleven more", 10), "eleven ...");
}

TEST(CutTest, NoCharacterIsDivided) {
  EXPECT_EQ(Cut("12345\u00e9789012", 10), "12345 ...");
  EXPECT_EQ(Cut("1234\u00e9789012", 10), "1234\u00e9 ...");
}

}  // namespace
}  // namespace ordo::base
