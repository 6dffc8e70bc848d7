#include "model/text/questions/scores.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::questions {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TextQuestion InWords(const std::vector<std::string>& references) {
  TextQuestion question;
  question.references = references;
  return question;
}

TextQuestion OfChoices(const std::vector<std::string>& choices, size_t right,
                       const std::string& group) {
  TextQuestion question;
  question.choices = choices;
  question.right_choice = right;
  question.group = group;
  return question;
}

// The set of the SCROLLS repository's own test.
TextQuestions Scrolls(Metric metric) {
  TextQuestions questions;
  questions.metric = metric;
  questions.items = {InWords({"exact match example"}),
                     InWords({"hello", "hi there"}),
                     InWords({"commander kenobi"})};
  return questions;
}
const std::vector<std::string>& Answers() {
  static const auto& answers = *new std::vector<std::string>{
      "exact match example", "hello there", "general kenobi"};
  return answers;
}

TEST(ScoresTest, RougeIsTheGeometricMeanOfTheMeans) {
  const TextScores scores = ScoreAnswers(Scrolls(Metric::kRouge), Answers());
  EXPECT_NEAR(scores.means.at("rouge1").value, 0.722222, 5e-7);
  EXPECT_NEAR(scores.means.at("rouge2").value, 0.333333, 5e-7);
  EXPECT_NEAR(scores.means.at("rougeL").value, 0.722222, 5e-7);
  EXPECT_NEAR(scores.means.at("rougeLsum").value, 0.722222, 5e-7);
  EXPECT_NEAR(scores.means.at("rouge").value, 0.558136, 5e-7);
}

TEST(ScoresTest, WithoutSentencesThereIsNoSumOverThem) {
  TextQuestions questions = Scrolls(Metric::kRouge);
  questions.lines_are_sentences = false;
  const TextScores scores = ScoreAnswers(questions, Answers());
  EXPECT_EQ(scores.means.count("rougeLsum"), 0u);
  EXPECT_NEAR(scores.means.at("rouge").value, 0.558136, 5e-7);
}

// By hand: rouge1 and rougeL are 1, 2/3 and 1/2 (mean 13/18), rouge2 is 1, 0
// and 0 (mean 1/3).
TEST(ScoresTest, TheErrorOfRougeIsThatOfWhatEachQuestionMovesItBy) {
  const TextScores scores = ScoreAnswers(Scrolls(Metric::kRouge), Answers());
  const double g = scores.means.at("rouge").value;
  const double r = 13.0 / 18;
  const double moved[] = {g / 3 * (2 / r + 3), g / 3 * (4.0 / 3 / r),
                          g / 3 * (1 / r)};
  double squares = 0;
  for (const double one : moved) squares += (one - g) * (one - g);
  EXPECT_NEAR(scores.means.at("rouge").standard_error,
              std::sqrt(squares / 2 / 3), 1e-12);
}

TEST(ScoresTest, ItemsOfRougeAreMeansOfItsKinds) {
  EXPECT_THAT(ScoreAnswers(Scrolls(Metric::kRouge), Answers()).items,
              ElementsAre(1, ::testing::DoubleEq((2.0 / 3 + 2.0 / 3) / 3),
                          ::testing::DoubleEq(1.0 / 3)));
}

TEST(ScoresTest, RougeWithoutAnyPairHasNoError) {
  TextQuestions questions;
  questions.metric = Metric::kRouge;
  questions.items = {InWords({"a b"}), InWords({"c d"})};
  const TextScores scores = ScoreAnswers(questions, {"b a", "d"});
  EXPECT_EQ(scores.means.at("rouge").value, 0);
  EXPECT_TRUE(std::isinf(scores.means.at("rouge").standard_error));
}

TEST(ScoresTest, AnswersInWordsHaveExactMatchAndF1) {
  const TextScores scores =
      ScoreAnswers(Scrolls(Metric::kExactMatch), Answers());
  EXPECT_NEAR(scores.means.at("exact_match").value, 1.0 / 3, 1e-12);
  EXPECT_NEAR(scores.means.at("f1").value, (1 + 2.0 / 3 + 0.5) / 3, 1e-12);
  EXPECT_THAT(scores.items, ElementsAre(1, 0, 0));
  EXPECT_THAT(scores.groups, IsEmpty());
}

