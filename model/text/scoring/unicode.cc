#include "model/text/scoring/unicode.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "model/text/scoring/unicode_tables.h"
#include "model/text/source/utf8.h"

namespace ordo::model::text::scoring {
namespace {

// The only character whose lower case has two.
constexpr char32_t kCapitalDottedI = 0x130;
constexpr std::string_view kLowerDottedI = "i\xCC\x87";

char32_t LowerOf(char32_t code) {
  const LowerRun* after = std::upper_bound(
      std::begin(kLowerRuns), std::end(kLowerRuns), code,
      [](char32_t left, const LowerRun& right) { return left < right.first; });
  if (after == std::begin(kLowerRuns)) return code;
  const LowerRun& run = *(after - 1);
  if (code > run.last || (code - run.first) % run.step != 0) return code;
  return code + run.delta;
}

void Append(char32_t code, std::string* text) {
  const auto put = [text](char32_t byte) {
    text->push_back(static_cast<char>(byte));
  };
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0 | (code >> 12));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    }
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// Bytes of the blank that `text` begins with; 0: none.
size_t BlankAt(std::string_view text) {
  // To str they are; to Unicode they are separators of other kinds.
  if (!text.empty() && text[0] >= 0x1C && text[0] <= 0x1F) return 1;
  return source::WhiteSpaceAt(text);
}

}  // namespace

CodePoint FirstCodePoint(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || text.size() < length) return {lead, 1};
  char32_t code = lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  return {code, length};
}

std::string LowerCase(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = FirstCodePoint(text);
    const std::string_view bytes = text.substr(0, point.num_bytes);
    text.remove_prefix(point.num_bytes);
    if (point.num_bytes == 1) {
      const char letter = bytes[0];
      const bool is_capital = letter >= 'A' && letter <= 'Z';
      lower.push_back(is_capital ? static_cast<char>(letter + 32) : letter);
      continue;
    }
    const char32_t code = LowerOf(point.code);
    if (point.code == kCapitalDottedI) {
      lower.append(kLowerDottedI);
    } else if (code == point.code) {
      lower.append(bytes);
    } else if (code < 0x80) {
      lower.push_back(static_cast<char>(code));
    } else {
      Append(code, &lower);
    }
  }
  return lower;
}

bool IsWordCharacter(char32_t code) {
  if (code < 0x80) {
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
           (code >= 'a' && code <= 'z') || code == '_';
  }
  const char32_t* after =
      std::upper_bound(std::begin(kWordBorders), std::end(kWordBorders), code);
  return (after - std::begin(kWordBorders)) % 2 == 1;
}

std::vector<std::string_view> SplitAtBlanks(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  size_t at = 0;
  const auto end_word = [&] {
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  };
  while (at < text.size()) {
    const size_t blank = BlankAt(text.substr(at, 3));
    if (blank == 0) {
      ++at;
      continue;
    }
    end_word();
    at += blank;
    begin = at;
  }
  end_word();
  return words;
}

std::string_view StripEnd(std::string_view text) {
  const std::vector<std::string_view> words = SplitAtBlanks(text);
  if (words.empty()) return text.substr(0, 0);
  const char* end = words.back().data() + words.back().size();
  return text.substr(0, end - text.data());
}

std::string_view Strip(std::string_view text) {
  const std::string_view kept = StripEnd(text);
  if (kept.empty()) return kept;
  return kept.substr(SplitAtBlanks(kept).front().data() - kept.data());
}

size_t NumCharacters(std::string_view text) {
  size_t num_characters = 0;
  while (!text.empty()) {
    text.remove_prefix(FirstCodePoint(text).num_bytes);
    ++num_characters;
  }
  return num_characters;
}

}  // namespace ordo::model::text::scoring
