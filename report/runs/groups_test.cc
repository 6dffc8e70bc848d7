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

constexpr char kResult[] = R"({"task": "questions", "groups": {
  "virology": {"value": 0.5, "questions": 1},
  "anatomy": {"value": 0.75, "standard_error": 0.1, "questions": 20,
              "units": 20}}})";

TEST(ParseGroupsTest, GroupsStandByName) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups, ParseGroups(kResult));
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].name, "anatomy");
  EXPECT_EQ(groups[0].score, 0.75);
  // Wilson's of as many questions as have that error, 19.7.
  EXPECT_NEAR(groups[0].low, 0.5298, 1e-4);
  EXPECT_NEAR(groups[0].high, 0.8887, 1e-4);
  EXPECT_EQ(groups[1].name, "virology");
  EXPECT_TRUE(std::isinf(groups[1].low));
  EXPECT_TRUE(std::isinf(groups[1].high));
}

TEST(ParseGroupsTest, AllRightIsNotCertain) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups, ParseGroups(R"({"groups": {
      "law": {"value": 1, "standard_error": 0, "questions": 40, "units": 20},
      "old": {"value": 1, "standard_error": 0, "questions": 40}}})"));
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_NEAR(groups[0].low, 20 / (20 + kNormal95 * kNormal95), 1e-12);
  EXPECT_EQ(groups[0].high, 1);
  EXPECT_TRUE(std::isinf(groups[1].low));
}

TEST(ParseGroupsTest, OtherTasksHaveNone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto groups,
                            ParseGroups(R"({"shares": []})"));
  EXPECT_THAT(groups, IsEmpty());
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
  EXPECT_THAT(svg, HasSubstr(">a: mmlu<"));
}

}  // namespace
}  // namespace ordo::report::runs
