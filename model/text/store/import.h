#ifndef ORDO_MODEL_TEXT_STORE_IMPORT_H_
#define ORDO_MODEL_TEXT_STORE_IMPORT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "model/text/source/documents.h"
#include "model/text/source/token_file.h"
#include "model/text/store/store_writer.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::store {

// What stands around each document's tokens.
struct Marks {
  bool begin = false;
  bool end = false;
};

// Adds the documents that `reader` has left, as tokens. INVALID_ARGUMENT: the
// tokenizer has no such mark, or cannot encode a document, which is named by
// its file and line. Errors of reader and writer are passed on.
absl::Status ImportDocuments(source::DocumentReader* reader,
                             const tokenizers::TextTokenizer& tokenizer,
                             Marks marks, StoreWriter* writer);

// Tokens of a file that is longer than that are cut into documents of this
// length where nothing else ends them.
inline constexpr uint64_t kMaxDocumentTokens = uint64_t{1} << 20;

// Adds the tokens that `reader` has left. `end` ends a document, and is part of
// it; without it, only kMaxDocumentTokens does. Errors of reader and writer are
// passed on.
absl::Status ImportTokens(source::TokenReader* reader,
                          std::optional<int64_t> end, StoreWriter* writer);

}  // namespace ordo::model::text::store

#endif  // ORDO_MODEL_TEXT_STORE_IMPORT_H_
