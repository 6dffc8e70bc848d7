#include "model/text/tokenizers/bpe_tokenizer.h"

#include <vector>

#include "absl/status/status.h"
#include "base/digest/digest.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using testing::BpeJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Json = nlohmann::ordered_json;

// As in the files of GPT-2 and Llama-3, U+0120 is a blank.
#define BLANK "\xC4\xA0"

// 256 he, 257 ll, 258 hell, 259 hello, 260 " w", 261 or, 262 " wor", 263 ld,
// 264 " world", 265 <|endoftext|>.
Json Hello() {
  return BpeJson({"h e", "l l", "he ll", "hell o", BLANK " w", "o r",
                  BLANK "w or", "l d", BLANK "wor ld"});
}

// Cut as Llama-3's file says.
Json Llama3(Json json) {
  json["pre_tokenizer"] = Json::parse(R"({
    "type": "Sequence", "pretokenizers": [
      {"type": "Split", "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
       "use_regex": false}]})");
  json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  json["model"]["ignore_merges"] = true;
  return json;
}

std::unique_ptr<TextTokenizer> Parse(const Json& json,
                                     const BpeTokenizerOptions& options = {}) {
  auto tokenizer = ParseBpeTokenizer(json.dump(), options);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

// The expected ids of the next two tests were compared with those of the
// Python package tokenizers 0.23.3 on the same files.

TEST(BpeTokenizer, EncodesAsGpt2) {
  const auto tokenizer = Parse(Hello());
  EXPECT_EQ(tokenizer->vocabulary_size(), 266);
  EXPECT_THAT(tokenizer->Encode("hello world"),
              IsOkAndHolds(ElementsAre(259, 264)));
  EXPECT_THAT(tokenizer->Encode("hell  worlds\n"),
              IsOkAndHolds(ElementsAre(258, 32, 264, 115, 10)));
  EXPECT_THAT(tokenizer->Encode("h\xC3\xA9llo"),
              IsOkAndHolds(ElementsAre(104, 195, 169, 257, 111)));
  EXPECT_THAT(tokenizer->Encode(""), IsOkAndHolds(IsEmpty()));
}

TEST(BpeTokenizer, EncodesAsLlama3) {
  Json json = Llama3(Hello());
  // A token that no merges lead to.
  json["model"]["vocab"]["123"] = 266;
  const auto tokenizer = Parse(json);
  EXPECT_THAT(tokenizer->Encode("hello world1234"),
              IsOkAndHolds(ElementsAre(259, 264, 266, 52)));
  // U+00A0 is no letter: it stays with those that follow.
  EXPECT_THAT(tokenizer->Encode("\xC2\xA0hello\n\n"),
              IsOkAndHolds(ElementsAre(194, 160, 259, 10, 10)));
}

TEST(BpeTokenizer, TakesMergesAsListsToo) {
  Json json = Hello();
  for (Json& merge : json["model"]["merges"]) {
    const std::string text = merge;
    const size_t blank = text.find(' ');
    merge = {text.substr(0, blank), text.substr(blank + 1)};
  }
  EXPECT_THAT(Parse(json)->Encode("hello world"),
              IsOkAndHolds(ElementsAre(259, 264)));
}

TEST(BpeTokenizer, NamesOfSpecialTokensAreTextUnlessAskedFor) {
  const std::string text = "hello<|endoftext|> world";
  const auto plain = Parse(Hello());
  EXPECT_THAT(plain->Encode(text),
              IsOkAndHolds(ElementsAre(259, '<', '|', 'e', 'n', 'd', 'o', 'f',
                                       't', 'e', 'x', 't', '|', '>', 264)));
  const auto matching = Parse(Hello(), {"", "", true});
  EXPECT_THAT(matching->Encode(text), IsOkAndHolds(ElementsAre(259, 265, 264)));
  EXPECT_EQ(matching->Decode({259, 265, 264}), text);
}

TEST(BpeTokenizer, OfTwoAddedTokensTheLongerIsMeant) {
  Json json = Hello();
  for (const char* content : {"ab", "abc", "b"}) {
    json["added_tokens"].push_back(
        {{"id", 265 + json["added_tokens"].size()}, {"content", content}});
  }
  // 266 ab, 267 abc, 268 b.
  EXPECT_THAT(Parse(json)->Encode("abcabb"),
              IsOkAndHolds(ElementsAre(267, 266, 268)));
}

TEST(BpeTokenizer, PutsABlankFirstWhereTheFileSaysSo) {
  Json json = Hello();
  json["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_THAT(Parse(json)->Encode("world"), IsOkAndHolds(ElementsAre(264)));
  EXPECT_THAT(Parse(json)->Encode(" world"), IsOkAndHolds(ElementsAre(264)));
}

TEST(BpeTokenizer, AllTextComesBack) {
  const auto tokenizer = Parse(Llama3(Hello()));
  const std::string text =
      "hello  world's\t\xE2\x82\xAC\r\n\xF0\x9F\x98\x80 12345 '\xD0\x96'";
  const auto tokens = tokenizer->Encode(text);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokenizer->Decode(*tokens), text);
}

TEST(BpeTokenizer, DecodesPartsOfCharactersAndIdsThatAreNone) {
  const auto tokenizer = Parse(Hello());
  EXPECT_EQ(tokenizer->Decode({195, 104}), "\xEF\xBF\xBDh");
  EXPECT_EQ(tokenizer->Decode({-1, 104, 266}), "?h?");
}

TEST(BpeTokenizer, KnowsTheUsualMarksOfDocuments) {
  EXPECT_FALSE(Parse(Hello())->has_marks());
  EXPECT_EQ(Parse(Hello())->begin_token(), 265);
  EXPECT_EQ(Parse(Hello())->end_token(), 265);
  Json json = Hello();
  json["added_tokens"].push_back(
      {{"id", 266}, {"content", "<|begin_of_text|>"}, {"special", true}});
  EXPECT_EQ(Parse(json)->begin_token(), 266);
  EXPECT_EQ(Parse(json)->end_token(), 265);
  EXPECT_EQ(Parse(json, {"hello", "", false})->begin_token(), 259);
  EXPECT_THAT(ParseBpeTokenizer(json.dump(), {"", "</end>", false}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("end: the tokenizer has no token '</end>'")));
}

TEST(BpeTokenizer, ItsDigestIsThatOfTheFile) {
  EXPECT_EQ(Parse(Hello())->digest(), base::Sha256Hex(Hello().dump()));
}

TEST(BpeTokenizer, MatchingSpecialTokensMakesAnotherDigest) {
  const auto matching = Parse(Hello(), {"", "", true});
  EXPECT_NE(matching->digest(), Parse(Hello())->digest());
  EXPECT_EQ(matching->digest(), Parse(Hello(), {"", "", true})->digest());
  EXPECT_EQ(matching->digest().size(), 64);
}

TEST(BpeTokenizer, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(Parse(Hello())->Encode("ab\xFF"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("byte 2 is not UTF-8")));
}

TEST(BpeTokenizer, RefusesIdsFarBeyondTheTokens) {
  Json json = Hello();
  json["model"]["vocab"]["xyz"] = 2000000000;
  EXPECT_THAT(ParseBpeTokenizer(json.dump(), {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("id 2000000000 is far beyond")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
