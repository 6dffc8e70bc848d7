#include "model/text/store/facts.h"

#include <string>

#include "base/digest/digest.h"
#include "base/random/random.h"
#include "model/text/source/token_type.h"

namespace ordo::model::text::store {
namespace {

constexpr uint64_t kMillion = 1000000;

uint64_t HashOf(std::string_view bytes) {
  // Sixteen hexadecimal digits.
  return std::stoull(base::Sha256Hex(bytes).substr(0, 16), nullptr, 16);
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

Facts FactsOfText(std::string_view text) {
  Facts facts;
  facts.num_bytes = text.size();
  facts.hash = HashOf(text);
  bool in_word = false;
  for (const char c : text) {
    const bool blank = IsBlank(c);
    if (!blank && !in_word) ++facts.num_words;
    if (c == '\n') ++facts.num_words;
    in_word = !blank;
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
