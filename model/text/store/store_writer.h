#ifndef ORDO_MODEL_TEXT_STORE_STORE_WRITER_H_
#define ORDO_MODEL_TEXT_STORE_STORE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/digest/digest.h"
#include "base/files/file_lock.h"
#include "base/files/files.h"
#include "model/text/store/facts.h"
#include "model/text/store/index.h"

namespace ordo::model::text::store {

struct StoreWriterOptions {
  std::string tokenizer_sha256;
  int64_t vocabulary_size = 0;
  // A shard is closed with the document by which it comes to as many tokens.
  // Part of the fingerprint.
  uint64_t shard_tokens = uint64_t{1} << 26;
};

// Writes a store of tokens, document by document. What is on disk is no store
// until Finish has returned, and after an error never becomes one: each later
// call returns that error. Not thread-safe.
class StoreWriter {
 public:
  // Makes the folder. ALREADY_EXISTS: it is a store. FAILED_PRECONDITION:
  // another writer is at it. INVALID_ARGUMENT: the vocabulary is out of bounds.
  // Files of one that was not finished are overwritten. `files`, which are
  // those of this machine, outlives the writer.
  static absl::StatusOr<std::unique_ptr<StoreWriter>> Create(
      base::Filesystem& files, const std::string& folder,
      const StoreWriterOptions& options);

  // A document without tokens is left out. INVALID_ARGUMENT: a token is outside
  // of the vocabulary. Otherwise as Filesystem.
  absl::Status Add(const std::vector<int64_t>& tokens, const Facts& facts);

  // Makes all of it durable, the folder's own name too, and ends the writing:
  // later calls give FAILED_PRECONDITION.
  absl::StatusOr<StoreIndex> Finish();

 private:
  // A file of the shard that is being written.
  struct Part {
    std::unique_ptr<base::WritableFile> file;
    std::unique_ptr<base::Sha256> digest;
    std::string buffer;
  };

  StoreWriter(base::Filesystem& files, std::string folder,
              const StoreWriterOptions& options);

  // Add and Finish, without regard to earlier errors.
  absl::Status Write(const std::vector<int64_t>& tokens, const Facts& facts);
  absl::Status Publish();
  absl::StatusOr<Part> OpenPart(const std::string& name);
  static absl::Status Flush(Part* part);
  // The digest of the whole file.
  static absl::StatusOr<std::string> ClosePart(Part* part);
  absl::Status OpenShard();
  absl::Status CloseShard();

  base::Filesystem& files_;
  const std::string folder_;
  const uint64_t shard_tokens_;
  std::unique_ptr<base::FileLock> lock_;
  // Whose entries were made for the store's folder.
  std::vector<std::string> parents_;
  // The first error, or that all is written.
  absl::Status status_;
  StoreIndex index_;
  // Whether the last of index_.shards is being written.
  bool open_ = false;
  Part tokens_;
  Part documents_;
};

}  // namespace ordo::model::text::store

#endif  // ORDO_MODEL_TEXT_STORE_STORE_WRITER_H_
