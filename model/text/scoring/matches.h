#ifndef ORDO_MODEL_TEXT_SCORING_MATCHES_H_
#define ORDO_MODEL_TEXT_SCORING_MATCHES_H_

#include <string>
#include <string_view>
#include <vector>

// Exact match and F1 of answers, as SCROLLS has them from SQuAD (Rajpurkar et
// al., EMNLP 2016). Pure functions, thread-safe; texts are UTF-8.

namespace ordo::model::text::scoring {

// What of a text counts: lower case, without ASCII punctuation, without the
// words "a", "an" and "the", and one blank between words.
std::string NormalizeAnswer(std::string_view text);

// Whether `prediction` and one of `references` normalise to the same text.
bool IsExactMatch(std::string_view prediction,
                  const std::vector<std::string>& references);

// The largest F1, 0 to 1, of the words that `prediction` and a reference have
// in common once both are normalised, each word as often as both have it. Texts
// without words in common give 0, and so do two without any word, unlike in
// SQuAD 2.
double WordF1(std::string_view prediction,
              const std::vector<std::string>& references);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_MATCHES_H_
