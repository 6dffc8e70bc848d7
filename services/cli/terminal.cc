#include "services/cli/terminal.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace ordo::services::cli {
namespace {

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
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
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) terminal.width = size.ws_col;
    if (size.ws_row > 0) terminal.height = size.ws_row;
  }
  return terminal;
}

std::string Paint(const Terminal& terminal, Color color,
                  const std::string& text) {
  if (!terminal.color || color == Color::kNone) return text;
  return Code(color) + text + "\x1b[0m";
}

int DisplayWidth(const std::string& text) {
  int width = 0;
  for (const char c : text) width += IsContinuation(c) ? 0 : 1;
  return width;
}

std::string Truncate(const std::string& text, int columns) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (width++ == columns) return text.substr(0, i);
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
