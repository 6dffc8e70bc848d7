#include "model/text/source/token_type.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

TEST(TokenType, BytesAreLittleEndian) {
  std::string bytes;
  AppendTokens({1, 0xABCD}, TokenType::kUint16, &bytes);
  EXPECT_EQ(bytes, std::string("\x01\x00\xCD\xAB", 4));
  bytes.clear();
  AppendTokens({0x01020304}, TokenType::kUint32, &bytes);
  EXPECT_EQ(bytes, "\x04\x03\x02\x01");
}

TEST(TokenType, TokensComeBack) {
  for (const TokenType type : {TokenType::kUint16, TokenType::kUint32}) {
    const int64_t largest = (int64_t{1} << (8 * BytesOf(type))) - 1;
    const std::vector<int64_t> tokens = {0, 255, 256, largest};
    std::string bytes;
    AppendTokens(tokens, type, &bytes);
    EXPECT_EQ(ParseTokens(bytes, type), tokens);
    EXPECT_EQ(TokenTypeOf(NameOf(type)), type);
  }
  EXPECT_EQ(TokenTypeOf("int8"), std::nullopt);
}

TEST(TokenType, IsTheSmallestThatHoldsTheVocabulary) {
  EXPECT_EQ(TypeForVocabulary(65536), TokenType::kUint16);
  EXPECT_EQ(TypeForVocabulary(65537), TokenType::kUint32);
}

}  // namespace
}  // namespace ordo::model::text::source
