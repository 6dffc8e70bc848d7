#ifndef ORDO_MODEL_TEXT_STORE_INDEX_H_
#define ORDO_MODEL_TEXT_STORE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/source/token_type.h"
#include "model/text/store/facts.h"

// A store of tokens is a folder:
//   index.json              what is there (StoreIndex)
//   shard-00000.tokens      token ids one after the other, little-endian
//   shard-00000.documents   a record for each document of the shard
// A document lies in one shard. The index is written last: without it a folder
// is no store.

namespace ordo::model::text::store {

// Ids of tokens have 32 bits.
inline constexpr int64_t kMaxVocabularySize = int64_t{1} << 32;

struct Shard {
  uint64_t num_tokens = 0;
  uint64_t num_documents = 0;
  // SHA-256 of its two files, in lower-case hexadecimal digits.
  std::string tokens_sha256;
  std::string documents_sha256;
};

struct StoreIndex {
  std::string tokenizer_sha256;
  int64_t vocabulary_size = 0;
  source::TokenType type = source::TokenType::kUint16;
  std::vector<Shard> shards;

  uint64_t num_tokens() const;
  uint64_t num_documents() const;
};

inline constexpr char kIndexName[] = "index.json";
// Held while the store is written.
inline constexpr char kLockName[] = "lock";
std::string TokensName(size_t shard);
std::string DocumentsName(size_t shard);

// SHA-256, 64 lower-case hexadecimal digits, over all of the index, and so over
// all that the store holds.
std::string Fingerprint(const StoreIndex& index);

// The text of index.json, the fingerprint in it.
std::string IndexText(const StoreIndex& index);

// The index of that text. DATA_LOSS: it is not one, its fingerprint is not that
// of the rest, or no store has such a vocabulary.
absl::StatusOr<StoreIndex> ParseIndex(const std::string& text);

// A document's record: number of tokens, bytes, words, and hash, each as 64
// bits, little-endian.
struct DocumentRecord {
  uint64_t num_tokens = 0;
  Facts facts;
};
inline constexpr size_t kRecordBytes = 32;
void AppendRecord(const DocumentRecord& record, std::string* bytes);
// `bytes` has kRecordBytes.
DocumentRecord ParseRecord(std::string_view bytes);

}  // namespace ordo::model::text::store

#endif  // ORDO_MODEL_TEXT_STORE_INDEX_H_
