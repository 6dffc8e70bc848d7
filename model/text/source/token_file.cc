#include "model/text/source/token_file.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/text/source/byte_source.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::source {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxInfoBytes = size_t{1} << 16;
constexpr size_t kDigestDigits = 64;
constexpr char kType[] = "dtype";
constexpr char kTokens[] = "tokens";
constexpr char kTokenizer[] = "tokenizer_sha256";
constexpr char kSource[] = "source";

bool IsDigest(std::string_view text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The string at `key`, or nothing that could be meant.
std::string StringAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || !found->is_string() ? ""
                                                    : found->get<std::string>();
}

class Reader : public TokenReader {
 public:
  Reader(std::unique_ptr<ByteSource> source, std::string path,
         const TokenFileInfo& info, int64_t vocabulary_size)
      : source_(std::move(source)),
        path_(std::move(path)),
        type_(info.type),
        num_expected_(info.num_tokens),
        vocabulary_size_(vocabulary_size) {}

  absl::StatusOr<std::vector<int64_t>> Next() override {
    const size_t width = BytesOf(type_);
    bool at_end = false;
    while (rest_.size() < width && !at_end) {
      ORDO_ASSIGN_OR_RETURN(const std::string_view chunk, source_->Next());
      rest_.append(chunk);
      at_end = chunk.empty();
    }
    const size_t num_bytes = rest_.size() / width * width;
    std::vector<int64_t> tokens =
        ParseTokens(std::string_view(rest_).substr(0, num_bytes), type_);
    rest_.erase(0, num_bytes);
    ORDO_RETURN_IF_ERROR(CheckVocabulary(tokens));
    num_read_ += tokens.size();
    if (num_read_ > num_expected_ ||
        (at_end && (num_read_ < num_expected_ || !rest_.empty()))) {
      return WrongCount();
    }
    return tokens;
  }

 private:
  absl::Status CheckVocabulary(const std::vector<int64_t>& tokens) const {
    const auto outside =
        std::find_if(tokens.begin(), tokens.end(),
                     [&](int64_t token) { return token >= vocabulary_size_; });
    if (outside == tokens.end()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "read ", path_, ": token ", num_read_ + (outside - tokens.begin()),
        " is ", *outside, ", outside of the tokenizer's vocabulary of ",
        vocabulary_size_, ": is it ", NameOf(type_),
        ", and of this tokenizer?"));
  }

  absl::Status WrongCount() const {
    return absl::DataLossError(
        absl::StrCat("read ", path_, ": it has ",
                     num_read_ > num_expected_ ? "more" : "fewer", " than the ",
                     num_expected_, " tokens that ", TokenFileInfoPath(path_),
                     " says: copy it again"));
  }

  const std::unique_ptr<ByteSource> source_;
  const std::string path_;
  const TokenType type_;
  const uint64_t num_expected_;
  const int64_t vocabulary_size_;
  uint64_t num_read_ = 0;
  // Bytes that are not tokens yet.
  std::string rest_;
};

}  // namespace

std::string TokenFileInfoPath(const std::string& path) {
  return absl::StrCat(std::string(WithoutCompression(path)), ".json");
}

std::string TokenFileInfoText(const TokenFileInfo& info) {
  Json json;
  json[kType] = NameOf(info.type);
  json[kTokens] = info.num_tokens;
  json[kTokenizer] = info.tokenizer_sha256;
  json[kSource] = info.source;
  return json.dump() + "\n";
}

absl::StatusOr<TokenFileInfo> ReadTokenFileInfo(base::Filesystem& files,
                                                const std::string& path) {
  const std::string info_path = TokenFileInfoPath(path);
  const auto refuse = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat("read ", info_path, ": ", what));
  };
  const absl::StatusOr<std::string> text =
      base::ReadFile(files, info_path, kMaxInfoBytes);
  if (absl::IsNotFound(text.status())) {
    return refuse(absl::StrCat(
        "it is missing; say in it what the tokens are, as in ",
        R"({"dtype": "uint16", "tokens": 1000, "tokenizer_sha256": "..."})"));
  }
  ORDO_RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return refuse("it is not a JSON object");
  TokenFileInfo info;
  const auto type = TokenTypeOf(StringAt(json, kType));
  if (!type.has_value()) {
    return refuse(absl::StrCat(kType, " must be 'uint16' or 'uint32'"));
  }
  info.type = *type;
  const auto tokens = json.find(kTokens);
  if (tokens == json.end() || !tokens->is_number_unsigned()) {
    return refuse(absl::StrCat(kTokens, " must be the number of tokens"));
  }
  info.num_tokens = tokens->get<uint64_t>();
  info.tokenizer_sha256 = StringAt(json, kTokenizer);
  if (!IsDigest(info.tokenizer_sha256)) {
    return refuse(absl::StrCat(
        kTokenizer,
        " must be 64 lower-case hexadecimal digits, the SHA-256 of "
        "the tokenizer's file"));
  }
  info.source = StringAt(json, kSource);
  return info;
}

absl::StatusOr<std::unique_ptr<TokenReader>> OpenTokens(
    base::Filesystem& files, const std::string& path,
    const ExpectedTokens& expected) {
  ORDO_ASSIGN_OR_RETURN(const TokenFileInfo info,
                        ReadTokenFileInfo(files, path));
  if (info.tokenizer_sha256 != expected.tokenizer_sha256) {
    return absl::InvalidArgumentError(absl::StrCat(
        "read ", path, ": its tokens are of the tokenizer with SHA-256 ",
        info.tokenizer_sha256, ", not of that with ", expected.tokenizer_sha256,
        ": name that tokenizer, or make the tokens again"));
  }
  ORDO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                        OpenBytes(files, path));
  return std::make_unique<Reader>(std::move(source), path, info,
                                  expected.vocabulary_size);
}

}  // namespace ordo::model::text::source
