#ifndef ORDO_MODEL_TEXT_TASK_TOKEN_STREAM_H_
#define ORDO_MODEL_TEXT_TASK_TOKEN_STREAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/store/facts.h"
#include "model/text/store/token_store.h"

namespace ordo::model::text::task {

// Which documents of stores a stream has.
enum class Split { kAll, kHeldOut, kTrained };

// Of text, or of parts of documents.
struct TextSize {
  double bytes = 0;
  double words = 0;
};

// The documents of stores, one behind the other. Immutable, thread-safe.
class TokenStream {
 public:
  // The stores outlive the stream.
  TokenStream(const std::vector<std::unique_ptr<store::TokenStore>>& stores,
              Split split, const store::HeldOut& held_out);

  uint64_t num_tokens() const { return begins_.back(); }
  uint64_t num_documents() const { return documents_.size(); }
  // Of all its documents; 0 where there was no text.
  uint64_t num_bytes() const { return num_bytes_; }
  uint64_t num_words() const { return num_words_; }

  // The text of `count` tokens from number `begin` on, all of which there are:
  // of each document the share that its tokens, with its marks, are of all that
  // it has. Exact of whole documents.
  TextSize SizeOf(uint64_t begin, uint64_t count) const;

  // `count` tokens from number `begin` on, all of which there are. Errors are
  // those of TokenStore::Read.
  absl::StatusOr<std::vector<int64_t>> Read(uint64_t begin,
                                            uint64_t count) const;

  // Number of the first token of document `document`; of as many documents as
  // there are, num_tokens().
  uint64_t DocumentBegin(uint64_t document) const { return begins_[document]; }

  // Number, in the stream, of the document that has token number `token`.
  uint64_t DocumentAt(uint64_t token) const;

 private:
  struct Document {
    const store::TokenStore* store = nullptr;
    // Number of its first token in the store.
    uint64_t begin = 0;
    uint64_t num_bytes = 0;
    uint64_t num_words = 0;
  };

  std::vector<Document> documents_;
  // Tokens before each, and before the end.
  std::vector<uint64_t> begins_ = {0};
  uint64_t num_bytes_ = 0;
  uint64_t num_words_ = 0;
};

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_TOKEN_STREAM_H_
