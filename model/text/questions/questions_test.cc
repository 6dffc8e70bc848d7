#include "model/text/questions/questions.h"

#include <utility>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/questions/layouts.h"

namespace ordo::model::text::questions {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(QuestionsTest, MetricsHaveOneNameEach) {
  for (const std::string& name : MetricNames()) {
    ASSERT_TRUE(MetricOf(name).has_value()) << name;
    EXPECT_EQ(NameOf(*MetricOf(name)), name);
  }
  EXPECT_STREQ(NameOf(Metric::kRouge), "rouge");
  EXPECT_STREQ(NameOf(Metric::kAccuracyPerCharacter), "acc_norm");
  EXPECT_FALSE(MetricOf("accuracy").has_value());
  EXPECT_TRUE(IsOfChoices(Metric::kAccuracyPerCharacter));
  EXPECT_FALSE(IsOfChoices(Metric::kRouge));
}

TEST(QuestionsTest, ExamplesStandBetweenDescriptionAndQuestion) {
  EXPECT_EQ(JoinPrompt({"Say it.\n", {"Q1 A1", "Q2 A2"}, "--", "Q3"}),
            "Say it.\nQ1 A1--Q2 A2--Q3");
  EXPECT_EQ(JoinPrompt({"", {}, "--", "Q"}), "Q");
}

TEST(QuestionsTest, ChoicesAreSeveralAndDiffer) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CheckChoices("c", {"a", "b"}), IsOk());
  EXPECT_THAT(CheckChoices("c", {"a"}),
              StatusIs(kInvalid, HasSubstr("c: must be at least two")));
  EXPECT_THAT(CheckChoices("c", {"a", ""}),
              StatusIs(kInvalid, HasSubstr("one is empty")));
  EXPECT_THAT(CheckChoices("c", {"a", "b", "a"}),
              StatusIs(kInvalid, HasSubstr("'a' is there twice")));
}

TEST(QuestionsTest, LongPromptsKeepHeadAndTail) {
  AnswerLimits limits;
  limits.head_tokens = 3;
  limits.tail_tokens = 1;
  EXPECT_THAT(CutPrompt(limits, {1, 2, 3, 4, 5, 6}), ElementsAre(1, 2, 3, 6));
  EXPECT_THAT(CutPrompt(limits, {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(CutPrompt(AnswerLimits(), {1, 2, 3}), ElementsAre(1, 2, 3));
}

TEST(QuestionsTest, LimitsGiveWayAtTheHeadFirst) {
  AnswerLimits limits;
  limits.head_tokens = 7;
  limits.tail_tokens = 2;
  const auto within = [&](size_t room) {
    const AnswerLimits found = LimitsWithin(limits, room);
    return std::make_pair(found.head_tokens, found.tail_tokens);
  };
  EXPECT_EQ(within(10), std::make_pair(size_t{7}, size_t{2}));
  EXPECT_EQ(within(9), std::make_pair(size_t{7}, size_t{2}));
  EXPECT_EQ(within(5), std::make_pair(size_t{3}, size_t{2}));
  EXPECT_EQ(within(1), std::make_pair(size_t{0}, size_t{1}));
}

TEST(QuestionsTest, AnswersEndBeforeTheFirstStop) {
  EXPECT_EQ(CutAtStops({"\n", "Q:"}, "Rome Q: and\nmore"), "Rome ");
  EXPECT_EQ(CutAtStops({"\n"}, "Rome"), "Rome");
  EXPECT_EQ(CutAtStops({}, "a\nb"), "a\nb");
}

}  // namespace
}  // namespace ordo::model::text::questions
