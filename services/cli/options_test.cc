#include "services/cli/options.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

const std::vector<Option>& Table() {
  static const auto& table = *new std::vector<Option>{
      {"steps", 0, "NUMBER", "steps"},
      {"output", 'o', "FORM", "form", false, {"table", "json"}},
      {"follow", 'f', "", "go on"},
      {"set", 0, "PATH=VALUE", "field", true},
      {"hidden", 0, "X", ""},
  };
  return table;
}

TEST(ParseArgumentsTest, OptionsAndArgumentsMayBeMixed) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Arguments arguments,
      ParseArguments(Table(), {"a", "--steps", "3", "b", "-f", "-ojson"}));
  EXPECT_THAT(arguments.positional(), ElementsAre("a", "b"));
  EXPECT_EQ(arguments.Get("steps", ""), "3");
  EXPECT_EQ(arguments.Get("output", ""), "json");
  EXPECT_TRUE(arguments.Has("follow"));
  EXPECT_FALSE(arguments.Has("set"));
}

TEST(ParseArgumentsTest, ValuesMayHoldEqualsSignsAndStartWithADash) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Arguments arguments,
      ParseArguments(Table(), {"--set=a=b=c", "--set", "-1", "--steps="}));
  EXPECT_THAT(arguments.All("set"), ElementsAre("a=b=c", "-1"));
  EXPECT_TRUE(arguments.Has("steps"));
  EXPECT_EQ(arguments.Get("steps", "x"), "");
}

TEST(ParseArgumentsTest, TwoDashesEndTheOptionsAndOneIsAnArgument) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Arguments arguments,
      ParseArguments(Table(), {"-", "--", "--steps", "-f"}));
  EXPECT_THAT(arguments.positional(), ElementsAre("-", "--steps", "-f"));
}

TEST(ParseArgumentsTest, NegativeNumbersAreArguments) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Arguments arguments,
                            ParseArguments(Table(), {"a", "-5"}));
  EXPECT_THAT(arguments.positional(), ElementsAre("a", "-5"));
}

TEST(ParseArgumentsTest, UnknownOptionNamesTheNearest) {
  EXPECT_THAT(ParseArguments(Table(), {"--stps=3"}),
              StatusIs(kInvalid, HasSubstr("unknown option --stps; did you "
                                           "mean '--steps'?")));
  EXPECT_THAT(ParseArguments(Table(), {"-x"}),
              StatusIs(kInvalid, HasSubstr("unknown option -x")));
}

TEST(ParseArgumentsTest, SwitchTakesNoValueAndOthersNeedOne) {
  EXPECT_THAT(ParseArguments(Table(), {"--follow=yes"}),
              StatusIs(kInvalid, "--follow takes no value"));
  EXPECT_THAT(ParseArguments(Table(), {"-fx"}),
              StatusIs(kInvalid, "-f takes no value"));
  EXPECT_THAT(ParseArguments(Table(), {"--steps"}),
              StatusIs(kInvalid, "--steps needs a value: --steps NUMBER"));
}

TEST(ParseArgumentsTest, OnlyRepeatedOptionsMayComeTwice) {
  EXPECT_THAT(ParseArguments(Table(), {"--steps=1", "--steps=2"}),
              StatusIs(kInvalid, "--steps is given twice"));
}

TEST(ParseArgumentsTest, ChoicesAreListed) {
  EXPECT_THAT(ParseArguments(Table(), {"-o", "xml"}),
              StatusIs(kInvalid, "--output takes table, json; not 'xml'"));
}

TEST(CountLeadingOptionsTest, StopsAtTheFirstArgument) {
  EXPECT_THAT(CountLeadingOptions(Table(), {"a", "-f"}), IsOkAndHolds(0u));
  EXPECT_THAT(
      CountLeadingOptions(Table(), {"-f", "--steps", "3", "-ojson", "a", "-f"}),
      IsOkAndHolds(4u));
  EXPECT_THAT(CountLeadingOptions(Table(), {"-f"}), IsOkAndHolds(1u));
  EXPECT_THAT(CountLeadingOptions(Table(), {"--nothing", "a"}),
              StatusIs(kInvalid, HasSubstr("unknown option --nothing")));
}

TEST(ArgumentsTest, NumbersAreCheckedAgainstTheirRange) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Arguments arguments,
                            ParseArguments(Table(), {"--steps=12"}));
  EXPECT_THAT(arguments.GetInt("steps", 1, 0, 12), IsOkAndHolds(12));
  EXPECT_THAT(arguments.GetInt("output", 7, 0, 12), IsOkAndHolds(7));
  EXPECT_THAT(arguments.GetInt("steps", 1, 0, 11),
              StatusIs(kInvalid,
                       "--steps takes a whole number from 0 to 11; "
                       "not '12'"));
}

TEST(ArgumentsTest, NumbersAreWhole) {
  for (const char* text : {"--steps=1.5", "--steps=", "--steps=4x"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Arguments arguments,
                              ParseArguments(Table(), {text}));
    EXPECT_THAT(arguments.GetInt("steps", 1, 0, 99), StatusIs(kInvalid));
  }
}

TEST(ArgumentsTest, DurationsHaveUnitsAndAreNotNegative) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Arguments arguments,
                            ParseArguments(Table(), {"--steps=1h30m"}));
  EXPECT_THAT(arguments.GetDuration("steps", absl::Seconds(1)),
              IsOkAndHolds(absl::Minutes(90)));
  EXPECT_THAT(arguments.GetDuration("set", absl::Seconds(1)),
              IsOkAndHolds(absl::Seconds(1)));
  for (const char* text : {"--steps=5", "--steps=-5s", "--steps=soon"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Arguments bad,
                              ParseArguments(Table(), {text}));
    EXPECT_THAT(bad.GetDuration("steps", absl::Seconds(1)),
                StatusIs(kInvalid, HasSubstr("such as 90s, 1h30m or 2d")));
  }
}

TEST(SplitAssignmentTest, SplitsAtTheFirstEqualsSign) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto assignment,
                            SplitAssignment("set", "a.b=c=d"));
  EXPECT_THAT(assignment, Pair("a.b", "c=d"));
  EXPECT_THAT(SplitAssignment("set", "a"),
              StatusIs(kInvalid, "--set takes name=value; not 'a'"));
  EXPECT_THAT(SplitAssignment("set", "=a"), StatusIs(kInvalid));
}

}  // namespace
}  // namespace ordo::services::cli