TEST(ScoresTest, WhatFollowsAStopDoesNotCount) {
  TextQuestions questions = Scrolls(Metric::kExactMatch);
  questions.items.resize(1);
  const std::vector<std::string> answers = {"Exact match example\nQ: next"};
  EXPECT_EQ(ScoreAnswers(questions, answers).items[0], 0);
  questions.stops = {"\n"};
  EXPECT_EQ(ScoreAnswers(questions, answers).items[0], 1);
}

TEST(ScoresTest, ChoicesAreJudgedByTheirCharacters) {
  TextQuestions questions;
  questions.metric = Metric::kAccuracyPerCharacter;
  // By character -1.5 and -1.33, and -1.5 and -1.75: the last choice has four
  // characters in five bytes, by which it would be -1.4.
  questions.items = {OfChoices({"no", "yes"}, 1, ""),
                     OfChoices({"no", "yes\u00e9"}, 0, "")};
  const TextScores scores = ScoreChoices(questions, {{-3, -4}, {-3, -7}});
  EXPECT_EQ(scores.means.at("acc").value, 0.5);
  EXPECT_EQ(scores.means.at("acc_norm").value, 1);
  EXPECT_THAT(scores.items, ElementsAre(1, 1));
  EXPECT_THAT(scores.chosen, ElementsAre(1, 0));
  questions.metric = Metric::kAccuracy;
  EXPECT_THAT(ScoreChoices(questions, {{-3, -4}, {-3, -7}}).chosen,
              ElementsAre(0, 0));
}

TEST(ScoresTest, ChoicesThatAreNotFiniteAreWrongAndCounted) {
  TextQuestions questions;
  questions.metric = Metric::kAccuracy;
  for (int i = 0; i < 4; ++i) {
    questions.items.push_back(OfChoices({"A", "B"}, 0, ""));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const TextScores scores = ScoreChoices(
      questions, {{nan, nan}, {-1, nan}, {-1, -infinity}, {-1, -2}});
  EXPECT_EQ(scores.num_non_finite, 3u);
  EXPECT_THAT(scores.items, ElementsAre(0, 0, 0, 1));
  EXPECT_EQ(scores.means.at("acc").value, 0.25);
  EXPECT_EQ(scores.means.at("acc_norm").value, 0.25);
}

TEST(ScoresTest, QuestionsOfOneUnitAreDrawnTogether) {
  TextQuestions questions = Scrolls(Metric::kExactMatch);
  questions.items[0].unit = questions.items[1].unit = "page 1";
  questions.items[2].unit = "page 2";
  const TextScores scores = ScoreAnswers(questions, Answers());
  // Right is the first of three: the pages are 1/3 above the mean and below it.
  EXPECT_DOUBLE_EQ(scores.means.at("exact_match").value, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.means.at("exact_match").standard_error,
                   std::sqrt(2 * 2.0 / 9) / 3);
}

TEST(ScoresTest, GroupsAndCategoriesHaveTheirMeans) {
  TextQuestions questions;
  questions.metric = Metric::kAccuracy;
  for (const char* group : {"law", "law", "art", "art", "art", "sea"}) {
    questions.items.push_back(OfChoices({"A", "B"}, 0, group));
  }
  questions.categories = {{"law", "humanities"}, {"art", "humanities"}};
  const std::vector<double> right = {-1, -2};
  const std::vector<double> wrong = {-2, -1};
  const TextScores scores =
      ScoreChoices(questions, {right, wrong, right, right, wrong, right});
  EXPECT_DOUBLE_EQ(scores.groups.at("law").value, 0.5);
  EXPECT_DOUBLE_EQ(scores.groups.at("art").value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.categories.at("humanities").value, 0.6);
  EXPECT_EQ(scores.categories.size(), 1u);
  EXPECT_DOUBLE_EQ(scores.means.at("acc").value, 4.0 / 6);
  // Pooled: (1 * 1/4 * 2 + 2 * 1/9 * 3) / (6 - 3) / 6.
  EXPECT_DOUBLE_EQ(scores.means.at("acc").standard_error,
                   std::sqrt((0.5 + 2.0 / 3) / 3 / 6));
}

}  // namespace
}  // namespace ordo::model::text::questions
