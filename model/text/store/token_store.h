#ifndef ORDO_MODEL_TEXT_STORE_TOKEN_STORE_H_
#define ORDO_MODEL_TEXT_STORE_TOKEN_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/store/index.h"

namespace ordo::model::text::store {

// A store of tokens that is read; its tokens stay on disk, 40 bytes a document
// are in memory. Thread-safe.
class TokenStore {
 public:
  struct Document {
    // Number of its first token in the store.
    uint64_t begin = 0;
    uint64_t num_tokens = 0;
    Facts facts;
  };

  // `files` outlives the store. NOT_FOUND: there is none. DATA_LOSS, with the
  // file and, where one can be told, its byte: index, records of documents or
  // the length of a file are not what they were when it was written. A document
  // has a token at least.
  static absl::StatusOr<std::unique_ptr<TokenStore>> Open(
      base::Filesystem& files, const std::string& folder);

  const StoreIndex& index() const { return index_; }
  // Of the index.
  const std::string& fingerprint() const { return fingerprint_; }
  const std::vector<Document>& documents() const { return documents_; }
  uint64_t num_tokens() const { return shard_begins_.back(); }

  // `count` tokens from number `begin` on, all of which there are. DATA_LOSS,
  // with file and byte: it has become shorter, or has a token that is none.
  absl::StatusOr<std::vector<int64_t>> Read(uint64_t begin,
                                            uint64_t count) const;

  // Reads all tokens. DATA_LOSS, with the file: they are not those that were
  // written.
  absl::Status Verify() const;

 private:
  TokenStore(base::Filesystem& files, std::string folder, StoreIndex index);

  absl::Status OpenShard(size_t shard);
  // Adds the documents of a shard, and their tokens to shard_begins_.
  absl::Status ReadRecords(size_t shard);
  absl::Status Damaged(const std::string& name, const std::string& what) const;

  base::Filesystem& files_;
  const std::string folder_;
  const StoreIndex index_;
  const std::string fingerprint_;
  // Number of the first token of each shard, and of all.
  std::vector<uint64_t> shard_begins_ = {0};
  std::vector<std::unique_ptr<base::ReadableFile>> shards_;
  std::vector<Document> documents_;
};

}  // namespace ordo::model::text::store

#endif  // ORDO_MODEL_TEXT_STORE_TOKEN_STORE_H_
