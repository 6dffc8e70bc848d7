#ifndef ORDO_MODEL_TEXT_SOURCE_TOKEN_TYPE_H_
#define ORDO_MODEL_TEXT_SOURCE_TOKEN_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ordo::model::text::source {

// How a token id lies in a file: unsigned, little-endian.
enum class TokenType { kUint16, kUint32 };

// "uint16", "uint32".
const char* NameOf(TokenType type);
std::optional<TokenType> TokenTypeOf(std::string_view name);
size_t BytesOf(TokenType type);

// The smallest that has an id for each word of a vocabulary.
TokenType TypeForVocabulary(int64_t vocabulary_size);

// Appends the bytes of `tokens`, each of which the type can hold.
void AppendTokens(const std::vector<int64_t>& tokens, TokenType type,
                  std::string* bytes);

// The tokens whose bytes these are: a whole number of them.
std::vector<int64_t> ParseTokens(std::string_view bytes, TokenType type);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_TOKEN_TYPE_H_
