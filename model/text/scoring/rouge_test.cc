#include "model/text/scoring/rouge.h"

#include "gtest/gtest.h"
#include "model/text/scoring/matches.h"

namespace ordo::model::text::scoring {
namespace {

TEST(RougeTest, WordsAreRunsOfLettersAndDigits) {
  EXPECT_DOUBLE_EQ(RougeOf("It's 3,000!", "it s 3 000").rouge1, 1);
  // The accent parts the word; the sign of kelvin is a K to Python.
  EXPECT_DOUBLE_EQ(RougeOf("na\xC3\xAFve", "na ve").rouge1, 1);
  EXPECT_DOUBLE_EQ(RougeOf("\xE2\x84\xAA", "k").rouge1, 1);
}

TEST(RougeTest, WordsAreNotStemmed) {
  EXPECT_EQ(RougeOf("running", "run").rouge1, 0);
}

TEST(RougeTest, GramsCountAsOftenAsBothHaveThem) {
  const Rouge rouge = RougeOf("the the the cat", "the cat the");
  // Words 3 of 4 and 3 of 3; pairs 1 of 3 ("the cat") and 1 of 2.
  EXPECT_DOUBLE_EQ(rouge.rouge1, 2 * 0.75 / 1.75);
  EXPECT_DOUBLE_EQ(rouge.rouge2, 0.4);
}

TEST(RougeTest, TextsWithoutWordsGiveZero) {
  for (const Rouge& rouge : {RougeOf("", "a"), RougeOf("a", "!"),
                             RougeOf("", ""), BestRouge("a", {})}) {
    EXPECT_EQ(rouge.rouge1, 0);
    EXPECT_EQ(rouge.rouge2, 0);
    EXPECT_EQ(rouge.rouge_l, 0);
    EXPECT_EQ(rouge.rouge_lsum, 0);
  }
  EXPECT_EQ(RougeOf("word", "word").rouge2, 0);
}

// The golden values below and in tests/golden/scoring: rouge_score 0.1.2.
TEST(RougeTest, LinesMatterToTheSumOnly) {
  const Rouge one = RougeOf("b c\na", "a b c");
  EXPECT_NEAR(one.rouge_l, 0.666666666667, 1e-12);
  EXPECT_NEAR(one.rouge_lsum, 1, 1e-12);
  const Rouge other = RougeOf("b c a", "a b c");
  EXPECT_NEAR(other.rouge_l, 0.666666666667, 1e-12);
  EXPECT_NEAR(other.rouge_lsum, 0.666666666667, 1e-12);
}

TEST(RougeTest, EachKindTakesItsOwnBestReference) {
  const std::vector<std::string> references = {"c b a", "a b x y z"};
  const Rouge best = BestRouge("a b c", references);
  EXPECT_DOUBLE_EQ(best.rouge1, 1);  // of the first
  EXPECT_DOUBLE_EQ(best.rouge2,
                   RougeOf("a b c", references[1]).rouge2);  // of the second
  EXPECT_GT(best.rouge2, RougeOf("a b c", references[0]).rouge2);
}

// The test of the SCROLLS repository: what its metric prints for its README's
// example.
TEST(RougeTest, TheExampleOfScrollsHasItsScores) {
  const std::vector<std::string> predictions = {
      "exact match example", "hello there", "general kenobi"};
  const std::vector<std::vector<std::string>> references = {
      {"exact match example"}, {"hello", "hi there"}, {"commander kenobi"}};
  Rouge mean;
  double exact = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const Rouge best = BestRouge(predictions[i], references[i]);
    mean.rouge1 += best.rouge1 / 3;
    mean.rouge2 += best.rouge2 / 3;
    mean.rouge_l += best.rouge_l / 3;
    mean.rouge_lsum += best.rouge_lsum / 3;
    exact += IsExactMatch(predictions[i], references[i]) ? 1.0 / 3 : 0;
  }
  EXPECT_NEAR(100 * mean.rouge1, 72.2222, 5e-5);
  EXPECT_NEAR(100 * mean.rouge2, 33.3333, 5e-5);
  EXPECT_NEAR(100 * mean.rouge_l, 72.2222, 5e-5);
  EXPECT_NEAR(100 * mean.rouge_lsum, 72.2222, 5e-5);
  EXPECT_NEAR(100 * GeometricMean(mean), 55.8136, 5e-5);
  EXPECT_NEAR(100 * exact, 33.3333, 5e-5);
}

}  // namespace
}  // namespace ordo::model::text::scoring
