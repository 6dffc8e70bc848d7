#include "services/cli/print.h"

#include "base/clock/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using PrintTest = testing::CliTest;

TEST_F(PrintTest, JsonIsOneLineAndYamlOneDocument) {
  scheduler_.SetJob("a", Job::RUNNING);
  EXPECT_EQ(Run({"show", "a", "-o", "json"}), 0);
  EXPECT_EQ(out().find('\n'), out().size() - 1);
  EXPECT_THAT(out(), HasSubstr("\"name\":\"jobs/a\""));
  EXPECT_EQ(Run({"show", "a", "-o", "yaml"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("---\nname: jobs/a\n"));
}

TEST(StateTest, EndedStatesAreTheLastThree) {
  EXPECT_TRUE(HasEnded(Job::SUCCEEDED));
  EXPECT_TRUE(HasEnded(Job::FAILED));
  EXPECT_TRUE(HasEnded(Job::CANCELLED));
  EXPECT_FALSE(HasEnded(Job::CANCELLING));
  EXPECT_FALSE(HasEnded(Job::QUEUED));
  EXPECT_FALSE(HasEnded(Job::STATE_UNSPECIFIED));
}

TEST(StateTest, CellHasNameAndColour) {
  EXPECT_EQ(StateCell(Job::FAILED).text, "FAILED");
  EXPECT_EQ(StateCell(Job::FAILED).color, Color::kRed);
  EXPECT_EQ(StateCell(Job::SUCCEEDED).color, Color::kGreen);
}

TEST(TimeTest, UnsetTimesAreADash) {
  const base::testing::FakeClock clock;
  EXPECT_EQ(FormatTime(google::protobuf::Timestamp()), "-");
  EXPECT_EQ(FormatAge(google::protobuf::Timestamp(), clock), "-");
}

TEST(TimeTest, TimesNameTheirZone) {
  google::protobuf::Timestamp time;
  time.set_seconds(1'700'000'000);
  EXPECT_EQ(FormatTime(time),
            absl::FormatTime("%Y-%m-%d %H:%M:%S %Z",
                             absl::FromUnixSeconds(1'700'000'000),
                             absl::LocalTimeZone()));
}

TEST(TimeTest, TimesInTextsAreLocalToo) {
  google::protobuf::Timestamp time;
  time.set_seconds(1'700'000'000);
  const std::string local = FormatTime(time);
  EXPECT_EQ(WithLocalTimes("drain at 2023-11-14T22:13:20+00:00"),
            "drain at " + local);
  EXPECT_EQ(WithLocalTimes("since 2023-11-14T22:13:20+00:00: hot, "
                           "2023-11-14T22:13:20+00:00"),
            "since " + local + ": hot, " + local);
  for (const char* other :
       {"", "cordon", "2023-11-14 22:13:20 is no such time",
        "2023-11-14T22:13:20+00:0", "2023-11-14T22:13:20+00    beside",
        "2023-11-14T22:13:20Z      beside"}) {
    EXPECT_EQ(WithLocalTimes(other), other);
  }
}

TEST(TimeTest, AgeIsNeverNegative) {
  const base::testing::FakeClock clock(absl::FromUnixSeconds(1000));
  google::protobuf::Timestamp time;
  time.set_seconds(800);
  EXPECT_EQ(FormatAge(time, clock), "3m20s");
  time.set_seconds(1100);
  EXPECT_EQ(FormatAge(time, clock), "0s");
}

TEST(NumberTest, HasFourDigits) {
  EXPECT_EQ(FormatNumber(0.421349), "0.4213");
  EXPECT_EQ(FormatNumber(10), "10");
}

}  // namespace
}  // namespace ordo::services::cli
