#include "base/yaml/scalars.h"

#include <cmath>
#include <limits>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

auto IsInvalid(const std::string& what) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
}

TEST(ParseWholeTest, TakesWholeNumbersInAnyForm) {
  EXPECT_THAT(ParseInt32("500"), IsOkAndHolds(500));
  EXPECT_THAT(ParseInt32("-3"), IsOkAndHolds(-3));
  EXPECT_THAT(ParseInt32("+3"), IsOkAndHolds(3));
  EXPECT_THAT(ParseInt64("1e3"), IsOkAndHolds(1000));
  EXPECT_THAT(ParseInt64("2.0"), IsOkAndHolds(2));
  EXPECT_THAT(ParseUint32("4294967295"), IsOkAndHolds(4294967295u));
  EXPECT_THAT(ParseUint64("18446744073709551615"),
              IsOkAndHolds(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(ParseInt64("-9223372036854775808"),
              IsOkAndHolds(std::numeric_limits<int64_t>::min()));
}

TEST(ParseWholeTest, RefusesFractionsAndWords) {
  for (const char* text : {"1.5", "1e-3", "abc", "", " 1", "1 ", "0x10", "inf",
                           "nan", "1e", "--1", "+-1"}) {
    EXPECT_THAT(ParseInt32(text), IsInvalid("must be a whole number")) << text;
  }
}

TEST(ParseWholeTest, RefusesWhatTheTypeCannotHold) {
  EXPECT_THAT(ParseInt32("2147483648"),
              IsInvalid("between -2147483648 and 2147483647"));
  EXPECT_THAT(ParseUint32("-1"), IsInvalid("between 0 and 4294967295"));
  EXPECT_THAT(ParseInt64("9223372036854775808"), IsInvalid("between"));
  EXPECT_THAT(ParseInt64("1e300"), IsInvalid("between"));
  EXPECT_THAT(ParseUint64("18446744073709551616"), IsInvalid("between"));
}

TEST(ParseDoubleTest, TakesNumbers) {
  EXPECT_THAT(ParseDouble("1e-3"), IsOkAndHolds(1e-3));
  EXPECT_THAT(ParseDouble(".5"), IsOkAndHolds(0.5));
  EXPECT_THAT(ParseDouble("-7"), IsOkAndHolds(-7.0));
  EXPECT_THAT(ParseDouble("-.inf"), IsOkAndHolds(-INFINITY));
  EXPECT_THAT(ParseDouble("Infinity"), IsOkAndHolds(INFINITY));
  EXPECT_TRUE(std::isnan(*ParseDouble("NaN")));
  EXPECT_THAT(ParseDouble("fast"), IsInvalid("must be a number, not 'fast'"));
  EXPECT_THAT(ParseDouble("1e999"), IsInvalid("must be a number"));
}

TEST(IsNumberTest, IsTrueForFiniteNumbersOnly) {
  EXPECT_TRUE(IsNumber("1e3"));
  EXPECT_FALSE(IsNumber("inf"));
  EXPECT_FALSE(IsNumber(".inf"));
  EXPECT_FALSE(IsNumber("1.2.3"));
  EXPECT_FALSE(IsNumber("e5"));
}

TEST(ParseBoolTest, TakesTrueAndFalseOnly) {
  EXPECT_THAT(ParseBool("true"), IsOkAndHolds(true));
  EXPECT_THAT(ParseBool("FALSE"), IsOkAndHolds(false));
  EXPECT_THAT(ParseBool("yes"), IsInvalid("must be true or false"));
  EXPECT_THAT(ParseBool("1"), IsInvalid("must be true or false"));
}

TEST(ParseDurationTest, TakesUnitsAndPrintsSeconds) {
  EXPECT_EQ(PrintDuration(*ParseDuration("30s")), "30s");
  EXPECT_EQ(PrintDuration(*ParseDuration("1h30m")), "5400s");
  EXPECT_EQ(PrintDuration(*ParseDuration("1d12h")), "129600s");
  EXPECT_EQ(PrintDuration(*ParseDuration("250ms")), "0.25s");
  EXPECT_EQ(PrintDuration(*ParseDuration("-1.5s")), "-1.5s");
  EXPECT_THAT(ParseDuration("30"), IsInvalid("such as 30s"));
  EXPECT_THAT(ParseDuration("inf"), IsInvalid("such as 30s"));
  EXPECT_THAT(ParseDuration("soon"), IsInvalid("such as 30s"));
}

TEST(ParseTimestampTest, TakesRfc3339) {
  EXPECT_EQ(PrintTimestamp(*ParseTimestamp("2026-11-20T21:30:00Z")),
            "2026-11-20T21:30:00Z");
  EXPECT_EQ(PrintTimestamp(*ParseTimestamp("2026-11-20T22:30:00.5+01:00")),
            "2026-11-20T21:30:00.5Z");
  EXPECT_THAT(ParseTimestamp("yesterday"), IsInvalid("must be a time such as"));
}

TEST(PrintNumberTest, IsShortAndExact) {
  EXPECT_EQ(PrintDouble(0.1), "0.1");
  EXPECT_EQ(PrintDouble(1e-3), "0.001");
  EXPECT_EQ(PrintDouble(3), "3");
  EXPECT_EQ(PrintFloat(0.1F), "0.1");
  EXPECT_EQ(PrintDouble(NAN), ".nan");
  EXPECT_EQ(PrintDouble(-INFINITY), "-.inf");
  EXPECT_THAT(ParseDouble(PrintDouble(1.0 / 3)), IsOkAndHolds(1.0 / 3));
}

}  // namespace
}  // namespace ordo::base
