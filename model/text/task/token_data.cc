#include "model/text/task/token_data.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/digest/digest.h"
#include "base/files/file_lock.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/source/token_file.h"
#include "model/text/store/store_writer.h"
#include "model/text/task/locations.h"
#include "model/text/tokenizers/bpe_tokenizer.h"
#include "model/text/tokenizers/byte_tokenizer.h"
#include "model/text/tokenizers/sentence_piece/load.h"
#include "model/text/tokenizers/sentence_piece/sentence_piece_tokenizer.h"

namespace ordo::model::text::task {
namespace {

using store::TokenStore;
using tasks::DataAccess;
using tokenizers::TextTokenizer;

// Of a vocabulary of millions.
constexpr size_t kMaxTokenizerBytes = size_t{1} << 28;
// Raised whenever the same files and options would become other tokens.
constexpr int kStoreVersion = 1;
// Of the file, beside a store, that who makes the store has locked.
constexpr char kLockSuffix[] = ".lock";

// Readers that ask whether to go on.
class AskingDocuments : public source::DocumentReader {
 public:
  AskingDocuments(source::DocumentReader* reader, const DataAccess& access)
      : reader_(reader), access_(access) {}
  absl::StatusOr<std::optional<std::string>> Next() override {
    ORDO_RETURN_IF_ERROR(access_.keep_going());
    return reader_->Next();
  }
  std::string Where() const override { return reader_->Where(); }

 private:
  source::DocumentReader* const reader_;
  const DataAccess& access_;
};

class AskingTokens : public source::TokenReader {
 public:
  AskingTokens(source::TokenReader* reader, const DataAccess& access)
      : reader_(reader), access_(access) {}
  absl::StatusOr<std::vector<int64_t>> Next() override {
    ORDO_RETURN_IF_ERROR(access_.keep_going());
    return reader_->Next();
  }

 private:
  source::TokenReader* const reader_;
  const DataAccess& access_;
};

// The data of one path, and the tokens that are made of it.
class Data {
 public:
  Data(const DataAccess& access, const TextOptions& options,
       const TextTokenizer& tokenizer)
      : access_(access), options_(options), tokenizer_(tokenizer) {}

  absl::StatusOr<std::unique_ptr<TokenStore>> Open(const std::string& field,
                                                   const std::string& path) {
    ORDO_ASSIGN_OR_RETURN(const std::string whole,
                          FindData(access_, field, path));
    ORDO_ASSIGN_OR_RETURN(
        files_, FilesOf(access_, whole, {field, options_.token_files}));
    ORDO_ASSIGN_OR_RETURN(const std::string name, StoreName());
    const std::string folder = base::JoinPath(access_.store_folder, name);
    if (base::Exists(*access_.files, folder)) return OpenStore(folder);
    ORDO_RETURN_IF_ERROR(base::AddContext(Make(folder), field));
    ORDO_ASSIGN_OR_RETURN(const std::string name_now, StoreName());
    if (name_now != name) {
      return absl::AbortedError(absl::StrCat(
          field, ": files of ", whole,
          " were changed while they were read; submit again once they stay"));
    }
    return OpenStore(folder);
  }

 private:
  // Of all that the tokens depend on.
  absl::StatusOr<std::string> StoreName() const {
    const source::DocumentOptions& documents = options_.documents;
    std::string text = absl::StrCat(
        kStoreVersion, "\n", tokenizer_.digest(), "\n", options_.token_files,
        " ", static_cast<int>(documents.format), " ", options_.marks.begin, " ",
        options_.marks.end, "\n", documents.field, "\n");
    for (const std::string& file : files_) {
      ORDO_ASSIGN_OR_RETURN(const base::FileInfo info,
                            access_.files->Stat(file));
      absl::StrAppend(&text, file, "\n", info.size_bytes, " ",
                      absl::ToUnixNanos(info.modified), "\n");
      if (!options_.token_files) continue;
      ORDO_ASSIGN_OR_RETURN(
          const base::FileInfo beside,
          access_.files->Stat(source::TokenFileInfoPath(file)));
      absl::StrAppend(&text, beside.size_bytes, " ",
                      absl::ToUnixNanos(beside.modified), "\n");
    }
    return base::Sha256Hex(text);
  }

  absl::StatusOr<std::unique_ptr<TokenStore>> OpenStore(
      const std::string& folder) const {
    return base::AddContext(
        TokenStore::Open(*access_.files, folder),
        absl::StrCat("open tokens that are kept in ", folder,
                     " (once that folder is removed they are made again)"));
  }

  // Makes the store at `folder`; while another process makes it, waits for
  // that one, and takes its place where it fails.
  absl::Status Make(const std::string& folder) const {
    base::Filesystem& files = *access_.files;
    ORDO_RETURN_IF_ERROR(files.MakeFolders(access_.store_folder));
    const std::string lock_path = folder + kLockSuffix;
    const auto lock = base::FileLock::WaitFor(lock_path, access_.keep_going);
    // On storage without locks nobody waits.
    if (!absl::IsUnimplemented(lock.status())) ORDO_RETURN_IF_ERROR(lock);
    const absl::Status status =
        base::Exists(files, folder) ? absl::OkStatus() : MakeAlone(folder);
    // A process that waits for the file that was removed, and one that makes it
    // anew, may then both have a lock: they find the store, or make the same.
    files.RemoveFile(lock_path).IgnoreError();
    return status;
  }

