#include "model/text/tokenizers/byte_tokenizer.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "model/text/source/utf8.h"

namespace ordo::model::text::tokenizers {
namespace {

constexpr int64_t kFirstByte = tasks::kEnd + 1;
constexpr int kVocabularySize = kFirstByte + 256;

class ByteTokenizer : public TextTokenizer {
 public:
  int vocabulary_size() const override { return kVocabularySize; }

  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    if (const auto invalid = source::FirstInvalidUtf8(text)) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text: byte ", *invalid, " is not UTF-8"));
    }
    std::vector<int64_t> tokens;
    tokens.reserve(text.size());
    for (const char byte : text) {
      tokens.push_back(kFirstByte + static_cast<uint8_t>(byte));
    }
    return tokens;
  }

  std::string Decode(const std::vector<int64_t>& tokens) const override {
    std::string bytes;
    for (const int64_t token : tokens) {
      if (token < 0 || token >= kVocabularySize) {
        bytes.push_back('?');
      } else if (token >= kFirstByte) {
        bytes.push_back(static_cast<char>(token - kFirstByte));
      }
    }
    return source::ReplaceInvalidUtf8(bytes);
  }

  const std::string& digest() const override { return digest_; }
  std::optional<int64_t> begin_token() const override { return tasks::kBegin; }
  std::optional<int64_t> end_token() const override { return tasks::kEnd; }

 private:
  // There is no file: the name of the mapping stands for it.
  const std::string digest_ = base::Sha256Hex("bytes from 4 on");
};

}  // namespace

std::unique_ptr<TextTokenizer> MakeByteTokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace ordo::model::text::tokenizers
