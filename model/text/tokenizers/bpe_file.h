#ifndef ORDO_MODEL_TEXT_TOKENIZERS_BPE_FILE_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_BPE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/bpe.h"
#include "model/text/tokenizers/split_pattern.h"

namespace ordo::model::text::tokenizers {

// What a tokenizer.json of byte-level BPE says.
struct BpeFile {
  BpeTable table;
  // What cuts text, one after the other.
  struct Split {
    std::string pattern;
    SplitRule rule;
  };
  std::vector<Split> splits;
  // A blank is put before text that does not begin with one.
  bool add_prefix_space = false;

  // Tokens that are matched as text, before all else.
  struct Added {
    std::string text;
    int64_t id = 0;
    bool special = false;
  };
  std::vector<Added> added;
};

// INVALID_ARGUMENT, with the path of the key: it is missing, wrong, or asks for
// what byte-level BPE has not.
absl::StatusOr<BpeFile> ParseBpeFile(const std::string& text);

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_BPE_FILE_H_
