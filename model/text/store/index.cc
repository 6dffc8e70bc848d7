#include "model/text/store/index.h"

#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/digest/digest.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::store {
namespace {

using Json = nlohmann::ordered_json;

// Of the layout of the folder and its files.
constexpr int kVersion = 1;

constexpr char kVersionKey[] = "version";
constexpr char kTokenizer[] = "tokenizer_sha256";
constexpr char kVocabulary[] = "vocabulary_size";
constexpr char kType[] = "dtype";
constexpr char kShards[] = "shards";
constexpr char kTokens[] = "tokens";
constexpr char kDocuments[] = "documents";
constexpr char kTokensDigest[] = "tokens_sha256";
constexpr char kDocumentsDigest[] = "documents_sha256";
constexpr char kFingerprint[] = "fingerprint";

Json WithoutFingerprint(const StoreIndex& index) {
  Json json;
  json[kVersionKey] = kVersion;
  json[kTokenizer] = index.tokenizer_sha256;
  json[kVocabulary] = index.vocabulary_size;
  json[kType] = source::NameOf(index.type);
  json[kShards] = Json::array();
  for (const Shard& shard : index.shards) {
    json[kShards].push_back({{kTokens, shard.num_tokens},
                             {kDocuments, shard.num_documents},
                             {kTokensDigest, shard.tokens_sha256},
                             {kDocumentsDigest, shard.documents_sha256}});
  }
  return json;
}

std::string TextAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || !found->is_string() ? ""
                                                    : found->get<std::string>();
}

uint64_t CountAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || !found->is_number_unsigned()
             ? 0
             : found->get<uint64_t>();
}

}  // namespace

uint64_t StoreIndex::num_tokens() const {
  return std::accumulate(
      shards.begin(), shards.end(), uint64_t{0},
      [](uint64_t sum, const Shard& shard) { return sum + shard.num_tokens; });
}

uint64_t StoreIndex::num_documents() const {
  return std::accumulate(shards.begin(), shards.end(), uint64_t{0},
                         [](uint64_t sum, const Shard& shard) {
                           return sum + shard.num_documents;
                         });
}

std::string TokensName(size_t shard) {
  return absl::StrFormat("shard-%05d.tokens", shard);
}

std::string DocumentsName(size_t shard) {
  return absl::StrFormat("shard-%05d.documents", shard);
}

std::string Fingerprint(const StoreIndex& index) {
  return base::Sha256Hex(WithoutFingerprint(index).dump());
}

std::string IndexText(const StoreIndex& index) {
  Json json = WithoutFingerprint(index);
  json[kFingerprint] = Fingerprint(index);
  return json.dump(2) + "\n";
}

// Values that are missing or wrong read as empty: the fingerprint tells.
absl::StatusOr<StoreIndex> ParseIndex(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::DataLossError("the index of a token store is not JSON");
  }
  const uint64_t version = CountAt(json, kVersionKey);
  if (version != kVersion) {
    return absl::DataLossError(absl::StrCat("a token store has version ",
                                            version, "; this build reads ",
                                            kVersion, ": make it again"));
  }
  StoreIndex index;
  index.tokenizer_sha256 = TextAt(json, kTokenizer);
  index.vocabulary_size = static_cast<int64_t>(CountAt(json, kVocabulary));
  index.type = source::TokenTypeOf(TextAt(json, kType))
                   .value_or(source::TokenType::kUint16);
  const auto shards = json.find(kShards);
  if (shards != json.end() && shards->is_array()) {
    for (const Json& shard : *shards) {
      if (!shard.is_object()) continue;
      index.shards.push_back(
          {CountAt(shard, kTokens), CountAt(shard, kDocuments),
           TextAt(shard, kTokensDigest), TextAt(shard, kDocumentsDigest)});
    }
  }
  if (TextAt(json, kFingerprint) != Fingerprint(index)) {
    return absl::DataLossError(
        "the index of a token store is damaged: its fingerprint is not that "
        "of what it says; make the store again");
  }
  if (index.vocabulary_size < 1 || index.vocabulary_size > kMaxVocabularySize ||
      index.type != source::TypeForVocabulary(index.vocabulary_size)) {
    return absl::DataLossError(absl::StrCat(
        "the index of a token store has a vocabulary of ",
        index.vocabulary_size, " in tokens of ", source::NameOf(index.type),
        ", which none has; make the store again"));
  }
  return index;
}

void AppendRecord(const DocumentRecord& record, std::string* bytes) {
  for (const uint64_t value : {record.num_tokens, record.facts.num_bytes,
                               record.facts.num_words, record.facts.hash}) {
    for (int i = 0; i < 8; ++i) {
      bytes->push_back(static_cast<char>(value >> (8 * i)));
    }
  }
}

DocumentRecord ParseRecord(std::string_view bytes) {
  ORDO_CHECK(bytes.size() == kRecordBytes);
  const auto value = [&](size_t field) {
    uint64_t read = 0;
    for (size_t i = 0; i < 8; ++i) {
      const auto byte = static_cast<uint8_t>(bytes[8 * field + i]);
      read |= static_cast<uint64_t>(byte) << (8 * i);
    }
    return read;
  };
  return {value(0), {value(1), value(2), value(3)}};
}

}  // namespace ordo::model::text::store
