#include "model/text/tokenizers/sentence_piece/train.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/digest/digest.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/sentence_piece/load.h"
#include "model/text/tokenizers/sentence_piece/sentence_piece_tokenizer.h"

// Training and using a model: there is none to copy.

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kPath[] =
    "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";

const Library* GetLibrary() {
  const auto library = LoadLibrary(kPath);
  EXPECT_TRUE(library.ok()) << library.status();
  return *library;
}

Documents Of(std::vector<std::string> texts) {
  auto next = std::make_shared<size_t>(0);
  return [next, texts = std::move(
                    texts)]() -> absl::StatusOr<std::optional<std::string>> {
    if (*next == texts.size()) return std::optional<std::string>();
    return std::optional<std::string>(texts[(*next)++]);
  };
}

std::vector<std::string> Texts() {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) {
    texts.push_back(
        "the cat sat on the mat\nand the dog sat on the cat, while "
        "another animal watched them from the garden wall " +
        std::to_string(i));
  }
  return texts;
}

TrainOptions Small(Kind kind) {
  TrainOptions options;
  options.kind = kind;
  options.vocabulary_size = 300;
  return options;
}

std::unique_ptr<TextTokenizer> Train(Kind kind) {
  const auto bytes = TrainSentencePiece(GetLibrary(), Small(kind), Of(Texts()));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  auto tokenizer = ParseSentencePiece(GetLibrary(), *bytes);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->digest(), base::Sha256Hex(*bytes));
  return *std::move(tokenizer);
}

TEST(TrainSentencePiece, AllTextComesBackFromItsTokens) {
  for (const Kind kind : {Kind::kBpe, Kind::kUnigram}) {
    const auto tokenizer = Train(kind);
    EXPECT_EQ(tokenizer->vocabulary_size(), 300);
    for (const std::string text : {"the cat", "  two  blanks ",
                                   "q\xC3\xA9\xF0\x9F\x98\x80\n\tZ", "12"}) {
      const auto tokens = tokenizer->Encode(text);
      ASSERT_TRUE(tokens.ok()) << tokens.status();
      EXPECT_EQ(tokenizer->Decode(*tokens), text);
    }
  }
}

TEST(TrainSentencePiece, WhatIsOftenIsOneToken) {
  const auto tokenizer = Train(Kind::kBpe);
  EXPECT_EQ(tokenizer->Encode("the")->size(), 1);
  // Letters without a piece become bytes; a blank is put first.
  EXPECT_EQ(tokenizer->Encode("\xD0\x96")->size(), 3);
}

TEST(TrainSentencePiece, TheSameTextMakesTheSameModel) {
  for (const Kind kind : {Kind::kBpe, Kind::kUnigram}) {
    const auto first =
        TrainSentencePiece(GetLibrary(), Small(kind), Of(Texts()));
    const auto second =
        TrainSentencePiece(GetLibrary(), Small(kind), Of(Texts()));
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(base::Sha256Hex(*first), base::Sha256Hex(*second));
  }
}

TEST(TrainSentencePiece, LongLinesAreReadInParts) {
  // All of the letter x stands behind the longest line that the library takes.
  std::string line;
  for (int i = 0; i < 2000; ++i) line += "ab ";
  for (int i = 0; i < 2000; ++i) line += "xy \xC3\xA9 ";
  TrainOptions options = Small(Kind::kBpe);
  options.vocabulary_size = 272;
  const auto bytes = TrainSentencePiece(GetLibrary(), options, Of({line}));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto tokenizer = ParseSentencePiece(GetLibrary(), *bytes);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->Encode("xy")->size(), 1);
}

TEST(TrainSentencePiece, ReadsNoMoreThanAskedFor) {
  int asked = 0;
  TrainOptions options = Small(Kind::kBpe);
  options.vocabulary_size = 266;
  options.max_bytes = 100;
  const Documents documents =
      [&]() -> absl::StatusOr<std::optional<std::string>> {
    ++asked;
    return std::optional<std::string>("abc def abc def abc def abc def abc ab");
  };
  ASSERT_TRUE(TrainSentencePiece(GetLibrary(), options, documents).ok());
  EXPECT_EQ(asked, 3);
}

TEST(TrainSentencePiece, RefusesAVocabularyThatDoesNotFitTheTextWithWhatDoes) {
  for (const Kind kind : {Kind::kBpe, Kind::kUnigram}) {
    TrainOptions options = Small(kind);
    options.vocabulary_size = 5000;
    EXPECT_THAT(TrainSentencePiece(GetLibrary(), options, Of(Texts())).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ContainsRegex("train a SentencePiece model: a "
                                       "vocabulary of 5000 tokens is too large "
                                       "for this text: [0-9]+ at most$")));
    options.vocabulary_size = 262;
    EXPECT_THAT(TrainSentencePiece(GetLibrary(), options, Of(Texts())).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ContainsRegex("a vocabulary of 262 tokens is too "
                                       "small for the characters of this text: "
                                       "[0-9]+ at least$")));
  }
}

TEST(TrainSentencePiece, PassesErrorsOfDocumentsOn) {
  EXPECT_THAT(
      TrainSentencePiece(GetLibrary(), Small(Kind::kBpe),
                         []() -> absl::StatusOr<std::optional<std::string>> {
                           return absl::DataLossError("a.gz breaks off");
                         })
          .status(),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("a.gz")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers::sentence_piece
