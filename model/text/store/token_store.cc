#include "model/text/store/token_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/text/source/token_type.h"

namespace ordo::model::text::store {
namespace {

// 100 000 shards.
constexpr size_t kMaxIndexBytes = size_t{64} << 20;

// Of documents in a shard, and of tokens in a store: more than a disk holds,
// and so few that neither bytes nor sums go beyond 64 bits.
constexpr uint64_t kMaxCount = uint64_t{1} << 56;

}  // namespace

TokenStore::TokenStore(base::Filesystem& files, std::string folder,
                       StoreIndex index)
    : files_(files),
      folder_(std::move(folder)),
      index_(std::move(index)),
      fingerprint_(Fingerprint(index_)) {}

absl::StatusOr<std::unique_ptr<TokenStore>> TokenStore::Open(
    base::Filesystem& files, const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(files, base::JoinPath(folder, kIndexName),
                     kMaxIndexBytes));
  absl::StatusOr<StoreIndex> index = ParseIndex(text);
  if (!index.ok()) {
    return absl::Status(
        index.status().code(),
        absl::StrCat("read ", base::JoinPath(folder, kIndexName), ": ",
                     index.status().message()));
  }
  std::unique_ptr<TokenStore> store(
      new TokenStore(files, folder, *std::move(index)));
  for (size_t i = 0; i < store->index_.shards.size(); ++i) {
    ORDO_RETURN_IF_ERROR(store->OpenShard(i));
  }
  return store;
}

absl::Status TokenStore::Damaged(const std::string& name,
                                 const std::string& what) const {
  return absl::DataLossError(absl::StrCat("read ",
                                          base::JoinPath(folder_, name), ": ",
                                          what, "; make the store again"));
}

absl::Status TokenStore::ReadRecords(size_t shard) {
  const Shard& said = index_.shards[shard];
  const uint64_t shard_begin = shard_begins_.back();
  if (said.num_documents > kMaxCount ||
      said.num_tokens > kMaxCount - shard_begin) {
    return Damaged(kIndexName,
                   absl::StrCat("shard ", shard, " has ", said.num_documents,
                                " documents and ", said.num_tokens,
                                " tokens, more than there can be"));
  }
  const std::string name = DocumentsName(shard);
  const uint64_t num_bytes = said.num_documents * kRecordBytes;
  ORDO_ASSIGN_OR_RETURN(const std::unique_ptr<base::ReadableFile> file,
                        files_.OpenForRead(base::JoinPath(folder_, name)));
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size != num_bytes) {
    return Damaged(name, absl::StrCat("it has ", size,
                                      " bytes, its index says ", num_bytes));
  }
  ORDO_ASSIGN_OR_RETURN(
      const std::string records,
      base::ReadFile(files_, base::JoinPath(folder_, name), num_bytes));
  if (base::Sha256Hex(records) != said.documents_sha256 ||
      records.size() != num_bytes) {
    return Damaged(name, "it is not what was written");
  }
  uint64_t begin = shard_begin;
  for (size_t at = 0; at < records.size(); at += kRecordBytes) {
    const DocumentRecord record =
        ParseRecord(std::string_view(records).substr(at, kRecordBytes));
    const uint64_t left = said.num_tokens - (begin - shard_begin);
    if (record.num_tokens == 0 || record.num_tokens > left) {
      return Damaged(name, absl::StrCat("the document at byte ", at, " has ",
                                        record.num_tokens, " tokens, and ",
                                        left, " of the shard are left"));
    }
    documents_.push_back({begin, record.num_tokens, record.facts});
    begin += record.num_tokens;
  }
  if (begin - shard_begin != said.num_tokens) {
    return Damaged(name, absl::StrCat("its documents have ",
                                      begin - shard_begin, " of the ",
                                      said.num_tokens, " tokens of the shard"));
  }
  shard_begins_.push_back(begin);
  return absl::OkStatus();
}

absl::Status TokenStore::OpenShard(size_t shard) {
  const uint64_t num_tokens = index_.shards[shard].num_tokens;
  ORDO_RETURN_IF_ERROR(ReadRecords(shard));
  ORDO_ASSIGN_OR_RETURN(
      std::unique_ptr<base::ReadableFile> file,
      files_.OpenForRead(base::JoinPath(folder_, TokensName(shard))));
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  const size_t width = source::BytesOf(index_.type);
  if (size != num_tokens * width) {
    return Damaged(TokensName(shard),
                   absl::StrCat("it has another length than was written: ",
                                size, " bytes, not ", num_tokens * width));
  }
  shards_.push_back(std::move(file));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> TokenStore::Read(uint64_t begin,
                                                      uint64_t count) const {
  ORDO_CHECK(begin <= num_tokens() && count <= num_tokens() - begin);
  const size_t width = source::BytesOf(index_.type);
  std::vector<int64_t> tokens;
  tokens.reserve(count);
  // The last shard that begins at `begin` or before.
  size_t shard =
      std::upper_bound(shard_begins_.begin(), shard_begins_.end(), begin) -
      shard_begins_.begin() - 1;
  for (; count > 0; ++shard) {
    const uint64_t here = std::min(count, shard_begins_[shard + 1] - begin);
    uint64_t at = (begin - shard_begins_[shard]) * width;
    ORDO_ASSIGN_OR_RETURN(const std::string bytes,
                          shards_[shard]->ReadAt(at, here * width));
    if (bytes.size() != here * width) {
      return Damaged(TokensName(shard),
                     absl::StrCat("it has become shorter: it ends at byte ",
                                  at + bytes.size()));
    }
    for (const int64_t token : source::ParseTokens(bytes, index_.type)) {
      if (token >= index_.vocabulary_size) {
        return Damaged(TokensName(shard),
                       absl::StrCat("the token at byte ", at, " is ", token,
                                    ", none of the vocabulary of ",
                                    index_.vocabulary_size));
      }
      at += width;
      tokens.push_back(token);
    }
    begin += here;
    count -= here;
  }
  return tokens;
}

absl::Status TokenStore::Verify() const {
  for (size_t i = 0; i < index_.shards.size(); ++i) {
    ORDO_ASSIGN_OR_RETURN(
        const std::string digest,
        base::Sha256HexOfFile(files_, base::JoinPath(folder_, TokensName(i))));
    if (digest != index_.shards[i].tokens_sha256) {
      return Damaged(TokensName(i), "it is not what was written");
    }
  }
  return absl::OkStatus();
}

}  // namespace ordo::model::text::store
