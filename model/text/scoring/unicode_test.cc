#include "model/text/scoring/unicode.h"

#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::scoring {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Utf8(char32_t code) {
  const auto tail = [&](int shift) {
    return std::string(1, static_cast<char>(0x80 | ((code >> shift) & 0x3F)));
  };
  const auto lead = [&](int mark, int shift) {
    return std::string(1, static_cast<char>(mark | (code >> shift)));
  };
  if (code < 0x80) return lead(0, 0);
  if (code < 0x800) return lead(0xC0, 6) + tail(0);
  if (code < 0x10000) return lead(0xE0, 12) + tail(6) + tail(0);
  return lead(0xF0, 18) + tail(12) + tail(6) + tail(0);
}

template <typename Visit>
void ForEachCharacter(const Visit& visit) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code < 0xD800 || code > 0xDFFF) visit(code);
  }
}

// Both digests: Python 3.11.7, Unicode 14, hashlib.sha256 of
// "".join(chr(c).lower() for c in all) in UTF-8, and of "1" for each c with
// chr(c).isalnum() or c == 95 and "0" for the others.
TEST(UnicodeTest, EachCharacterHasPythonsLowerCase) {
  std::string lower;
  ForEachCharacter([&](char32_t code) { lower.append(LowerCase(Utf8(code))); });
  EXPECT_EQ(base::Sha256Hex(lower),
            "958a7ea6410864d6bdee95e35373a838cd50f39ae4208f30d5fe14da0a0faff2");
}

TEST(UnicodeTest, WordCharactersArePythons) {
  std::string marks;
  ForEachCharacter([&](char32_t code) {
    marks.push_back(IsWordCharacter(code) ? '1' : '0');
  });
  EXPECT_EQ(base::Sha256Hex(marks),
            "75d93f8da75f01afa6ef08092878a7a9277ef123595ee42cae019636279297ff");
}

TEST(UnicodeTest, WordsLieBetweenBlanksOfAnyKind) {
  EXPECT_THAT(SplitAtBlanks(" one\ttwo\xC2\xA0three\x1D"
                            "four\xE3\x80\x80"),
              ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(SplitAtBlanks(" \n"), IsEmpty());
}

TEST(UnicodeTest, BlanksAtTheEndsAreStripped) {
  EXPECT_EQ(StripEnd(" a b \n\xC2\xA0"), " a b");
  EXPECT_EQ(Strip(" a b \n\xC2\xA0"), "a b");
  EXPECT_EQ(Strip(" \n"), "");
}

TEST(UnicodeTest, CharactersAreCodePoints) {
  EXPECT_EQ(NumCharacters("na\xC3\xAFve \xE2\x82\xAC\xF0\x9F\x98\x80"), 8u);
  EXPECT_EQ(NumCharacters(""), 0u);
}

TEST(UnicodeTest, BytesThatAreNotUtf8StandForThemselves) {
  EXPECT_EQ(LowerCase("A\xE2\x82"), "a\xE2\x82");
  EXPECT_EQ(NumCharacters("\xFF\x80\xE2"), 3u);
}

}  // namespace
}  // namespace ordo::model::text::scoring
