#ifndef ORDO_MODEL_TEXT_TOKENIZERS_TESTING_BPE_JSON_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_TESTING_BPE_JSON_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace ordo::model::text::tokenizers::testing {

// A tokenizer.json of byte-level BPE for tests, cut as GPT-2's: ids 0 to 255
// are the bytes, in their order; then come what each of `merges` makes ("a b",
// in the letters of the file) and, as a special token, <|endoftext|>.
nlohmann::ordered_json BpeJson(const std::vector<std::string>& merges);

}  // namespace ordo::model::text::tokenizers::testing

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_TESTING_BPE_JSON_H_
