#include "model/text/tokenizers/byte_tokenizer.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ByteTokenizer, ATokenIsAByteAndFour) {
  const auto tokenizer = MakeByteTokenizer();
  EXPECT_EQ(tokenizer->vocabulary_size(), 260);
  EXPECT_THAT(tokenizer->Encode("a\xC3\xA9"),
              IsOkAndHolds(ElementsAre(101, 199, 173)));
}

TEST(ByteTokenizer, AllTextComesBack) {
  const auto tokenizer = MakeByteTokenizer();
  std::string text(1, '\0');
  for (char c = 1; c < 127; ++c) text.push_back(c);
  text += "\xDF\xBF\xEF\xBF\xBF\xF4\x8F\xBF\xBF";
  const auto tokens = tokenizer->Encode(text);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokenizer->Decode(*tokens), text);
}

TEST(ByteTokenizer, MarksGiveNothingAndOthersAQuestionMark) {
  const auto tokenizer = MakeByteTokenizer();
  EXPECT_EQ(tokenizer->Decode({tasks::kBegin, 101, tasks::kEnd, tasks::kPad}),
            "a");
  EXPECT_EQ(tokenizer->Decode({260, 101, -1}), "?a?");
}

TEST(ByteTokenizer, DecodesPartsOfCharactersAsReplacements) {
  EXPECT_EQ(MakeByteTokenizer()->Decode({199, 101}),
            "\xEF\xBF\xBD"
            "a");
}

TEST(ByteTokenizer, RefusesWhatIsNotUtf8) {
  EXPECT_THAT(MakeByteTokenizer()->Encode("ab\xFF"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("byte 2 is not UTF-8")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
