#include "model/text/task/question_rows.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/bpe_tokenizer.h"
#include "model/text/tokenizers/byte_tokenizer.h"
#include "model/text/tokenizers/testing/bpe_json.h"
#include "nlohmann/json.hpp"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::StatusIs;
using questions::Metric;
using questions::TextQuestion;
using questions::TextQuestions;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class QuestionRowsTest : public ::testing::Test {
 protected:
  QuestionRowsTest() { options_.field = "params"; }

  static TextQuestion Asked(const std::string& prompt,
                            const std::vector<std::string>& choices = {}) {
    TextQuestion question;
    question.id = "q";
    question.prompt = prompt;
    question.choices = choices;
    return question;
  }
  static TextQuestions OfChoices(const std::string& prompt,
                                 const std::vector<std::string>& choices) {
    TextQuestions questions;
    questions.metric = Metric::kAccuracy;
    questions.items = {Asked(prompt, choices)};
    return questions;
  }
  static TextQuestions InWords(const std::string& prompt) {
    TextQuestions questions;
    questions.limits.answer_tokens = 4;
    questions.items = {Asked(prompt)};
    return questions;
  }
  absl::StatusOr<QuestionRows> Make(TextQuestions questions) {
    return MakeQuestionRows(*tokenizer_, options_, &questions);
  }
  // The text of a row, "<" for the mark of a beginning, and "|" before what is
  // scored.
  std::string TextOf(const QuestionRow& row) const {
    std::string text;
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      if (row.num_scored > 0 && i + row.num_scored == row.tokens.size()) {
        text += "|";
      }
      text += row.tokens[i] == tasks::kBegin
                  ? "<"
                  : tokenizer_->Decode({row.tokens[i]});
    }
    return text;
  }
  std::vector<std::string> TextsOf(const QuestionRows& made) const {
    std::vector<std::string> texts;
    for (const QuestionRow& row : made.rows) texts.push_back(TextOf(row));
    return texts;
  }

  std::unique_ptr<tokenizers::TextTokenizer> tokenizer_ =
      tokenizers::MakeByteTokenizer();
  QuestionRowOptions options_;
};

TEST_F(QuestionRowsTest, EachChoiceIsARowBehindThePrompt) {
  TextQuestions questions = OfChoices("2+2?", {"4", "five"});
  questions.items.push_back(Asked("A or B:", {"A", "B"}));
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made, Make(questions));
  EXPECT_THAT(TextsOf(made),
              ::testing::ElementsAre("<2+2?| 4", "<2+2?| five", "<A or B:| A",
                                     "<A or B:| B"));
  EXPECT_EQ(made.rows[1].question, 0u);
  EXPECT_EQ(made.rows[1].choice, 1u);
  EXPECT_EQ(made.rows[2].question, 1u);
  EXPECT_EQ(made.num_cut, 0);
}

TEST_F(QuestionRowsTest, AQuestionInWordsIsItsPromptAlone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made, Make(InWords("Who?")));
  EXPECT_THAT(TextsOf(made), ::testing::ElementsAre("<Who?"));
  EXPECT_EQ(made.rows[0].num_scored, 0u);
}

TEST_F(QuestionRowsTest, TheMarkIsLeftOutWhereThatIsSaid) {
  options_.begin = false;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made,
                            Make(OfChoices("2+2?", {"4", "5"})));
  EXPECT_EQ(TextOf(made.rows[0]), "2+2?| 4");
}

TEST_F(QuestionRowsTest, AndWhereTheTokenizerHasNone) {
  auto json = tokenizers::testing::BpeJson({});
  for (const size_t num_tokens : {7u, 6u}) {
    ORDO_ASSERT_OK_AND_ASSIGN(tokenizer_,
                              tokenizers::ParseBpeTokenizer(json.dump(), {}));
    ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made,
                              Make(OfChoices("2+2?", {"4", "5"})));
    EXPECT_EQ(made.rows[0].tokens.size(), num_tokens);
    json["added_tokens"] = nlohmann::ordered_json::array();
  }
}

TEST_F(QuestionRowsTest, ALongPromptLosesItsBeginningBehindTheMark) {
  options_.max_tokens = 8;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows of_choices,
                            Make(OfChoices("abcdefgh", {"x", "yyy"})));
  EXPECT_THAT(TextsOf(of_choices),
              ::testing::ElementsAre("<defgh| x", "<fgh| yyy"));
  EXPECT_EQ(of_choices.num_cut, 2);
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows in_words,
                            Make(InWords("abcdefgh")));
  EXPECT_THAT(TextsOf(in_words), ::testing::ElementsAre("<fgh"));
  EXPECT_EQ(in_words.num_cut, 1);
}

// As SCROLLS cuts: the end, which asks, stays.
TEST_F(QuestionRowsTest, OrItsMiddleWhereTheQuestionsSaySo) {
  TextQuestions questions = InWords("abcdefghijkl");
  questions.limits.head_tokens = 6;
  questions.limits.tail_tokens = 2;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made, Make(questions));
  EXPECT_EQ(TextOf(made.rows[0]), "<abcdekl");
  // The head makes room.
  options_.max_tokens = 9;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows shorter, Make(questions));
  EXPECT_EQ(TextOf(shorter.rows[0]), "<abkl");
}

TEST_F(QuestionRowsTest, APromptThatFitsIsWhole) {
  options_.max_tokens = 9;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made, Make(InWords("abcd")));
  EXPECT_EQ(TextOf(made.rows[0]), "<abcd");
  EXPECT_EQ(made.num_cut, 0);
}

TEST_F(QuestionRowsTest, NoRoomForAPromptIsRefusedWithTheFix) {
  options_.max_tokens = 4;
  EXPECT_THAT(Make(InWords("ab")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("params.max_tokens: question 'q'"),
                             HasSubstr("lower answer_tokens"))));
  EXPECT_THAT(Make(OfChoices("ab", {"x", "yyy"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("an answer of up to 4 tokens")));
}

TEST_F(QuestionRowsTest, NothingBeforeAnAnswerIsRefused) {
  options_.begin = false;
  EXPECT_THAT(Make(OfChoices("", {"x", "y"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("its prompt has no token")));
  options_.begin = true;
  ORDO_ASSERT_OK_AND_ASSIGN(const QuestionRows made,
                            Make(OfChoices("", {"x", "y"})));
  EXPECT_EQ(TextOf(made.rows[0]), "<| x");
}

TEST_F(QuestionRowsTest, TextThatIsNoUtf8NamesItsQuestion) {
  EXPECT_THAT(Make(InWords("\xff")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("question 'q': encode text")));
}

TEST_F(QuestionRowsTest, PromptsAreGivenAwayAndARequestToStopIsHeard) {
  TextQuestions questions = InWords("Who?");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const QuestionRows made,
      MakeQuestionRows(*tokenizer_, options_, &questions));
  EXPECT_THAT(made.rows, SizeIs(1));
  EXPECT_EQ(questions.items[0].prompt, "");
  options_.keep_going = [] { return absl::CancelledError("enough"); };
  EXPECT_THAT(Make(InWords("Who?")),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
}

}  // namespace
}  // namespace ordo::model::text::task