  absl::Status MakeAlone(const std::string& folder) const {
    base::Filesystem& files = *access_.files;
    const std::string aside =
        base::JoinPath(access_.work_folder, base::NameOf(folder));
    ORDO_RETURN_IF_ERROR(files.RemoveTree(aside));
    absl::Status status = WriteTo(aside);
    if (status.ok()) status = files.Rename(aside, folder);
    if (status.ok()) return files.SyncFolder(access_.store_folder);
    files.RemoveTree(aside).IgnoreError();
    // On storage without locks, or whose locks only one machine sees, others
    // have made the same.
    return base::Exists(files, folder) ? absl::OkStatus() : status;
  }

  absl::Status WriteTo(const std::string& aside) const {
    store::StoreWriterOptions options;
    options.tokenizer_sha256 = tokenizer_.digest();
    options.vocabulary_size = tokenizer_.vocabulary_size();
    ORDO_ASSIGN_OR_RETURN(
        const auto writer,
        store::StoreWriter::Create(*access_.files, aside, options));
    for (const std::string& file : files_) {
      ORDO_RETURN_IF_ERROR(Import(file, writer.get()));
    }
    return writer->Finish().status();
  }

  absl::Status Import(const std::string& file,
                      store::StoreWriter* writer) const {
    if (options_.token_files) {
      ORDO_ASSIGN_OR_RETURN(const auto reader,
                            source::OpenTokens(*access_.files, file,
                                               {tokenizer_.digest(),
                                                tokenizer_.vocabulary_size()}));
      AskingTokens asking(reader.get(), access_);
      return store::ImportTokens(&asking, tokenizer_.end_token(), writer);
    }
    ORDO_ASSIGN_OR_RETURN(
        const auto reader,
        source::OpenDocuments(*access_.files, file, options_.documents));
    AskingDocuments asking(reader.get(), access_);
    return store::ImportDocuments(&asking, tokenizer_, options_.marks, writer);
  }

  const DataAccess& access_;
  const TextOptions& options_;
  const TextTokenizer& tokenizer_;
  std::vector<std::string> files_;
};

absl::Status CheckMarks(const TextOptions& options,
                        const TextTokenizer& tokenizer) {
  const auto check = [&](const char* name, bool wanted,
                         const std::optional<int64_t>& token) {
    if (!wanted || token.has_value()) return absl::OkStatus();
    return base::InvalidField(
        absl::StrCat(options.field, ".marks"),
        absl::StrCat(options.tokenizer, " has no token for the ", name,
                     " of a document; set marks: none, or the other one"));
  };
  ORDO_RETURN_IF_ERROR(
      check("begin", options.marks.begin, tokenizer.begin_token()));
  return check("end", options.marks.end, tokenizer.end_token());
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextTokenizer>> OpenTokenizer(
    const DataAccess& access, const std::string& field,
    const std::string& name) {
  if (name == "bytes") return tokenizers::MakeByteTokenizer();
  ORDO_ASSIGN_OR_RETURN(const std::string path, FindData(access, field, name));
  ORDO_ASSIGN_OR_RETURN(
      const std::string bytes,
      base::AddContext(base::ReadFile(*access.files, path, kMaxTokenizerBytes),
                       field));
  const std::string where = absl::StrCat(field, ": ", path);
  if (!absl::EndsWith(name, ".model")) {
    return base::AddContext(tokenizers::ParseBpeTokenizer(bytes, {}), where);
  }
  ORDO_ASSIGN_OR_RETURN(
      const auto* library,
      base::AddContext(
          tokenizers::sentence_piece::LoadLibrary(access.sentence_piece),
          where));
  return base::AddContext(
      tokenizers::sentence_piece::ParseSentencePiece(library, bytes), where);
}

absl::StatusOr<std::vector<std::unique_ptr<TokenStore>>> OpenTokenData(
    const DataAccess& access, const TextOptions& options,
    const TextTokenizer& tokenizer) {
  if (!options.token_files)
    ORDO_RETURN_IF_ERROR(CheckMarks(options, tokenizer));
  std::vector<std::unique_ptr<TokenStore>> stores;
  for (size_t i = 0; i < options.data.size(); ++i) {
    ORDO_ASSIGN_OR_RETURN(
        stores.emplace_back(),
        Data(access, options, tokenizer)
            .Open(absl::StrCat(options.field, ".data[", i, "]"),
                  options.data[i]));
  }
  return stores;
}

std::string FingerprintOf(
    const std::vector<std::unique_ptr<TokenStore>>& stores) {
  if (stores.size() == 1) return stores.front()->fingerprint();
  base::Sha256 digest;
  for (const auto& store : stores) {
    digest.Update(absl::StrCat(store->fingerprint(), "\n"));
  }
  return digest.FinishHex();
}

}  // namespace ordo::model::text::task
