#include "model/text/tokenizers/bpe_file.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/tokenizers/byte_alphabet.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::tokenizers {
namespace {

using Json = nlohmann::json;

// Ids lie in files as 32 bits.
constexpr int64_t kMaxId = std::numeric_limits<int32_t>::max();

constexpr std::pair<const char*, SplitBehavior> kBehaviors[] = {
    {"Isolated", SplitBehavior::kIsolated},
    {"Removed", SplitBehavior::kRemoved},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
};

// The value at `key`; null where there is none.
const Json& At(const Json& json, const char* key) {
  static const Json null;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? null : *found;
}

bool IsTrue(const Json& json, const char* key) {
  const Json& value = At(json, key);
  return value.is_boolean() && value.get<bool>();
}

std::string TextAt(const Json& json, const char* key) {
  const Json& value = At(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<int64_t> IdOf(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto id = value.get<uint64_t>();
  if (id > static_cast<uint64_t>(kMaxId)) return std::nullopt;
  return static_cast<int64_t>(id);
}

absl::Status ReadAdded(const Json& list, std::vector<BpeFile::Added>* added) {
  if (list.is_null()) return absl::OkStatus();
  if (!list.is_array()) {
    return base::InvalidField("added_tokens", "must be a list");
  }
  for (const Json& entry : list) {
    const auto id = IdOf(At(entry, "id"));
    const std::string content = TextAt(entry, "content");
    if (!id.has_value() || content.empty()) {
      return base::InvalidField(
          absl::StrCat("added_tokens[", added->size(), "]"),
          "must have an id and a content that is not empty");
    }
    for (const char* key : {"single_word", "lstrip", "rstrip"}) {
      if (IsTrue(entry, key)) {
        return base::InvalidField(
            absl::StrCat("added_tokens[", added->size(), "].", key),
            "true is not supported");
      }
    }
    added->push_back({content, *id, IsTrue(entry, "special")});
  }
  return absl::OkStatus();
}

absl::Status ReadVocabulary(const Json& vocabulary, BpeFile* file) {
  if (!vocabulary.is_object() || vocabulary.empty()) {
    return base::InvalidField("model.vocab",
                              "must be an object of names and ids");
  }
  std::set<std::string> added;
  for (const auto& token : file->added) added.insert(token.text);
  std::set<int64_t> ids;
  for (const auto& [name, value] : vocabulary.items()) {
    const auto id = IdOf(value);
    if (!id.has_value() || !ids.insert(*id).second) {
      return base::InvalidField(
          "model.vocab",
          absl::StrCat("'", name, "' must have an id of its own, 0 to ",
                       kMaxId));
    }
    const auto bytes = BytesOfPrintable(name);
    // Names of marks may have any letters: they are matched as text.
    if (!bytes.has_value() && added.count(name) > 0) continue;
    if (!bytes.has_value()) {
      return base::InvalidField(
          "model.vocab",
          absl::StrCat("'", name, "' has letters that stand for no byte: this ",
                       "is no byte-level BPE; use the SentencePiece model ",
                       "(tokenizer.model) if there is one"));
    }
    file->table.tokens.push_back({*bytes, *id});
  }
  return absl::OkStatus();
}

// "a b", or ["a", "b"].
std::optional<BpeTable::Merge> MergeOf(const Json& entry) {
  std::string left;
  std::string right;
  if (entry.is_string()) {
    const auto text = entry.get<std::string>();
    const size_t blank = text.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    left = text.substr(0, blank);
    right = text.substr(blank + 1);
  } else if (entry.is_array() && entry.size() == 2 && entry[0].is_string() &&
             entry[1].is_string()) {
    left = entry[0].get<std::string>();
    right = entry[1].get<std::string>();
  }
  auto left_bytes = BytesOfPrintable(left);
  auto right_bytes = BytesOfPrintable(right);
  if (!left_bytes.has_value() || !right_bytes.has_value() ||
      left_bytes->empty() || right_bytes->empty()) {
    return std::nullopt;
  }
  return BpeTable::Merge{*std::move(left_bytes), *std::move(right_bytes)};
}

absl::Status ReadModel(const Json& model, BpeFile* file) {
  // Older files, GPT-2's among them, do not say it.
  if (!At(model, "type").is_null() && TextAt(model, "type") != "BPE") {
    return base::InvalidField("model.type", "must be 'BPE'");
  }
  // These belong to BPE over characters.
  if (IsTrue(model, "byte_fallback")) {
    return base::InvalidField(
        "model.byte_fallback",
        "true is no byte-level BPE; use the SentencePiece model "
        "(tokenizer.model)");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!TextAt(model, key).empty()) {
      return base::InvalidField(absl::StrCat("model.", key), "must be empty");
    }
  }
  const Json& dropout = At(model, "dropout");
  if (!dropout.is_null() && dropout != 0.0) {
    return base::InvalidField("model.dropout", "must be null or 0");
  }
  file->table.ignore_merges = IsTrue(model, "ignore_merges");
  ORDO_RETURN_IF_ERROR(ReadVocabulary(At(model, "vocab"), file));
  const Json& merges = At(model, "merges");
  if (!merges.is_array()) {
    return base::InvalidField("model.merges", "must be a list");
  }
  for (const Json& entry : merges) {
    auto merge = MergeOf(entry);
    if (!merge.has_value()) {
      return base::InvalidField(
          absl::StrCat("model.merges[", file->table.merges.size(), "]"),
          "must be two names of tokens, as \"a b\" or [\"a\", \"b\"]");
    }
    file->table.merges.push_back(*std::move(merge));
  }
  return absl::OkStatus();
}

absl::Status ReadSplit(const Json& step, const std::string& path,
                       BpeFile* file) {
  const std::string name = TextAt(step, "behavior");
  const auto behavior =
      std::find_if(std::begin(kBehaviors), std::end(kBehaviors),
                   [&](const auto& entry) { return name == entry.first; });
  if (behavior == std::end(kBehaviors)) {
    return base::InvalidField(
        absl::StrCat(path, ".behavior"),
        absl::StrCat("'", name, "' is none; 'Isolated' is"));
  }
  const Json& pattern = At(step, "pattern");
  const std::string regex = TextAt(pattern, "Regex");
  const std::string literal = TextAt(pattern, "String");
  if (regex.empty() == literal.empty()) {
    return base::InvalidField(absl::StrCat(path, ".pattern"),
                              "must have Regex or String");
  }
  file->splits.push_back({regex.empty() ? EscapePattern(literal) : regex,
                          {behavior->second, IsTrue(step, "invert")}});
  return absl::OkStatus();
}

// What cuts text. `bytes` becomes true at the step that makes bytes letters.
absl::Status ReadStep(const Json& step, const std::string& path, bool* bytes,
                      BpeFile* file) {
  const std::string type = TextAt(step, "type");
  if (*bytes) {
    return base::InvalidField(path, "nothing may follow ByteLevel");
  }
  if (type == "Split") return ReadSplit(step, path, file);
  if (type == "ByteLevel") {
    *bytes = true;
    // A blank before each piece, rather than before the text, is nobody's wish.
    if (IsTrue(step, "add_prefix_space") && !file->splits.empty()) {
      return base::InvalidField(absl::StrCat(path, ".add_prefix_space"),
                                "must be false behind a Split");
    }
    file->add_prefix_space = IsTrue(step, "add_prefix_space");
    const Json& use_regex = At(step, "use_regex");
    if (use_regex.is_null() || use_regex == true) {
      file->splits.push_back({kGpt2Pattern, {}});
    }
    return absl::OkStatus();
  }
  return base::InvalidField(
      absl::StrCat(path, ".type"),
      absl::StrCat("'", type, "' is not supported; Split and ByteLevel are"));
}

absl::Status ReadPreTokenizer(const Json& json, BpeFile* file) {
  const std::string path = "pre_tokenizer";
  bool bytes = false;
  if (TextAt(json, "type") == "Sequence") {
    const Json& steps = At(json, "pretokenizers");
    if (!steps.is_array()) {
      return base::InvalidField(path + ".pretokenizers", "must be a list");
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      ORDO_RETURN_IF_ERROR(
          ReadStep(steps[i], absl::StrCat(path, ".pretokenizers[", i, "]"),
                   &bytes, file));
    }
  } else {
    ORDO_RETURN_IF_ERROR(ReadStep(json, path, &bytes, file));
  }
  if (bytes) return absl::OkStatus();
  return base::InvalidField(path,
                            "must have ByteLevel: this is no byte-level "
                            "BPE");
}

}  // namespace

absl::StatusOr<BpeFile> ParseBpeFile(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        "read tokenizer.json: it is not a JSON object");
  }
  if (!At(json, "normalizer").is_null()) {
    return base::InvalidField("normalizer",
                              "must be null: text is taken as it is");
  }
  BpeFile file;
  ORDO_RETURN_IF_ERROR(ReadAdded(At(json, "added_tokens"), &file.added));
  ORDO_RETURN_IF_ERROR(ReadModel(At(json, "model"), &file));
  ORDO_RETURN_IF_ERROR(ReadPreTokenizer(At(json, "pre_tokenizer"), &file));
  return file;
}

}  // namespace ordo::model::text::tokenizers
