#include "model/text/source/utf8.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(FirstInvalidUtf8, TakesTheEndsOfAllLengths) {
  EXPECT_EQ(FirstInvalidUtf8(""), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8(std::string_view("\x00\x7F", 2)), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("\xC2\x80\xDF\xBF"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("\xE0\xA0\x80\xEF\xBF\xBF"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("\xED\x9F\xBF\xEE\x80\x80"), std::nullopt);
  EXPECT_EQ(FirstInvalidUtf8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"), std::nullopt);
}

TEST(FirstInvalidUtf8, NamesTheFirstByteOfWhatIsWrong) {
  EXPECT_THAT(FirstInvalidUtf8("ab\x80"), Optional(Eq(2u)));
  EXPECT_THAT(FirstInvalidUtf8("\xC3\xA9\xFF"), Optional(Eq(2u)));
  EXPECT_THAT(FirstInvalidUtf8("a\xE2\x82"), Optional(Eq(1u)));
  EXPECT_THAT(FirstInvalidUtf8("a\xE2\x82z"), Optional(Eq(1u)));
}

TEST(FirstInvalidUtf8, RefusesOverlongFormsSurrogatesAndWhatIsTooLarge) {
  EXPECT_THAT(FirstInvalidUtf8("\xC0\x80"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xC1\xBF"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xE0\x9F\xBF"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xED\xA0\x80"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xF0\x8F\xBF\xBF"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xF4\x90\x80\x80"), Optional(Eq(0u)));
  EXPECT_THAT(FirstInvalidUtf8("\xF5\x80\x80\x80"), Optional(Eq(0u)));
}

TEST(ReplaceInvalidUtf8, PutsOneMarkForEachPartThatBreaksOff) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xC3\xA9"), "a\xC3\xA9");
  EXPECT_EQ(ReplaceInvalidUtf8("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ReplaceInvalidUtf8("\xF0\x9F\x92"), "\xEF\xBF\xBD");
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(WhiteSpaceAt, KnowsUnicodesTwentyFive) {
  const auto in_utf8 = [](uint32_t code) {
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    std::string text;
    if (code < 0x800) {
      text.push_back(static_cast<char>(0xC0 | (code >> 6)));
    } else {
      text.push_back(static_cast<char>(0xE0 | (code >> 12)));
      text.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    }
    text.push_back(static_cast<char>(0x80 | (code & 0x3F)));
    return text;
  };
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code < 0xD800; ++code) {
    const std::string text = in_utf8(code);
    const size_t num_bytes = WhiteSpaceAt(text + "x");
    if (num_bytes == 0) continue;
    EXPECT_EQ(num_bytes, text.size()) << code;
    codes.push_back(code);
  }
  EXPECT_THAT(
      codes, ::testing::ElementsAre(
                 9, 10, 11, 12, 13, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x2001,
                 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009,
                 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000));
  EXPECT_EQ(WhiteSpaceAt(""), 0);
}

}  // namespace
}  // namespace ordo::model::text::source
