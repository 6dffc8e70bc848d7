#include "model/text/tokenizers/sentence_piece/sentence_piece_tokenizer.h"

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/sentence_piece/load.h"

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kPath[] =
    "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";

const Library* GetLibrary() {
  const auto library = LoadLibrary(kPath);
  EXPECT_TRUE(library.ok()) << library.status();
  return *library;
}

// Fields of protocol buffers, by hand: length-delimited, and others.
std::string Field(int number, const std::string& bytes) {
  std::string text;
  text.push_back(static_cast<char>(number << 3 | 2));
  text.push_back(static_cast<char>(bytes.size()));
  return text + bytes;
}
std::string Number(int number, int value) {
  std::string text;
  text.push_back(static_cast<char>(number << 3));
  text.push_back(static_cast<char>(value));
  return text;
}
// A piece: 1 text, 2 score, 3 type (1 normal, 2 unknown, 3 control, 6 byte).
std::string Piece(const std::string& text, float score, int type) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &score, 4);
  return Field(
      1, Field(1, text) + std::string(1, 2 << 3 | 5) + bytes + Number(3, type));
}

// BPE as Llama-2's in small: 0 <unk>, 1 <s>, 2 </s>, 3 to 258 the bytes, then
// 259 _h, 260 he, 261 _he, 262 ll, 263 llo, 264 _hello, 265 _, 266 h, 267 e,
// 268 l, 269 o. _ is U+2581. The higher the score, the earlier it is joined.
std::string Model() {
  const std::string blank = "\xE2\x96\x81";
  std::string model =
      Piece("<unk>", 0, 2) + Piece("<s>", 0, 3) + Piece("</s>", 0, 3);
  const char digits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    model += Piece(
        std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0, 6);
  }
  float score = 0;
  for (const std::string& text :
       {blank + "h", std::string("he"), blank + "he", std::string("ll"),
        std::string("llo"), blank + "hello", blank, std::string("h"),
        std::string("e"), std::string("l"), std::string("o")}) {
    model += Piece(text, score--, 1);
  }
  // Trainer: 3 BPE, 35 byte fallback. Normaliser: 3 a blank first, 4 keep runs
  // of blanks, 5 blanks as U+2581.
  const std::string byte_fallback = "\x98\x02\x01";
  model += Field(2, Number(3, 2) + byte_fallback);
  model += Field(
      3, Field(1, "identity") + Number(3, 1) + Number(4, 0) + Number(5, 1));
  return model;
}

std::unique_ptr<TextTokenizer> Parse() {
  auto tokenizer = ParseSentencePiece(GetLibrary(), Model());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

TEST(SentencePieceTokenizer, JoinsByScoreBehindABlank) {
  const auto tokenizer = Parse();
  EXPECT_EQ(tokenizer->vocabulary_size(), 270);
  EXPECT_THAT(tokenizer->Encode("hello"), IsOkAndHolds(ElementsAre(264)));
  EXPECT_THAT(tokenizer->Encode("hell"), IsOkAndHolds(ElementsAre(261, 262)));
  EXPECT_THAT(tokenizer->Encode(" oh"),
              IsOkAndHolds(ElementsAre(265, 265, 269, 266)));
}

TEST(SentencePieceTokenizer, LettersWithoutAPieceBecomeBytes) {
  const auto tokenizer = Parse();
  EXPECT_THAT(tokenizer->Encode("o\xC3\xA9\n"),
              IsOkAndHolds(ElementsAre(265, 269, 3 + 0xC3, 3 + 0xA9, 3 + 10)));
  EXPECT_EQ(tokenizer->Decode({265, 269, 3 + 0xC3, 3 + 0xA9}), "o\xC3\xA9");
  EXPECT_EQ(tokenizer->Decode({265, 269, 3 + 0xC3}), "o\xEF\xBF\xBD");
}

TEST(SentencePieceTokenizer, DecodesIdsThatAreNone) {
  EXPECT_EQ(Parse()->Decode({264, 270, -1, 269}), "hello??o");
}

TEST(SentencePieceTokenizer, HasTheModelsMarks) {
  EXPECT_FALSE(Parse()->has_marks());
  EXPECT_EQ(Parse()->begin_token(), 1);
  EXPECT_EQ(Parse()->end_token(), 2);
}

TEST(SentencePieceTokenizer, NamesOfMarksAreText) {
  const auto tokens = Parse()->Encode("</s>");
  ASSERT_TRUE(tokens.ok());
  EXPECT_THAT(*tokens, ::testing::Not(::testing::Contains(2)));
}

TEST(SentencePieceTokenizer, RefusesWhatIsNoModelOrNoText) {
  EXPECT_THAT(ParseSentencePiece(GetLibrary(), "no model").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("read a SentencePiece model: ")));
  EXPECT_THAT(Parse()->Encode("a\xFF"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("byte 1 is not UTF-8")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers::sentence_piece
