#include "report/gate/account.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/gate/testing/accounts.h"
#include "report/gate/testing/comparisons.h"

namespace ordo::report::gate {
namespace {

using testing::Answers;
using ::testing::HasSubstr;
using testing::Margin;
using ::testing::Not;
using testing::OneOfEach;
using ::testing::StartsWith;

std::string SentenceAt(size_t index) {
  const Account account = OneOfEach(OnInconclusive::kInconclusive);
  return SentenceOf(account.decision.results[index], account.powers[index]);
}

TEST(SentenceTest, APassNamesWhatIsRuledOut) {
  EXPECT_THAT(SentenceAt(0),
              StartsWith("pass: a loss of the margin 0.05 or more is ruled "
                         "out: difference +0, interval ["));
  EXPECT_THAT(SentenceAt(0), HasSubstr("] on 1000 items."));
}

TEST(SentenceTest, APassOfWhatGotWorseSaysSo) {
  const Account account =
      MakeAccount(Decide(Margin(0.1), {Answers("a", {1000, 0, 50})}).value());
  EXPECT_THAT(SentenceOf(account.decision.results[0], account.powers[0]),
              StartsWith("pass: it got worse, by less than the margin 0.1: "
                         "difference -0.05, interval ["));
}

TEST(SentenceTest, AFailureSaysHowManyItemsGotWorse) {
  EXPECT_THAT(SentenceAt(2), StartsWith("fail: it got worse: difference -0.1"));
  EXPECT_THAT(SentenceAt(2), HasSubstr("100 items got worse and 0 better"));
}

TEST(SentenceTest, WhatIsInconclusiveSaysItsPowerAndWhatItWouldTake) {
  const Account account = OneOfEach(OnInconclusive::kInconclusive);
  EXPECT_THAT(SentenceAt(3), StartsWith("inconclusive: "));
  EXPECT_THAT(SentenceAt(3), HasSubstr("discordance that was seen, 0.04"));
  EXPECT_THAT(
      SentenceAt(3),
      HasSubstr("0.8 needs " + std::to_string(*account.powers[3].needed_items) +
                " items"));
}

TEST(SentenceTest, WithoutPowerItSaysWhyThereIsNone) {
  Comparison comparison = Answers("a", {10, 0, 0});
  comparison.items[0].candidate = 0.9;
  const Account account =
      MakeAccount(Decide(Margin(0.05), {comparison}).value());
  ASSERT_EQ(account.decision.results[0].gate.verdict,
            stats::Verdict::kInconclusive);
  EXPECT_THAT(SentenceOf(account.decision.results[0], account.powers[0]),
              HasSubstr(". Its power cannot be stated: too few scores differ"));
}

TEST(SentenceTest, UnitsAreNamedWhereItemsLieInThem) {
  Comparison comparison = Answers("a", {1000, 50, 50});
  for (size_t i = 0; i < comparison.items.size(); ++i) {
    comparison.items[i].unit = "d" + std::to_string(i / 10);
  }
  const Account account =
      MakeAccount(Decide(Margin(0.05), {comparison}).value());
  EXPECT_THAT(SentenceOf(account.decision.results[0], account.powers[0]),
              HasSubstr("1000 items in 100 units"));
}

TEST(SentenceTest, AVerdictThatCountsAsAnotherSaysSo) {
  Decision decision = Decide(Margin(0.05), {Answers("a", {50, 1, 1})}).value();
  EXPECT_EQ(SentenceOf(decision), "Verdict: inconclusive.");
  decision.outcome = stats::Verdict::kPass;
  EXPECT_THAT(SentenceOf(decision), HasSubstr("counts as pass"));
}

TEST(ShortenTest, CutsBetweenCharacters) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("abcd", 3), "abc ...");
  EXPECT_EQ(Shorten("ab\xC3\xA9", 3), "ab ...");
  EXPECT_EQ(Shorten("ab\xC3\xA9z", 4), "ab\xC3\xA9 ...");
}

}  // namespace
}  // namespace ordo::report::gate
