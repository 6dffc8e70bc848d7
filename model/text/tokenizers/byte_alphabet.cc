#include "model/text/tokenizers/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace ordo::model::text::tokenizers {
namespace {

constexpr int kNumBytes = 256;
constexpr int kFirstOther = 0x100;
constexpr int kNumOthers = 68;

struct Alphabet {
  // Code point of each byte.
  std::array<int, kNumBytes> points = {};
  // Byte of each code point; -1: none.
  std::array<int, kFirstOther + kNumOthers> bytes = {};
};

bool StandsForItself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
         byte >= 174;
}

const Alphabet& GetAlphabet() {
  static const Alphabet alphabet = [] {
    Alphabet made;
    made.bytes.fill(-1);
    int other = kFirstOther;
    for (int byte = 0; byte < kNumBytes; ++byte) {
      const int point = StandsForItself(byte) ? byte : other++;
      made.points[byte] = point;
      made.bytes[point] = byte;
    }
    return made;
  }();
  return alphabet;
}

}  // namespace

std::optional<std::string> BytesOfPrintable(std::string_view text) {
  const Alphabet& alphabet = GetAlphabet();
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    int point = static_cast<uint8_t>(text[i]);
    // All characters of the alphabet have one or two bytes of UTF-8.
    if (point >= 0x80) {
      if (point >= 0xE0 || i + 1 == text.size()) return std::nullopt;
      point = ((point & 0x1F) << 6) | (static_cast<uint8_t>(text[++i]) & 0x3F);
    }
    if (point >= static_cast<int>(alphabet.bytes.size()) ||
        alphabet.bytes[point] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(alphabet.bytes[point]));
  }
  return bytes;
}

std::string PrintableOfBytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const int point = GetAlphabet().points[static_cast<uint8_t>(byte)];
    if (point < 0x80) {
      text.push_back(static_cast<char>(point));
    } else {
      text.push_back(static_cast<char>(0xC0 | (point >> 6)));
      text.push_back(static_cast<char>(0x80 | (point & 0x3F)));
    }
  }
  return text;
}

}  // namespace ordo::model::text::tokenizers
