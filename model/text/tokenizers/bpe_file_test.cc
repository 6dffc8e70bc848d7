#include "model/text/tokenizers/bpe_file.h"

#include <utility>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/split_pattern.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::StatusIs;
using testing::BpeJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Json = nlohmann::ordered_json;

auto PatternIs(const std::string& pattern) {
  return ::testing::Field(&BpeFile::Split::pattern, pattern);
}

TEST(ParseBpeFile, ReadsTokensAsBytes) {
  const auto file = ParseBpeFile(BpeJson({"\xC4\xA0 a"}).dump());
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->table.tokens.size(), 257);
  ASSERT_EQ(file->table.merges.size(), 1);
  EXPECT_EQ(file->table.merges[0].left, " ");
  EXPECT_EQ(file->table.merges[0].right, "a");
  EXPECT_FALSE(file->table.ignore_merges);
  EXPECT_THAT(file->splits, ElementsAre(PatternIs(kGpt2Pattern)));
  ASSERT_EQ(file->added.size(), 1);
  EXPECT_EQ(file->added[0].text, "<|endoftext|>");
  EXPECT_EQ(file->added[0].id, 257);
  EXPECT_TRUE(file->added[0].special);
}

TEST(ParseBpeFile, OldFilesDoNotNameTheModel) {
  Json json = BpeJson({"\xC4\xA0 a"});
  json["model"].erase("type");
  const auto file = ParseBpeFile(json.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->table.merges.size(), 1);
}

TEST(ParseBpeFile, MarksMayHaveAnyLetters) {
  Json json = BpeJson({});
  json["added_tokens"].push_back({{"id", 300}, {"content", "<| |>"}});
  json["model"]["vocab"]["<| |>"] = 300;
  const auto file = ParseBpeFile(json.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->table.tokens.size(), 256);
}

TEST(ParseBpeFile, ASplitMayBeText) {
  Json json = BpeJson({});
  json["pre_tokenizer"] = Json::parse(R"({
    "type": "Sequence", "pretokenizers": [
      {"type": "Split", "behavior": "Isolated", "pattern": {"String": "."}},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}]})");
  const auto file = ParseBpeFile(json.dump());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->splits,
              ElementsAre(PatternIs("\\."), PatternIs(kGpt2Pattern)));
}

TEST(ParseBpeFile, ReadsWhatBecomesOfMatches) {
  const std::pair<const char*, SplitBehavior> behaviors[] = {
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous},
  };
  for (const auto& [name, behavior] : behaviors) {
    Json split = Json::parse(R"({"type": "Split", "pattern": {"Regex": "a"}})");
    split["behavior"] = name;
    split["invert"] = behavior == SplitBehavior::kRemoved;
    Json json = BpeJson({});
    json["pre_tokenizer"] = {{"type", "Sequence"}};
    json["pre_tokenizer"]["pretokenizers"] = {
        split, {{"type", "ByteLevel"}, {"use_regex", false}}};
    const auto file = ParseBpeFile(json.dump());
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(file->splits.size(), 1);
    EXPECT_EQ(file->splits[0].rule.behavior, behavior);
    EXPECT_EQ(file->splits[0].rule.invert, name == std::string("Removed"));
  }
}

TEST(ParseBpeFile, NamesTheKeyThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"normalizer": {"type": "NFC"}})", "normalizer: must be null"},
      {R"({"model": {"type": "WordPiece"}})", "model.type: must be 'BPE'"},
      {R"({"model": {"byte_fallback": true}})", "model.byte_fallback: true"},
      {R"({"model": {"end_of_word_suffix": "</w>"}})",
       "model.end_of_word_suffix: must be empty"},
      {R"({"model": {"dropout": 0.1}})", "model.dropout: must be null"},
      {R"({"model": {"vocab": []}})", "model.vocab: must be an object"},
      {R"({"model": {"vocab": {"a": -1}}})", "model.vocab: 'a' must have"},
      {R"({"model": {"vocab": {"a": 98}}})", "must have an id of its own"},
      {R"({"model": {"vocab": {"a b": 300}}})", "model.vocab: 'a b' has let"},
      {R"({"model": {"merges": null}})", "model.merges: must be a list"},
      {R"({"model": {"merges": ["ab"]}})", "model.merges[0]: must be two"},
      {R"({"model": {"merges": [["a"]]}})", "model.merges[0]: must be two"},
      {R"({"added_tokens": [{"id": 1}]})", "added_tokens[0]: must have"},
      {R"({"added_tokens": [{"id": 1, "content": "a", "lstrip": true}]})",
       "added_tokens[0].lstrip: true"},
      {R"({"pre_tokenizer": null})", "pre_tokenizer.type: '' is not"},
      {R"({"pre_tokenizer": {"type": "Metaspace"}})",
       "pre_tokenizer.type: 'Metaspace' is not supported"},
      {R"({"pre_tokenizer": {"type": "Split", "behavior": "Isolated",
           "pattern": {"String": "a"}}})",
       "pre_tokenizer: must have ByteLevel"},
      {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
           {"type": "Split", "behavior": "Merged"}]}})",
       "pre_tokenizer.pretokenizers[0].behavior: 'Merged' is none"},
      {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
           {"type": "ByteLevel"}, {"type": "ByteLevel"}]}})",
       "pre_tokenizer.pretokenizers[1]: nothing may follow"},
  };
  for (const auto& [patch, message] : cases) {
    Json json = BpeJson({});
    // Deep, and unlike merge_patch it keeps what is null.
    const Json changes = Json::parse(patch);
    for (const auto& [key, value] : changes.items()) {
      if (key == "model") {
        json[key].update(value, /*merge_objects=*/true);
      } else {
        json[key] = value;
      }
    }
    EXPECT_THAT(
        ParseBpeFile(json.dump()).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << patch;
  }
}

TEST(ParseBpeFile, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "{"}) {
    EXPECT_THAT(ParseBpeFile(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not a JSON object")))
        << text;
  }
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
