#include "model/text/tokenizers/sentence_piece/train.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

// The library leaves out longer lines, so longer ones are cut.
constexpr size_t kMaxLineBytes = 4096;

// The lines of documents, one after the other.
class Lines {
 public:
  Lines(const Documents& documents, size_t max_bytes)
      : documents_(documents), left_(max_bytes) {}

  bool Next(std::string_view* line) {
    do {
      if (!Fill()) return false;
      *line = std::string_view(document_).substr(at_);
      *line = line->substr(0, line->find('\n'));
      const bool cut = line->size() > kMaxLineBytes;
      if (cut) *line = line->substr(0, WholeCharacters(*line));
      at_ += line->size() + (cut ? 0 : 1);
    } while (line->empty());
    left_ -= std::min(left_, line->size());
    return true;
  }

  const absl::Status& status() const { return status_; }

 private:
  // Whether there is text, at at_.
  bool Fill() {
    while (at_ >= document_.size()) {
      if (left_ == 0 || !status_.ok()) return false;
      auto document = documents_();
      if (!document.ok()) {
        status_ = document.status();
        return false;
      }
      if (!document->has_value()) return false;
      document_ = **std::move(document);
      at_ = 0;
    }
    return left_ > 0;
  }

  // The bytes of the whole characters among the first kMaxLineBytes.
  static size_t WholeCharacters(std::string_view line) {
    size_t end = kMaxLineBytes;
    while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    return end;
  }

  const Documents& documents_;
  size_t left_;
  std::string document_;
  size_t at_ = 0;
  absl::Status status_;
};

std::vector<std::string> OptionsOfLibrary(const TrainOptions& options) {
  return {
      absl::StrCat("model_type=",
                   options.kind == Kind::kBpe ? "bpe" : "unigram"),
      absl::StrCat("vocab_size=", options.vocabulary_size),
      absl::StrCat("character_coverage=", options.character_coverage),
      absl::StrCat("max_sentence_length=", kMaxLineBytes),
      "normalization_rule_name=identity",
      "remove_extra_whitespaces=false",
      "allow_whitespace_only_pieces=true",
      "split_digits=true",
      "byte_fallback=true",
      // Sums of floats depend on how threads share them.
      "num_threads=1",
      "minloglevel=2",
  };
}

// The number behind `before`; empty where there is none.
std::string NumberBehind(const std::string& said, const std::string& before) {
  const size_t at = said.find(before);
  if (at == std::string::npos) return "";
  const size_t begin = at + before.size();
  return said.substr(begin,
                     said.find_first_not_of("0123456789", begin) - begin);
}

// Why there is no model. Of sizes the library advises options that this sets
// itself.
std::string WhyNone(const std::string& said, const TrainOptions& options) {
  const std::string size = absl::StrCat(options.vocabulary_size);
  const std::string least =
      NumberBehind(said, absl::StrCat("required_chars. ", size, " vs "));
  if (!least.empty()) {
    return absl::StrCat("a vocabulary of ", size,
                        " tokens is too small for the characters of this "
                        "text: ",
                        least, " at least");
  }
  const std::string most = NumberBehind(
      said,
      absl::StrCat("too high (", size, "). Please set it to a value <= "));
  if (!most.empty()) {
    return absl::StrCat("a vocabulary of ", size,
                        " tokens is too large for this text: ", most,
                        " at most");
  }
  return said;
}

}  // namespace

absl::StatusOr<std::string> TrainSentencePiece(const Library* library,
                                               const TrainOptions& options,
                                               const Documents& documents) {
  Lines lines(documents, options.max_bytes);
  TextSource source;
  source.from = &lines;
  source.next = [](void* from, Bytes* text) {
    std::string_view line;
    if (!static_cast<Lines*>(from)->Next(&line)) return false;
    *text = {line.data(), line.size()};
    return true;
  };
  const auto append = [](void* to, Bytes bytes) {
    static_cast<std::string*>(to)->append(bytes.data, bytes.size);
  };
  const std::vector<std::string> texts = OptionsOfLibrary(options);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  std::string model;
  std::string error;
  const bool trained =
      library->train({pointers.data(), pointers.size()}, source,
                     {append, &model}, {append, &error});
  if (!lines.status().ok()) return lines.status();
  if (!trained) {
    return absl::InvalidArgumentError(
        absl::StrCat("train a SentencePiece model: ", WhyNone(error, options)));
  }
  return model;
}

}  // namespace ordo::model::text::tokenizers::sentence_piece
