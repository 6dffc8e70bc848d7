#include "model/text/store/store_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/text/source/token_type.h"

namespace ordo::model::text::store {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

// The folders that get an entry when `folder` is made with those above it: the
// one that it lies in, and so on up to one that is there.
std::vector<std::string> ParentsOf(base::Filesystem& files,
                                   const std::string& folder) {
  std::vector<std::string> parents = {base::FolderOf(folder)};
  while (!base::Exists(files, parents.back())) {
    parents.push_back(base::FolderOf(parents.back()));
  }
  return parents;
}

}  // namespace

StoreWriter::StoreWriter(base::Filesystem& files, std::string folder,
                         const StoreWriterOptions& options)
    : files_(files),
      folder_(std::move(folder)),
      shard_tokens_(options.shard_tokens) {
  index_.tokenizer_sha256 = options.tokenizer_sha256;
  index_.vocabulary_size = options.vocabulary_size;
  index_.type = source::TypeForVocabulary(options.vocabulary_size);
}

absl::StatusOr<std::unique_ptr<StoreWriter>> StoreWriter::Create(
    base::Filesystem& files, const std::string& folder,
    const StoreWriterOptions& options) {
  const std::string attempt = absl::StrCat("write a token store to ", folder);
  if (options.vocabulary_size < 1 ||
      options.vocabulary_size > kMaxVocabularySize) {
    return absl::InvalidArgumentError(
        absl::StrCat(attempt, ": a vocabulary has 1 to ", kMaxVocabularySize,
                     " tokens, not ", options.vocabulary_size));
  }
  std::unique_ptr<StoreWriter> writer(new StoreWriter(files, folder, options));
  writer->parents_ = ParentsOf(files, folder);
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  auto lock = base::FileLock::Take(base::JoinPath(folder, kLockName));
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        attempt, ": another writer is at it; wait for it, or name another ",
        "folder"));
  }
  // On storage without locks it trusts its caller, who has the folder alone.
  if (!absl::IsUnimplemented(lock.status())) {
    ORDO_RETURN_IF_ERROR(lock.status());
    writer->lock_ = *std::move(lock);
  }
  if (base::Exists(files, base::JoinPath(folder, kIndexName))) {
    return absl::AlreadyExistsError(absl::StrCat(
        attempt, ": there is one; remove it or name another folder"));
  }
  return writer;
}

absl::StatusOr<StoreWriter::Part> StoreWriter::OpenPart(
    const std::string& name) {
  Part part;
  ORDO_ASSIGN_OR_RETURN(part.file,
                        files_.OpenForWrite(base::JoinPath(folder_, name),
                                            base::WriteMode::kTruncate));
  part.digest = std::make_unique<base::Sha256>();
  return part;
}

absl::Status StoreWriter::Flush(Part* part) {
  part->digest->Update(part->buffer);
  ORDO_RETURN_IF_ERROR(part->file->Append(part->buffer));
  part->buffer.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> StoreWriter::ClosePart(Part* part) {
  ORDO_RETURN_IF_ERROR(Flush(part));
  ORDO_RETURN_IF_ERROR(part->file->Sync());
  ORDO_RETURN_IF_ERROR(part->file->Close());
  return part->digest->FinishHex();
}

absl::Status StoreWriter::OpenShard() {
  const size_t number = index_.shards.size();
  ORDO_ASSIGN_OR_RETURN(tokens_, OpenPart(TokensName(number)));
  ORDO_ASSIGN_OR_RETURN(documents_, OpenPart(DocumentsName(number)));
  index_.shards.emplace_back();
  open_ = true;
  return absl::OkStatus();
}

absl::Status StoreWriter::CloseShard() {
  Shard& shard = index_.shards.back();
  ORDO_ASSIGN_OR_RETURN(shard.tokens_sha256, ClosePart(&tokens_));
  ORDO_ASSIGN_OR_RETURN(shard.documents_sha256, ClosePart(&documents_));
  open_ = false;
  return absl::OkStatus();
}

absl::Status StoreWriter::Add(const std::vector<int64_t>& tokens,
                              const Facts& facts) {
  if (status_.ok()) status_ = Write(tokens, facts);
  return status_;
}

absl::StatusOr<StoreIndex> StoreWriter::Finish() {
  if (status_.ok()) status_ = Publish();
  ORDO_RETURN_IF_ERROR(status_);
  status_ = absl::FailedPreconditionError(
      absl::StrCat("write a token store to ", folder_, ": it is finished"));
  return index_;
}

absl::Status StoreWriter::Write(const std::vector<int64_t>& tokens,
                                const Facts& facts) {
  if (tokens.empty()) return absl::OkStatus();
  for (const int64_t token : tokens) {
    if (token < 0 || token >= index_.vocabulary_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "write a token store to ", folder_, ": token ", token,
          " is outside of the vocabulary of ", index_.vocabulary_size));
    }
  }
  if (!open_) ORDO_RETURN_IF_ERROR(OpenShard());
  source::AppendTokens(tokens, index_.type, &tokens_.buffer);
  AppendRecord({tokens.size(), facts}, &documents_.buffer);
  if (tokens_.buffer.size() > kBufferBytes) {
    ORDO_RETURN_IF_ERROR(Flush(&tokens_));
  }
  if (documents_.buffer.size() > kBufferBytes) {
    ORDO_RETURN_IF_ERROR(Flush(&documents_));
  }
  Shard& shard = index_.shards.back();
  shard.num_tokens += tokens.size();
  ++shard.num_documents;
  return shard.num_tokens < shard_tokens_ ? absl::OkStatus() : CloseShard();
}

absl::Status StoreWriter::Publish() {
  if (open_) ORDO_RETURN_IF_ERROR(CloseShard());
  // The names of the shards must outlive a crash if the index does, and that of
  // the folder if a job names it.
  ORDO_RETURN_IF_ERROR(files_.SyncFolder(folder_));
  for (const std::string& parent : parents_) {
    ORDO_RETURN_IF_ERROR(files_.SyncFolder(parent));
  }
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files_, base::JoinPath(folder_, kIndexName), IndexText(index_)));
  // Who makes the lock's file again finds the index. One that stays harms
  // nobody.
  files_.RemoveFile(base::JoinPath(folder_, kLockName)).IgnoreError();
  return absl::OkStatus();
}

}  // namespace ordo::model::text::store
