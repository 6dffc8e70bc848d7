#include "base/log/quote.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace ordo::base {
namespace {

bool NeedsQuotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value) {
    if (c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

// `format` takes the number of a byte.
void AppendEscaped(const char* format, unsigned char byte, std::string* to) {
  std::array<char, 8> escape;
  std::snprintf(escape.data(), escape.size(), format, byte);
  *to += escape.data();
}

// Bytes of the character of UTF-8 that `text` begins with; 0: it begins with
// none. Neither longer forms than needed nor surrogates are any (RFC 3629).
size_t CharacterBytes(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&byte](size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    const bool whole = follows(1, low, high) && follows(2, 0x80, 0xBF) &&
                       follows(3, 0x80, 0xBF);
    return whole ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string TextValue(std::string_view value) {
  if (!NeedsQuotes(value)) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < ' ' || byte == 0x7F) {
      AppendEscaped("\\x%02x", byte, &quoted);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string JsonString(std::string_view value) {
  std::string quoted = "\"";
  while (!value.empty()) {
    const char c = value.front();
    const auto byte = static_cast<unsigned char>(c);
    const size_t size = CharacterBytes(value);
    if (size == 0) {
      quoted += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < ' ' || byte == 0x7F) {
      AppendEscaped("\\u%04x", byte, &quoted);
    } else {
      quoted += value.substr(0, size);
    }
    value.remove_prefix(size == 0 ? 1 : size);
  }
  return quoted + '"';
}

}  // namespace ordo::base
