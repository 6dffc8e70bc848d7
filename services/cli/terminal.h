#ifndef ORDO_SERVICES_CLI_TERMINAL_H_
#define ORDO_SERVICES_CLI_TERMINAL_H_

#include <string>

namespace ordo::services::cli {

enum class Color { kNone, kGreen, kRed, kYellow, kBlue, kDim, kBold };

// What the output goes to.
struct Terminal {
  // A person watches: lines may be redrawn in place.
  bool interactive = false;
  // Colours are wanted (NO_COLOR and TERM=dumb turn them off).
  bool color = false;
  // Characters beyond ASCII can be shown.
  bool unicode = false;
  // Columns and lines, when it was last looked at.
  int width = 80;
  int height = 24;
  // Its file descriptor; -1: it has none to look at.
  int fd = -1;
};

// Looks at a file descriptor and at the environment.
Terminal DetectTerminal(int fd);

// Looks again how large it is: people resize windows. What cannot be found out
// stays as it was.
void UpdateSize(Terminal* terminal);

// `text` in a colour, where the terminal takes one.
std::string Paint(const Terminal& terminal, Color color,
                  const std::string& text);

// Columns that UTF-8 text without escape sequences takes: two for a letter that
// is wide (Chinese, Japanese, Korean, most emoji), none for a mark that stands
// on the letter before it, one for any other.
int DisplayWidth(const std::string& text);

// As much of the text, from its beginning, as takes at most `columns` columns.
std::string Truncate(const std::string& text, int columns);

// Replaces control characters, so that text from elsewhere cannot steer the
// terminal; tabs and line ends become blanks.
std::string Printable(const std::string& text);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_TERMINAL_H_
