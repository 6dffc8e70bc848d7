#include "model/tasks/retrieval/fitted.h"

#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/bpe_tokenizer.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Of bytes, of which some that stand together are one token.
PromptTokens Tokens(bool begin = true) {
  auto tokenizer = text::tokenizers::ParseBpeTokenizer(
      text::tokenizers::testing::BpeJson(
          {"t h", "th e", "e r", "i n", "a n", "o u", "n d"})
          .dump(),
      {});
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return PromptTokens(*std::move(tokenizer), begin);
}

Item Draw(const RulerKind& kind, int64_t bytes) {
  base::RandomSequence random(1, "fitted");
  return kind.draw(bytes, &random);
}

TEST(Fitted, EveryKindFillsItsTokensWithText) {
  const PromptTokens tokens = Tokens();
  for (const RulerKind& kind : RulerKinds()) {
    const FittedSize size = {3000, kind.min_length - kind.output_tokens};
    const auto draw = [&](int64_t bytes) { return Draw(kind, bytes); };
    ORDO_ASSERT_OK_AND_ASSIGN(const Question question,
                              FittedQuestion(tokens, size, draw));
    ASSERT_EQ(question.prompt.size(), 3000u) << kind.name;
    EXPECT_EQ(question.prompt[0], tokens.tokenizer().begin_token());
    const std::string prompt = tokens.tokenizer().Decode(question.prompt);
    // What is left is shorter than the longest that is hidden.
    EXPECT_THAT(prompt, Not(HasSubstr(std::string(130, '\n')))) << kind.name;
    EXPECT_THAT(prompt, Not(HasSubstr("          "))) << kind.name;
    EXPECT_FALSE(question.references.empty()) << kind.name;
    const std::string answer = tokens.tokenizer().Decode(question.answer);
    EXPECT_EQ(ShareRight(MarkReferences(answer, question.references)), 1)
        << kind.name;
    ORDO_ASSERT_OK_AND_ASSIGN(const Question again,
                              FittedQuestion(tokens, size, draw));
    EXPECT_EQ(question.prompt, again.prompt) << kind.name;
  }
}

TEST(Fitted, NewLinesStandBeforeTheQuestion) {
  const PromptTokens tokens = Tokens(/*begin=*/false);
  const auto draw = [](int64_t bytes) {
    Item item;
    item.question_begin = static_cast<size_t>(bytes) - 3;
    item.prompt = "text" + std::string(item.question_begin - 4, ' ') + "\nb?";
    item.references = {"c"};
    return item;
  };
  ORDO_ASSERT_OK_AND_ASSIGN(const Question question,
                            FittedQuestion(tokens, {12, 9}, draw));
  EXPECT_EQ(tokens.tokenizer().Decode(question.prompt), "text\n\n\n\n\n\nb?");
}

TEST(Fitted, WhatDoesNotFitIsRefused) {
  const PromptTokens tokens = Tokens();
  const auto draw = [](int64_t bytes) {
    base::RandomSequence random(1, "fitted");
    return DrawNeedle(bytes, 50, &random);
  };
  EXPECT_THAT(FittedQuestion(tokens, {100, 448}, draw),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there is room for 100; raise the length")));
}

TEST(Fitted, TheQuestionStaysWhole) {
  const PromptTokens tokens = Tokens();
  const auto draw = [](int64_t bytes) {
    base::RandomSequence random(1, "fitted");
    return DrawNeedle(bytes, 50, &random);
  };
  ORDO_ASSERT_OK_AND_ASSIGN(const Question question,
                            FittedQuestion(tokens, {1500, 448}, draw));
  const std::string prompt = tokens.tokenizer().Decode(
      {question.prompt.begin() + 1, question.prompt.end()});
  EXPECT_THAT(prompt, StartsWith("Read this text; a question about it follows."
                                 "\n"));
  EXPECT_THAT(prompt, EndsWith("made of? Answer: It is made of"));
  EXPECT_THAT(prompt, HasSubstr("The best pie of "));
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
