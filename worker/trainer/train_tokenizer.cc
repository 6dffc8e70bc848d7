#include "worker/trainer/train_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "model/tasks/data_access.h"
#include "model/text/source/documents.h"
#include "model/text/task/locations.h"
#include "model/text/tokenizers/sentence_piece/load.h"
#include "model/text/tokenizers/sentence_piece/sentence_piece_tokenizer.h"
#include "model/text/tokenizers/sentence_piece/train.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

namespace sentence_piece = model::text::tokenizers::sentence_piece;
namespace source = model::text::source;
using sentence_piece::Kind;
using source::TextFormat;

// The value of a flag among those that it takes, each with what it means; the
// first where it is not given.
template <typename Value>
absl::StatusOr<Value> ChoiceOf(
    const std::string& flag, const std::string& text,
    const std::vector<std::pair<std::string, Value>>& choices) {
  if (text.empty()) return choices.front().second;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(name);
  }
  return base::InvalidField(flag, absl::StrCat("'", text, "' is not known",
                                               base::SuggestName(text, names)));
}

absl::StatusOr<source::DocumentOptions> DocumentsOf(
    const TrainTokenizerOptions& options) {
  source::DocumentOptions documents;
  ORDO_ASSIGN_OR_RETURN(
      documents.format,
      ChoiceOf<TextFormat>("--format", options.format,
                           {{"file", TextFormat::kFile},
                            {"lines", TextFormat::kLines},
                            {"json_lines", TextFormat::kJsonLines}}));
  if (options.field.empty()) return documents;
  if (documents.format != TextFormat::kJsonLines) {
    return base::InvalidField("--field", "only --format json_lines has fields");
  }
  documents.field = options.field;
  return documents;
}

// The files of all data, in order.
absl::StatusOr<std::vector<std::string>> FilesOf(
    base::Filesystem& files, const std::vector<std::string>& data) {
  if (data.empty()) {
    return base::InvalidField("--data", "must name a file or a folder");
  }
  model::tasks::DataAccess access;
  access.files = &files;
  // Who runs this by hand may read what the system lets them.
  access.data_roots = {"/"};
  std::vector<std::string> all;
  for (const std::string& path : data) {
    ORDO_ASSIGN_OR_RETURN(
        const std::string whole,
        model::text::task::FindData(access, "--data",
                                    std::filesystem::absolute(path)));
    ORDO_ASSIGN_OR_RETURN(
        const std::vector<std::string> found,
        model::text::task::FilesOf(access, whole, {"--data"}));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

// The documents of files, one file after the other.
class FileDocuments {
 public:
  FileDocuments(base::Filesystem& files, std::vector<std::string> paths,
                source::DocumentOptions options)
      : files_(files), paths_(std::move(paths)), options_(std::move(options)) {}

  absl::StatusOr<std::optional<std::string>> Next() {
    while (true) {
      if (reader_ == nullptr) {
        if (next_ == paths_.size()) return std::optional<std::string>();
        ORDO_ASSIGN_OR_RETURN(
            reader_, source::OpenDocuments(files_, paths_[next_], options_));
        ++next_;
      }
      ORDO_ASSIGN_OR_RETURN(auto document, reader_->Next());
      if (document.has_value()) {
        num_bytes_ += document->size();
        return document;
      }
      reader_.reset();
    }
  }

  // Of the documents so far.
  size_t num_bytes() const { return num_bytes_; }
  // The file of the last of them; nothing when all have been given.
  std::optional<std::string> InFile() const {
    if (reader_ == nullptr) return std::nullopt;
    return paths_[next_ - 1];
  }

 private:
  base::Filesystem& files_;
  const std::vector<std::string> paths_;
  const source::DocumentOptions options_;
  size_t next_ = 0;
  size_t num_bytes_ = 0;
  std::unique_ptr<source::DocumentReader> reader_;
};

// What was read, and where that was not all.
std::string WhatWasRead(const FileDocuments& text, size_t max_bytes) {
  const std::optional<std::string> path = text.InFile();
  const size_t read = path.has_value() ? std::min(text.num_bytes(), max_bytes)
                                       : text.num_bytes();
  std::string said = absl::StrCat("read ", read, " bytes of text\n");
  if (path.has_value()) {
    absl::StrAppend(&said, "warning: that is the most that is read: in ", *path,
                    " it ended, and what follows is left out; name what "
                    "matters most first\n");
  }
  return said;
}

absl::Status CheckOut(base::Filesystem& files, const std::string& out) {
  if (!absl::EndsWith(out, ".model")) {
    return base::InvalidField(
        "--out", absl::StrCat("'", out,
                              "' must end in .model: by that a job knows a "
                              "file of SentencePiece"));
  }
  if (base::Exists(files, out)) {
    return base::InvalidField(
        "--out", absl::StrCat(out, " exists already; give another file"));
  }
  return absl::OkStatus();
}

absl::Status Write(base::Filesystem& files, const std::string& path,
                   const std::string& bytes) {
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(path)));
  return base::AtomicWrite(files, path, bytes);
}

}  // namespace

absl::StatusOr<std::string> TrainTokenizer(
    base::Filesystem& files, const TrainTokenizerOptions& options) {
  sentence_piece::TrainOptions train;
  train.vocabulary_size = options.vocabulary_size;
  train.max_bytes = options.max_bytes;
  ORDO_ASSIGN_OR_RETURN(
      train.kind,
      ChoiceOf<Kind>("--type", options.type,
                     {{"bpe", Kind::kBpe}, {"unigram", Kind::kUnigram}}));
  ORDO_ASSIGN_OR_RETURN(const source::DocumentOptions documents,
                        DocumentsOf(options));
  ORDO_RETURN_IF_ERROR(CheckOut(files, options.out));
  auto paths = FilesOf(files, options.data);
  ORDO_RETURN_IF_ERROR(model::tasks::DataMissing(paths.status()));
  ORDO_ASSIGN_OR_RETURN(const auto* library,
                        sentence_piece::LoadLibrary(options.sentence_piece));
  FileDocuments text(files, *std::move(paths), documents);
  ORDO_ASSIGN_OR_RETURN(
      const std::string bytes,
      sentence_piece::TrainSentencePiece(
          library, train, [&]() -> absl::StatusOr<std::optional<std::string>> {
            auto document = text.Next();
            ORDO_RETURN_IF_ERROR(model::tasks::DataMissing(document.status()));
            return document;
          }));
  ORDO_ASSIGN_OR_RETURN(const auto tokenizer,
                        sentence_piece::ParseSentencePiece(library, bytes));
  ORDO_RETURN_IF_ERROR(
      WithExitCode(base::AddContext(Write(files, options.out, bytes), "--out"),
                   ordo::training::v1::STORAGE_ERROR));
  return absl::StrCat(
      options.out, ": ", tokenizer->vocabulary_size(), " tokens, SHA-256 ",
      tokenizer->digest(),
      "; a job sets model.vocabulary_size: ", tokenizer->vocabulary_size(),
      "\n", WhatWasRead(text, options.max_bytes));
}

}  // namespace ordo::worker::trainer
