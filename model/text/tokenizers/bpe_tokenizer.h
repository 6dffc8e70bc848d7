#ifndef ORDO_MODEL_TEXT_TOKENIZERS_BPE_TOKENIZER_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_BPE_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::tokenizers {

struct BpeTokenizerOptions {
  // Names of tokens that stand before and after documents. Default: the first
  // of <|begin_of_text|>, <|endoftext|> and <s>; of <|end_of_text|>,
  // <|endoftext|> and </s>.
  std::string begin = "";
  std::string end = "";
  // Names of special tokens in the text become these tokens, rather than
  // letters. Not for text of strangers. Part of the digest, which otherwise is
  // that of the file.
  bool match_special = false;
};

// Byte-level BPE, as GPT-2's and Llama-3's, from the content of a Hugging Face
// tokenizer.json. What surrounds the text (post_processor) is not read: Encode
// adds no marks.
//
// INVALID_ARGUMENT, with the path of the key: the file is not one, or has a
// part that is none of byte-level BPE's.
absl::StatusOr<std::unique_ptr<TextTokenizer>> ParseBpeTokenizer(
    const std::string& text, const BpeTokenizerOptions& options);

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_BPE_TOKENIZER_H_
