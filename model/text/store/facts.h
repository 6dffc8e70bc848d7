#ifndef ORDO_MODEL_TEXT_STORE_FACTS_H_
#define ORDO_MODEL_TEXT_STORE_FACTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace ordo::model::text::store {

// What is known of a document beside its tokens.
struct Facts {
  // Bytes and words of its text, by which log-likelihoods are normalised; 0
  // where there was no text. Words are what lies between white space (Unicode's
  // White_Space), and each end of line is one more.
  uint64_t num_bytes = 0;
  uint64_t num_words = 0;
  // The first 64 bits of the SHA-256 of its text, or of its tokens.
  uint64_t hash = 0;
};

// `text` is well-formed UTF-8.
Facts FactsOfText(std::string_view text);

// Of tokens without text.
Facts FactsOfTokens(const std::vector<int64_t>& tokens);

// Documents that are not trained on: a share of them, by their hash. Neither
// the order of documents nor others play a part, and copies are on one side.
struct HeldOut {
  uint64_t seed = 1;
  // Of a million documents, 0 to 1000000.
  uint64_t per_million = 0;
};

bool IsHeldOut(const HeldOut& held_out, const Facts& facts);

}  // namespace ordo::model::text::store

#endif  // ORDO_MODEL_TEXT_STORE_FACTS_H_
