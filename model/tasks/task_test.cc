#include "model/tasks/task.h"

#include <vector>

#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

TEST(ReadAtPlaces, EachTokenIsReadBeforeItStandsAndTheLastIsOnlySaid) {
  Question question = {{5, 6}, {7, 8, kEnd}};
  ReadAtPlaces(6, &question);
  EXPECT_EQ(question.prompt, (std::vector<int64_t>{5, 6, 7, 8, kPad, kPad}));
  EXPECT_EQ(question.places, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(question.answer, (std::vector<int64_t>{7, 8, kEnd}));
}

TEST(IsRight, TakesNoWrongToken) {
  EXPECT_TRUE(IsRight({1, 1, 1}));
  EXPECT_FALSE(IsRight({1, 0, 1}));
  EXPECT_FALSE(IsRight({0}));
}

TEST(ShareRight, CountsTheTokensThatAre) {
  EXPECT_EQ(ShareRight({1}), 1);
  EXPECT_EQ(ShareRight({0}), 0);
  EXPECT_EQ(ShareRight({1, 0, 1, 1}), 0.75);
}

TEST(MarkReferences, EachIsLookedForInCapitalsOrNot) {
  EXPECT_EQ(MarkReferences(" Salt, and PEPPER.", {"salt", "Pepper", "oil"}),
            (Marks{1, 1, 0}));
  EXPECT_EQ(MarkReferences("", {"salt"}), Marks{0});
  // The sign of kelvin, whose small letter is k, and what is no UTF-8.
  EXPECT_EQ(MarkReferences("\xe2\x84\xaaG \xff", {"KG", "g \xff"}),
            (Marks{1, 1}));
}

TEST(IsExactMatch, TakesTheAnswerAndWhatFollowsItsEnd) {
  EXPECT_TRUE(IsExactMatch({5, 6, kEnd}, {5, 6, kEnd}));
  EXPECT_TRUE(IsExactMatch({5, kEnd, 9, kEnd}, {5, kEnd}));
}

TEST(IsExactMatch, RefusesAMissingEnd) {
  EXPECT_FALSE(IsExactMatch({5, 6, 7}, {5, 6, kEnd}));
  EXPECT_FALSE(IsExactMatch({5, 6}, {5, 6, kEnd}));
}

TEST(IsExactMatch, RefusesAWrongOrShorterOrLongerAnswer) {
  EXPECT_FALSE(IsExactMatch({6, 5, kEnd}, {5, 6, kEnd}));
  EXPECT_FALSE(IsExactMatch({5, kEnd, 6}, {5, 6, kEnd}));
  EXPECT_FALSE(IsExactMatch({5, 6, 7, kEnd}, {5, 6, kEnd}));
}

}  // namespace
}  // namespace ordo::model::tasks
