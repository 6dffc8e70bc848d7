#include "report/runs/groups.h"

#include <cmath>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/statistics.h"
#include "report/summary/testing/drawing_test.h"

namespace ordo::report::runs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using GroupPlotTest = summary::testing::DrawingTest;

constexpr char kResult[] = R"({"task": "questions", "metric": "acc_norm",
  "groups": {
  "virology": {"value": 0.5, "questions": 1},
  "anatomy": {"value": 0.75, "standard_error": 0.1, "questions": 20,
              "units": 20}}})";

TEST(ParseGroupsTest, GroupsStandByName) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups, ParseGroups(kResult));
  ASSERT_THAT(groups.rows, SizeIs(2));
  EXPECT_EQ(groups.rows[0].name, "anatomy");
  EXPECT_EQ(groups.rows[0].score, 0.75);
  // Wilson's of as many questions as have that error, 19.7.
  EXPECT_NEAR(groups.rows[0].low, 0.5298, 1e-4);
  EXPECT_NEAR(groups.rows[0].high, 0.8887, 1e-4);
  EXPECT_EQ(groups.rows[1].name, "virology");
  EXPECT_TRUE(std::isinf(groups.rows[1].low));
  EXPECT_TRUE(std::isinf(groups.rows[1].high));
}

TEST(ParseGroupsTest, AllRightIsNotCertain) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups, ParseGroups(R"({"groups": {
      "law": {"value": 1, "standard_error": 0, "questions": 40, "units": 20},
      "old": {"value": 1, "standard_error": 0, "questions": 40}}})"));
  ASSERT_THAT(groups.rows, SizeIs(2));
  EXPECT_NEAR(groups.rows[0].low, 20 / (20 + kNormal95 * kNormal95), 1e-12);
  EXPECT_EQ(groups.rows[0].high, 1);
  EXPECT_TRUE(std::isinf(groups.rows[1].low));
}

TEST(ParseGroupsTest, TheirScoreIsNamed) {
  const auto score = [](const char* json) {
    const auto groups = ParseGroups(json);
    ORDO_EXPECT_OK(groups);
    return groups.ok() ? groups->score : "";
  };
  EXPECT_EQ(score(kResult), "acc_norm");
  EXPECT_EQ(score(R"({"metric": "rouge"})"),
            "mean of rouge1, rouge2 and rougeL");
  EXPECT_EQ(score("{}"), "score");
}

TEST(ParseGroupsTest, OtherTasksHaveNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups,
                            ParseGroups(R"({"shares": []})"));
  EXPECT_THAT(groups.rows, IsEmpty());
}

TEST(ParseGroupsTest, AGroupWithoutAScoreIsNamed) {
  const auto violations = base::FieldViolations(
      ParseGroups(R"({"groups": {"law": {"questions": 1}}})").status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "groups.law.value");
}

TEST(ParseGroupsTest, MoreUnitsThanQuestionsAreRefused) {
  const auto violations = base::FieldViolations(
      ParseGroups(R"({"groups": {"law": {"value": 1, "standard_error": 0,
                                         "questions": 2, "units": 4}}})")
          .status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "groups.law");
}

TEST_F(GroupPlotTest, ScoresHaveTheirIntervals) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups, ParseGroups(kResult));
  const Figure figure = GroupPlot("a: mmlu", groups);
  EXPECT_THAT(figure.script, HasSubstr("\n0.75 2 0.5298"));
  const std::string svg = Svg(figure);
  EXPECT_THAT(svg, HasSubstr(">anatomy<"));
  EXPECT_THAT(figure.script, HasSubstr("acc\\\\_norm, 95 %"));
  EXPECT_THAT(svg, HasSubstr(">a: mmlu<"));
}

}  // namespace
}  // namespace ordo::report::runs
