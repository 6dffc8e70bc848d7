#include "model/text/store/facts.h"

#include <cstddef>
#include <string>

#include "base/digest/digest.h"
#include "base/random/random.h"
#include "model/text/source/token_type.h"
#include "model/text/source/utf8.h"

namespace ordo::model::text::store {
namespace {

constexpr uint64_t kMillion = 1000000;

uint64_t HashOf(std::string_view bytes) {
  // Sixteen hexadecimal digits.
  return std::stoull(base::Sha256Hex(bytes).substr(0, 16), nullptr, 16);
}

}  // namespace

Facts FactsOfText(std::string_view text) {
  Facts facts;
  facts.num_bytes = text.size();
  facts.hash = HashOf(text);
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = source::WhiteSpaceAt(text.substr(at, 3));
    if (blank == 0 && !in_word) ++facts.num_words;
    if (text[at] == '\n') ++facts.num_words;
    in_word = blank == 0;
    at += blank == 0 ? 1 : blank;
  }
  return facts;
}

Facts FactsOfTokens(const std::vector<int64_t>& tokens) {
  std::string bytes;
  source::AppendTokens(tokens, source::TokenType::kUint32, &bytes);
  Facts facts;
  facts.hash = HashOf(bytes);
  return facts;
}

bool IsHeldOut(const HeldOut& held_out, const Facts& facts) {
  return base::RandomStream(held_out.seed, "held_out")
             .Int(facts.hash, kMillion) < held_out.per_million;
}

}  // namespace ordo::model::text::store
