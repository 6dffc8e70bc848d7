#ifndef ORDO_MODEL_TEXT_SCORING_UNICODE_H_
#define ORDO_MODEL_TEXT_SCORING_UNICODE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Letters, lower case and blanks as Python's str has them, since the public
// implementations of scores are written in it. Pure functions, thread-safe.
// Bytes that are not well-formed UTF-8 stand for themselves.

namespace ordo::model::text::scoring {

// str.lower(), but that a capital sigma at the end of a word becomes a sigma as
// within words.
std::string LowerCase(std::string_view text);

// Whether `code` is what \w matches: a letter, a digit or '_'.
bool IsWordCharacter(char32_t code);

// str.split(): the words between blanks.
std::vector<std::string_view> SplitAtBlanks(std::string_view text);

// str.rstrip(): without the blanks at its end.
std::string_view StripEnd(std::string_view text);

// str.strip(): without the blanks at both ends.
std::string_view Strip(std::string_view text);

// len(): characters, which are code points.
size_t NumCharacters(std::string_view text);

// The code point at the beginning of `text`, which is not empty, and how many
// bytes it takes.
struct CodePoint {
  char32_t code = 0;
  size_t num_bytes = 1;
};
CodePoint FirstCodePoint(std::string_view text);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_UNICODE_H_
