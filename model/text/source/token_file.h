#ifndef ORDO_MODEL_TEXT_SOURCE_TOKEN_FILE_H_
#define ORDO_MODEL_TEXT_SOURCE_TOKEN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/source/token_type.h"

// Flat token files: token ids one after the other, without a header. What they
// are is said by a JSON file beside them, x.bin.json for x.bin, x.bin.gz and
// x.bin.zst:
//
//   {"dtype": "uint16", "tokens": 1048576, "tokenizer_sha256": "9f86...",
//    "source": "https://..."}

namespace ordo::model::text::source {

struct TokenFileInfo {
  TokenType type = TokenType::kUint16;
  uint64_t num_tokens = 0;
  // Digest of the tokenizer that made the tokens, as TextTokenizer::digest().
  std::string tokenizer_sha256;
  // Where they come from, for people; may be empty.
  std::string source;
};

// Path of the JSON file beside the token file at `path`.
std::string TokenFileInfoPath(const std::string& path);

// The text of that file.
std::string TokenFileInfoText(const TokenFileInfo& info);

// INVALID_ARGUMENT, with the fix: it is missing, or one of its fields is, or
// wrong.
absl::StatusOr<TokenFileInfo> ReadTokenFileInfo(base::Filesystem& files,
                                                const std::string& path);

// The tokenizer that tokens must be of.
struct ExpectedTokens {
  std::string tokenizer_sha256;
  int64_t vocabulary_size = 0;
};

// The tokens of a file, in order. Not thread-safe.
class TokenReader {
 public:
  virtual ~TokenReader() = default;

  // The tokens that follow, a hundred thousand or so; none at the end, and only
  // there. INVALID_ARGUMENT: a token is outside of the vocabulary. DATA_LOSS:
  // there are more or fewer tokens than the JSON file says. Otherwise as
  // ByteSource. After an error, no further call.
  virtual absl::StatusOr<std::vector<int64_t>> Next() = 0;
};

// `files` outlives the reader. INVALID_ARGUMENT: as ReadTokenFileInfo, or the
// file is of another tokenizer.
absl::StatusOr<std::unique_ptr<TokenReader>> OpenTokens(
    base::Filesystem& files, const std::string& path,
    const ExpectedTokens& expected);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_TOKEN_FILE_H_
