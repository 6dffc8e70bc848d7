#include "services/cli/terminal.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace ordo::services::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Letters of two columns, by what Unicode's East_Asian_Width says of most of
// their block: where a few are narrow a line is only cut sooner.
constexpr Range kWide[] = {
    {0x1100, 0x115F},    // Initial consonants of Hangul.
    {0x231A, 0x231B},    // Watch, hourglass.
    {0x2329, 0x232A},    // Angle brackets.
    {0x23E9, 0x23EC},    // Double triangles.
    {0x2614, 0x2615},    // Umbrella, hot beverage.
    {0x2648, 0x2653},    // Signs of the zodiac.
    {0x26A1, 0x26A1},    // High voltage.
    {0x2705, 0x2705},    // Check mark.
    {0x2728, 0x2728},    // Sparkles.
    {0x274C, 0x274C},    // Cross mark.
    {0x2753, 0x2755},    // Question and exclamation marks.
    {0x2B50, 0x2B50},    // Star.
    {0x2E80, 0x303E},    // Radicals, punctuation.
    {0x3041, 0xA4CF},    // Kana, ideographs, Yi.
    {0xA960, 0xA97C},    // Hangul.
    {0xAC00, 0xD7A3},    // Syllables of Hangul.
    {0xF900, 0xFAFF},    // Ideographs.
    {0xFE10, 0xFE19},    // Vertical forms.
    {0xFE30, 0xFE6B},    // Compatibility and small forms.
    {0xFF01, 0xFF60},    // Full-width forms.
    {0xFFE0, 0xFFE6},    // Full-width signs.
    {0x16FE0, 0x18CD5},  // Tangut.
    {0x1B000, 0x1B2FB},  // Kana, Nushu.
    {0x1F18E, 0x1F19A},  // Squared words.
    {0x1F200, 0x1F265},  // Squared ideographs.
    {0x1F300, 0x1F64F},  // Pictographs, faces.
    {0x1F680, 0x1F6FF},  // Transport.
    {0x1F7E0, 0x1F7F0},  // Coloured shapes.
    {0x1F900, 0x1FAFF},  // More pictographs.
    {0x20000, 0x3FFFD},  // Ideographs.
};

// Marks that stand on the letter before them, and what is not seen.
constexpr Range kWithoutWidth[] = {
    {0x0300, 0x036F},    // Accents.
    {0x0483, 0x0489},    // Cyrillic.
    {0x0591, 0x05BD},    // Points of Hebrew.
    {0x0610, 0x061A},    // Marks of Arabic.
    {0x064B, 0x065F},    // Vowels of Arabic.
    {0x1AB0, 0x1ACE},    // More accents.
    {0x1DC0, 0x1DFF},    // More accents.
    {0x200B, 0x200F},    // Joiners, directions.
    {0x20D0, 0x20F0},    // Accents of symbols.
    {0xFE00, 0xFE0F},    // Choices of a form.
    {0xFE20, 0xFE2F},    // Half accents.
    {0xFEFF, 0xFEFF},    // The byte order mark.
    {0xE0100, 0xE01EF},  // Choices of a form.
};

template <size_t n>
bool IsIn(const Range (&ranges)[n], char32_t letter) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [letter](const Range& range) {
                       return range.first <= letter && letter <= range.last;
                     });
}

int WidthOf(char32_t letter) {
  if (IsIn(kWithoutWidth, letter)) return 0;
  return IsIn(kWide, letter) ? 2 : 1;
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The code point that begins at `*at`, which is moved behind it. Of what is no
// UTF-8 it is any.
char32_t NextLetter(const std::string& text, size_t* at) {
  const auto first = static_cast<unsigned char>(text[(*at)++]);
  char32_t letter = first;
  if (first >= 0xC0) letter &= first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07;
  for (; *at < text.size() && IsContinuation(text[*at]); ++*at) {
    letter = letter << 6 | (static_cast<unsigned char>(text[*at]) & 0x3F);
  }
  return letter;
}

const char* Code(Color color) {
  switch (color) {
    case Color::kGreen:
      return "\x1b[32m";
    case Color::kRed:
      return "\x1b[31m";
    case Color::kYellow:
      return "\x1b[33m";
    case Color::kBlue:
      return "\x1b[34m";
    case Color::kDim:
      return "\x1b[2m";
    case Color::kBold:
      return "\x1b[1m";
    case Color::kNone:
      break;
  }
  return "";
}

// Of the environment's locale, by the first of its variables that is set.
bool IsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = absl::AsciiStrToUpper(value);
    return absl::StrContains(locale, "UTF-8") ||
           absl::StrContains(locale, "UTF8");
  }
  return false;
}

}  // namespace

Terminal DetectTerminal(int fd) {
  Terminal terminal;
  if (isatty(fd) != 1) return terminal;
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  terminal.interactive = !dumb;
  terminal.color = !dumb && (no_color == nullptr || *no_color == '\0');
  terminal.unicode = !dumb && IsUtf8();
  terminal.fd = fd;
  UpdateSize(&terminal);
  return terminal;
}

void UpdateSize(Terminal* terminal) {
  winsize size = {};
  if (terminal->fd < 0 || ioctl(terminal->fd, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_col > 0) terminal->width = size.ws_col;
  if (size.ws_row > 0) terminal->height = size.ws_row;
}

std::string Paint(const Terminal& terminal, Color color,
                  const std::string& text) {
  if (!terminal.color || color == Color::kNone) return text;
  return Code(color) + text + "\x1b[0m";
}

int DisplayWidth(const std::string& text) {
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    width += WidthOf(NextLetter(text, &at));
  }
  return width;
}

std::string Truncate(const std::string& text, int columns) {
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    width += WidthOf(NextLetter(text, &at));
    if (width > columns) return text.substr(0, begin);
  }
  return text;
}

std::string Printable(const std::string& text) {
  std::string clean;
  for (const char c : text) {
    if (c == '\t' || c == '\n') {
      clean += ' ';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      clean += '?';
    } else {
      clean += c;
    }
  }
  return clean;
}

}  // namespace ordo::services::cli
