#include "model/text/tokenizers/bpe_tokenizer.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/source/utf8.h"
#include "model/text/tokenizers/bpe.h"
#include "model/text/tokenizers/bpe_file.h"
#include "model/text/tokenizers/byte_alphabet.h"
#include "model/text/tokenizers/split_pattern.h"

namespace ordo::model::text::tokenizers {
namespace {

using Ids = std::map<std::string, int64_t, std::less<>>;

struct Parts {
  explicit Parts(Bpe bpe) : bpe(std::move(bpe)) {}

  Bpe bpe;
  std::vector<SplitPattern> patterns;
  bool add_prefix_space = false;
  // Matches the keys of `added`; absent where there are none.
  std::optional<SplitPattern> added_pattern;
  Ids added;
  // Bytes of each id; those without a token give nothing.
  std::vector<std::string> bytes_of_ids;
  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  std::string digest;
};

class BpeTokenizer : public TextTokenizer {
 public:
  explicit BpeTokenizer(Parts parts) : parts_(std::move(parts)) {}

  int vocabulary_size() const override {
    return static_cast<int>(parts_.bytes_of_ids.size());
  }
  // Its first ids are words like others.
  bool has_marks() const override { return false; }

  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    if (const auto invalid = source::FirstInvalidUtf8(text)) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text: byte ", *invalid, " is not UTF-8"));
    }
    std::vector<std::string_view> segments;
    if (parts_.added_pattern.has_value()) {
      ORDO_RETURN_IF_ERROR(parts_.added_pattern->Split(text, &segments));
    } else {
      segments.push_back(text);
    }
    std::vector<int64_t> tokens;
    for (const std::string_view segment : segments) {
      const auto added = parts_.added.find(segment);
      if (added != parts_.added.end()) {
        tokens.push_back(added->second);
      } else {
        ORDO_RETURN_IF_ERROR(EncodeSegment(segment, &tokens));
      }
    }
    return tokens;
  }

  std::string Decode(const std::vector<int64_t>& tokens) const override {
    std::string bytes;
    for (const int64_t token : tokens) {
      if (token < 0 || token >= vocabulary_size()) {
        bytes.push_back('?');
      } else {
        bytes.append(parts_.bytes_of_ids[token]);
      }
    }
    return source::ReplaceInvalidUtf8(bytes);
  }

  const std::string& digest() const override { return parts_.digest; }
  std::optional<int64_t> begin_token() const override { return parts_.begin; }
  std::optional<int64_t> end_token() const override { return parts_.end; }

 private:
  absl::Status EncodeSegment(std::string_view segment,
                             std::vector<int64_t>* tokens) const {
    if (segment.empty()) return absl::OkStatus();
    std::string prefixed;
    if (parts_.add_prefix_space && segment.front() != ' ') {
      prefixed = absl::StrCat(" ", std::string(segment));
      segment = prefixed;
    }
    std::vector<std::string_view> pieces = {segment};
    for (const SplitPattern& pattern : parts_.patterns) {
      std::vector<std::string_view> smaller;
      for (const std::string_view piece : pieces) {
        ORDO_RETURN_IF_ERROR(pattern.Split(piece, &smaller));
      }
      pieces = std::move(smaller);
    }
    for (const std::string_view piece : pieces) {
      ORDO_RETURN_IF_ERROR(parts_.bpe.Encode(piece, tokens));
    }
    return absl::OkStatus();
  }

  const Parts parts_;
};

// The token with this name, or the first of `usual` where there is no name.
absl::StatusOr<std::optional<int64_t>> FindMark(
    const Ids& names, const std::string& field, const std::string& name,
    std::initializer_list<const char*> usual) {
  if (!name.empty()) {
    const auto found = names.find(name);
    if (found == names.end()) {
      return base::InvalidField(
          field, absl::StrCat("the tokenizer has no token '", name, "'"));
    }
    return std::optional<int64_t>(found->second);
  }
  for (const char* candidate : usual) {
    const auto found = names.find(candidate);
    if (found != names.end()) return std::optional<int64_t>(found->second);
  }
  return std::optional<int64_t>();
}

// Of two that begin at one place, the longer is meant.
absl::StatusOr<SplitPattern> AnyOf(const Ids& texts) {
  std::vector<std::string> patterns;
  for (const auto& [text, id] : texts) patterns.push_back(text);
  std::sort(patterns.begin(), patterns.end(),
            [](const std::string& a, const std::string& b) {
              return std::make_pair(b.size(), a) < std::make_pair(a.size(), b);
            });
  for (std::string& pattern : patterns) pattern = EscapePattern(pattern);
  return SplitPattern::Compile(absl::StrJoin(patterns, "|"));
}

// Bytes by id; empty where no token has it.
absl::StatusOr<std::vector<std::string>> BytesOfIds(const BpeFile& file) {
  int64_t largest = -1;
  for (const auto& token : file.table.tokens) {
    largest = std::max(largest, token.id);
  }
  for (const auto& token : file.added) largest = std::max(largest, token.id);
  // A table of ids has hardly a gap; one with a few tokens and huge ids would
  // take all memory.
  const size_t num_tokens = file.table.tokens.size() + file.added.size();
  if (largest >= static_cast<int64_t>(2 * num_tokens + 4096)) {
    return base::InvalidField(
        "model.vocab", absl::StrCat("id ", largest, " is far beyond the ",
                                    num_tokens, " tokens"));
  }
  std::vector<std::string> bytes(largest + 1);
  for (const auto& token : file.table.tokens) bytes[token.id] = token.bytes;
  for (const auto& token : file.added) bytes[token.id] = token.text;
  return bytes;
}

// The same file gives other ids where special tokens are matched.
std::string DigestOf(const std::string& text,
                     const BpeTokenizerOptions& options) {
  const std::string digest = base::Sha256Hex(text);
  return options.match_special
             ? base::Sha256Hex(absl::StrCat(digest, " match_special"))
             : digest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextTokenizer>> ParseBpeTokenizer(
    const std::string& text, const BpeTokenizerOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const BpeFile file, ParseBpeFile(text));
  ORDO_ASSIGN_OR_RETURN(Bpe bpe, Bpe::Create(file.table));
  Parts parts(std::move(bpe));
  parts.add_prefix_space = file.add_prefix_space;
  for (const BpeFile::Split& split : file.splits) {
    ORDO_ASSIGN_OR_RETURN(SplitPattern compiled,
                          SplitPattern::Compile(split.pattern, split.rule));
    parts.patterns.push_back(std::move(compiled));
  }
  Ids names;
  for (const auto& token : file.table.tokens) {
    names.emplace(PrintableOfBytes(token.bytes), token.id);
  }
  for (const auto& token : file.added) {
    names[token.text] = token.id;
    if (!token.special || options.match_special) {
      parts.added[token.text] = token.id;
    }
  }
  if (!parts.added.empty()) {
    ORDO_ASSIGN_OR_RETURN(parts.added_pattern, AnyOf(parts.added));
  }
  ORDO_ASSIGN_OR_RETURN(parts.bytes_of_ids, BytesOfIds(file));
  ORDO_ASSIGN_OR_RETURN(
      parts.begin, FindMark(names, "begin", options.begin,
                            {"<|begin_of_text|>", "<|endoftext|>", "<s>"}));
  ORDO_ASSIGN_OR_RETURN(parts.end,
                        FindMark(names, "end", options.end,
                                 {"<|end_of_text|>", "<|endoftext|>", "</s>"}));
  parts.digest = DigestOf(text, options);
  return std::make_unique<BpeTokenizer>(std::move(parts));
}

}  // namespace ordo::model::text::tokenizers
