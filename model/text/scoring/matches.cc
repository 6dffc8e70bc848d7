#include "model/text/scoring/matches.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "model/text/scoring/f_measure.h"
#include "model/text/scoring/unicode.h"

namespace ordo::model::text::scoring {
namespace {

bool IsAsciiPunctuation(char letter) {
  return (letter >= '!' && letter <= '/') || (letter >= ':' && letter <= '@') ||
         (letter >= '[' && letter <= '`') || (letter >= '{' && letter <= '~');
}

// A blank in place of each article. A word ends at what is no letter and no
// digit, so that an article between curly quotes is one, and the first letter
// of a word with accents is none.
std::string WithoutArticles(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size()) {
      const CodePoint point = FirstCodePoint(text.substr(end, 4));
      if (!IsWordCharacter(point.code)) break;
      end += point.num_bytes;
    }
    const std::string_view word = text.substr(at, end - at);
    if (word == "a" || word == "an" || word == "the") {
      kept.push_back(' ');
    } else {
      kept.append(word);
    }
    at = end;
    if (at == text.size()) break;
    const size_t num_bytes = FirstCodePoint(text.substr(at, 4)).num_bytes;
    kept.append(text.substr(at, num_bytes));
    at += num_bytes;
  }
  return kept;
}

double F1OfNormal(std::string_view prediction, std::string_view reference) {
  const auto predicted = SplitAtBlanks(prediction);
  const auto wanted = SplitAtBlanks(reference);
  std::map<std::string_view, size_t> left;
  for (const std::string_view word : wanted) ++left[word];
  size_t same = 0;
  for (const std::string_view word : predicted) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++same;
  }
  return FMeasure(same, predicted.size(), wanted.size());
}

}  // namespace

std::string NormalizeAnswer(std::string_view text) {
  std::string lower = LowerCase(text);
  lower.erase(std::remove_if(lower.begin(), lower.end(), IsAsciiPunctuation),
              lower.end());
  const std::string kept = WithoutArticles(lower);
  std::string normal;
  for (const std::string_view word : SplitAtBlanks(kept)) {
    if (!normal.empty()) normal.push_back(' ');
    normal.append(word);
  }
  return normal;
}

bool IsExactMatch(std::string_view prediction,
                  const std::vector<std::string>& references) {
  const std::string normal = NormalizeAnswer(prediction);
  return std::any_of(references.begin(), references.end(),
                     [&](const std::string& reference) {
                       return NormalizeAnswer(reference) == normal;
                     });
}

double WordF1(std::string_view prediction,
              const std::vector<std::string>& references) {
  const std::string normal = NormalizeAnswer(prediction);
  double best = 0;
  for (const std::string& reference : references) {
    best = std::max(best, F1OfNormal(normal, NormalizeAnswer(reference)));
  }
  return best;
}

}  // namespace ordo::model::text::scoring
