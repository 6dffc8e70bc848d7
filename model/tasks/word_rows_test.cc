#include "model/tasks/word_rows.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

// Tokens 4, 5 and 6.
WordTokenizer Letters() {
  return WordTokenizer(Ids::kMarksAndWords, {"a", "b", "c"});
}

TEST(WordRows, AnAnswerAndItsEndCount) {
  const Sample sample = SampleOfWords(Letters(), "a b", "c a");
  EXPECT_THAT(sample.tokens, ElementsAre(4, 5, 6, 4, kEnd));
  EXPECT_THAT(sample.scored, ElementsAre(0, 0, 1, 1, 1));
}

TEST(WordRows, AnAnswerIsReadBehindItsPrompt) {
  const Question question = QuestionOfWords(Letters(), "a b", "c a", 6);
  EXPECT_THAT(question.prompt, ElementsAre(4, 5, 6, 4, kPad, kPad));
  EXPECT_THAT(question.answer, ElementsAre(6, 4, kEnd));
  EXPECT_THAT(question.places, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace ordo::model::tasks
