#include "model/text/source/utf8.h"

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

}  // namespace
}  // namespace ordo::model::text::source
