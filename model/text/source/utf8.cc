#include "model/text/source/utf8.h"

#include <cstdint>

namespace ordo::model::text::source {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Sequence {
  size_t num_bytes = 1;
  bool whole = false;
};

// The sequence that `text`, which is not empty, begins with; of one that is not
// whole, as many bytes as could begin one, and at least one.
Sequence FirstSequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte keeps out overlong forms, surrogates and what is above
  // U+10FFFF.
  uint8_t least = 0x80;
  uint8_t most = 0xBF;
  if (lead == 0xE0) least = 0xA0;
  if (lead == 0xED) most = 0x9F;
  if (lead == 0xF0) least = 0x90;
  if (lead == 0xF4) most = 0x8F;
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < least || byte(i) > most) {
      return {i, false};
    }
    least = 0x80;
    most = 0xBF;
  }
  return {length, true};
}

}  // namespace

std::optional<size_t> FirstInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Sequence sequence = FirstSequence(text.substr(at, 4));
    if (!sequence.whole) return at;
    at += sequence.num_bytes;
  }
  return std::nullopt;
}

std::string ReplaceInvalidUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = FirstSequence(bytes.substr(0, 4));
    text.append(sequence.whole ? bytes.substr(0, sequence.num_bytes)
                               : kReplacement);
    bytes.remove_prefix(sequence.num_bytes);
  }
  return text;
}

size_t WhiteSpaceAt(std::string_view text) {
  if (text.empty()) return 0;
  const char first = text[0];
  if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
  const std::string_view two = text.substr(0, 2);
  // U+0085 and U+00A0.
  if (two == "\xC2\x85" || two == "\xC2\xA0") return 2;
  const std::string_view three = text.substr(0, 3);
  if (three.size() < 3) return 0;
  if (two == "\xE2\x80") {
    // U+2000 to U+200A, U+2028, U+2029 and U+202F.
    const auto last = static_cast<uint8_t>(three[2]);
    return last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF ? 3 : 0;
  }
  // U+1680, U+205F and U+3000.
  return three == "\xE1\x9A\x80" || three == "\xE2\x81\x9F" ||
                 three == "\xE3\x80\x80"
             ? 3
             : 0;
}

}  // namespace ordo::model::text::source
