#include "base/log/quote.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(TextValueTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(TextValue("a-1/b"), "a-1/b");
  EXPECT_EQ(TextValue("two words"), "\"two words\"");
  EXPECT_EQ(TextValue(""), "\"\"");
  EXPECT_EQ(TextValue("a=\"b\"\\"), "\"a=\\\"b\\\"\\\\\"");
  EXPECT_EQ(TextValue("one\ntwo\x01"), "\"one\\ntwo\\x01\"");
  EXPECT_EQ(TextValue("é"), "\"é\"");
}

TEST(JsonStringTest, EscapesWhatJsonDoesNotHold) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("a b"), "\"a b\"");
  EXPECT_EQ(JsonString("\"\\\n\t\x7f"), "\"\\\"\\\\\\n\\u0009\\u007f\"");
  EXPECT_EQ(JsonString(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonStringTest, KeepsCharactersAndReplacesWhatIsNone) {
  EXPECT_EQ(JsonString("é€😀"), "\"é€😀\"");
  // Cut short, too long a form, a surrogate, beyond the last, a byte alone.
  EXPECT_EQ(JsonString("a\xC3"), "\"a\\ufffd\"");
  EXPECT_EQ(JsonString("\xC0\x80"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xE0\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xF4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\x80z"), "\"\\ufffdz\"");
}

}  // namespace
}  // namespace ordo::base
