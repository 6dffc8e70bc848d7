#include "model/text/source/token_type.h"

#include "base/check.h"

namespace ordo::model::text::source {

const char* NameOf(TokenType type) {
  return type == TokenType::kUint16 ? "uint16" : "uint32";
}

std::optional<TokenType> TokenTypeOf(std::string_view name) {
  if (name == "uint16") return TokenType::kUint16;
  if (name == "uint32") return TokenType::kUint32;
  return std::nullopt;
}

size_t BytesOf(TokenType type) { return type == TokenType::kUint16 ? 2 : 4; }

TokenType TypeForVocabulary(int64_t vocabulary_size) {
  return vocabulary_size <= (int64_t{1} << 16) ? TokenType::kUint16
                                               : TokenType::kUint32;
}

void AppendTokens(const std::vector<int64_t>& tokens, TokenType type,
                  std::string* bytes) {
  const size_t width = BytesOf(type);
  bytes->reserve(bytes->size() + tokens.size() * width);
  for (const int64_t token : tokens) {
    ORDO_CHECK(token >= 0 && (token >> (8 * width)) == 0);
    for (size_t i = 0; i < width; ++i) {
      bytes->push_back(static_cast<char>(token >> (8 * i)));
    }
  }
}

std::vector<int64_t> ParseTokens(std::string_view bytes, TokenType type) {
  const size_t width = BytesOf(type);
  ORDO_CHECK(bytes.size() % width == 0);
  std::vector<int64_t> tokens(bytes.size() / width);
  for (size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<uint8_t>(bytes[at]);
    tokens[at / width] |= static_cast<int64_t>(byte) << (8 * (at % width));
  }
  return tokens;
}

}  // namespace ordo::model::text::source
