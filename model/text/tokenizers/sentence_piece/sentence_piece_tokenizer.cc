#include "model/text/tokenizers/sentence_piece/sentence_piece_tokenizer.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "model/text/source/utf8.h"

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

// A sink that appends to `text`.
Sink To(std::string* text) {
  return {[](void* to, Bytes bytes) {
            static_cast<std::string*>(to)->append(bytes.data, bytes.size);
          },
          text};
}

std::optional<int64_t> IdOrNone(int id) {
  return id < 0 ? std::nullopt : std::optional<int64_t>(id);
}

class SentencePieceTokenizer : public TextTokenizer {
 public:
  // Owns `model`, which the library loaded.
  SentencePieceTokenizer(const Library* library, void* model,
                         std::string digest)
      : library_(library), model_(model), digest_(std::move(digest)) {}
  SentencePieceTokenizer(const SentencePieceTokenizer&) = delete;
  SentencePieceTokenizer& operator=(const SentencePieceTokenizer&) = delete;
  ~SentencePieceTokenizer() override { library_->drop(model_); }

  int vocabulary_size() const override {
    return library_->vocabulary_size(model_);
  }
  // Its marks are where the model has them.
  bool has_marks() const override { return false; }

  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    if (const auto invalid = source::FirstInvalidUtf8(text)) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text: byte ", *invalid, " is not UTF-8"));
    }
    std::string ids;
    std::string error;
    if (!library_->encode(model_, {text.data(), text.size()}, To(&ids),
                          To(&error))) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text by SentencePiece: ", error));
    }
    std::vector<int64_t> tokens(ids.size() / sizeof(int));
    for (size_t i = 0; i < tokens.size(); ++i) {
      int id = 0;
      std::memcpy(&id, ids.data() + i * sizeof(int), sizeof(int));
      tokens[i] = id;
    }
    return tokens;
  }

  std::string Decode(const std::vector<int64_t>& tokens) const override {
    std::string text;
    std::vector<int> ids;
    for (const int64_t token : tokens) {
      if (token >= 0 && token < vocabulary_size()) {
        ids.push_back(static_cast<int>(token));
        continue;
      }
      Append(ids, &text);
      ids.clear();
      text.push_back('?');
    }
    Append(ids, &text);
    return source::ReplaceInvalidUtf8(text);
  }

  const std::string& digest() const override { return digest_; }
  std::optional<int64_t> begin_token() const override {
    return IdOrNone(library_->begin(model_));
  }
  std::optional<int64_t> end_token() const override {
    return IdOrNone(library_->end(model_));
  }

 private:
  // `ids` are in the vocabulary; then the library has no error to tell of.
  void Append(const std::vector<int>& ids, std::string* text) const {
    std::string error;
    library_->decode(model_, {ids.data(), ids.size()}, To(text), To(&error));
  }

  const Library* const library_;
  void* const model_;
  const std::string digest_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TextTokenizer>> ParseSentencePiece(
    const Library* library, const std::string& bytes) {
  std::string error;
  void* const model = library->load({bytes.data(), bytes.size()}, To(&error));
  if (model == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("read a SentencePiece model: ", error));
  }
  return std::make_unique<SentencePieceTokenizer>(library, model,
                                                  base::Sha256Hex(bytes));
}

}  // namespace ordo::model::text::tokenizers::sentence_piece
