#include "base/log/log.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unistd.h>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/log/log_together.h"
#include "base/log/repeats.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::ordo::base::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string Logged(const TemporaryFolder& folder) {
  PosixFilesystem files;
  return *ReadFile(files, folder.Path("log"), 1 << 20);
}

TEST(LogFieldTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(LogField("job", "a-1/b").text(), " job=a-1/b");
  EXPECT_EQ(LogField("message", "two words").text(), " message=\"two words\"");
  EXPECT_EQ(LogField("message", "").text(), " message=\"\"");
  EXPECT_EQ(LogField("message", "a=\"b\"\\").text(),
            " message=\"a=\\\"b\\\"\\\\\"");
  EXPECT_EQ(LogField("message", "one\ntwo\x01").text(),
            " message=\"one\\ntwo\\x01\"");
  EXPECT_EQ(LogField("name", "é").text(), " name=\"é\"");
}

TEST(LogFieldTest, TakesNumbersBoolsAndErrors) {
  EXPECT_EQ(LogField("attempt", 3).text(), " attempt=3");
  EXPECT_EQ(LogField("size", uint64_t{1} << 63).text(),
            " size=9223372036854775808");
  EXPECT_EQ(LogField("loss", 0.25).text(), " loss=0.25");
  EXPECT_EQ(LogField("exact", true).text(), " exact=true");
  EXPECT_EQ(LogField("error", absl::NotFoundError("no job")).text(),
            " error=\"NOT_FOUND: no job\"");
}

TEST(LogTest, WritesOneLineWithTimeLevelAndFields) {
  const TemporaryFolder folder;
  ORDO_ASSERT_OK(StartLogging({LogLevel::kInfo, folder.Path("log")}));
  LogInfo("attempt started", {{"job", "a"}, {"attempt", 2}});
  EXPECT_THAT(Logged(folder),
              MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[.][0-9]+Z"
                           " INFO attempt started job=a attempt=2\n"));
}

TEST(LogFieldTest, IsJsonToo) {
  EXPECT_EQ(LogField("message", "a \"b\"\n").json(),
            ",\"message\":\"a \\\"b\\\"\\n\"");
  EXPECT_EQ(LogField("attempt", 3).json(), ",\"attempt\":3");
  EXPECT_EQ(LogField("exact", false).json(), ",\"exact\":false");
  EXPECT_EQ(LogField("loss", 0.25).json(), ",\"loss\":0.25");
  EXPECT_EQ(LogField("loss", std::numeric_limits<double>::infinity()).json(),
            ",\"loss\":\"inf\"");
}

TEST(LogFieldTest, OneIfAnyIsThereWithAValueAlone) {
  EXPECT_EQ(LogField::IfAny("worker", "").text(), "");
  EXPECT_EQ(LogField::IfAny("worker", "").json(), "");
  EXPECT_EQ(LogField::IfAny("worker", "w").text(), " worker=w");
  EXPECT_EQ(LogField::IfAny("worker", "w").json(), ",\"worker\":\"w\"");
}

TEST(LogTest, WritesJsonWithWhatAllLinesHaveAtItsEnd) {
  const TemporaryFolder folder;
  ORDO_ASSERT_OK(StartLogging({LogLevel::kInfo,
                               folder.Path("log"),
                               LogFormat::kJson,
                               {{"worker", "w"}}}));
  LogInfo("attempt \"started\"", {{"job", "a"}, {"attempt", 2}});
  EXPECT_THAT(
      Logged(folder),
      MatchesRegex("[{]\"time\":\"[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[.]"
                   "[0-9]+Z\",\"level\":\"INFO\",\"event\":\"attempt "
                   "\\\\\"started\\\\\"\",\"job\":\"a\",\"attempt\":2,"
                   "\"worker\":\"w\"[}]\n"));
}

TEST(LogTest, CountsLinesByLevelAndHoldsBackThoseThatRepeat) {
  const TemporaryFolder folder;
  ORDO_ASSERT_OK(StartLogging({LogLevel::kInfo, folder.Path("log")}));
  const int64_t warnings = NumLogLines(LogLevel::kWarning);
  const int64_t infos = NumLogLines(LogLevel::kInfo);
  const int64_t held_back = NumHeldBackLogLines();
  for (int i = 0; i < 50; ++i) LogWarning("the same", {{"job", "a"}});
  for (int i = 0; i < 50; ++i) LogInfo("the same");
  LogDebug("dropped");
  EXPECT_EQ(NumLogLines(LogLevel::kWarning), warnings + Repeats::kMaxShown);
  EXPECT_EQ(NumLogLines(LogLevel::kInfo), infos + 50);
  EXPECT_EQ(NumHeldBackLogLines(), held_back + 50 - Repeats::kMaxShown);
  const std::string text = Logged(folder);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            50 + Repeats::kMaxShown);
}

TEST(LogTest, DropsLinesBelowTheLevel) {
  const TemporaryFolder folder;
  ORDO_ASSERT_OK(StartLogging({LogLevel::kWarning, folder.Path("log")}));
  LogDebug("one");
  LogInfo("two");
  LogWarning("three");
  LogError("{} four %s");
  const std::string text = Logged(folder);
  EXPECT_THAT(text, Not(HasSubstr("one")));
  EXPECT_THAT(text, Not(HasSubstr("two")));
  EXPECT_THAT(text, HasSubstr(" WARNING three\n"));
  EXPECT_THAT(text, HasSubstr(" ERROR {} four %s\n"));
}

TEST(LogTest, LinesThatAreLoggedTogetherAreAllThereAtTheEnd) {
  const TemporaryFolder folder;
  ORDO_ASSERT_OK(StartLogging({LogLevel::kInfo, folder.Path("log")}));
  {
    const LogTogether outer;
    {
      const LogTogether inner;
      LogInfo("one");
    }
    LogInfo("two");
    EXPECT_EQ(Logged(folder), "");
  }
  EXPECT_THAT(Logged(folder), HasSubstr(" INFO two\n"));
  LogInfo("three");
  EXPECT_THAT(Logged(folder), MatchesRegex(".*one\n.*two\n.*three\n"));
}

// Death tests see what a process writes to its stderr.
TEST(LogDeathTest, WithoutAFileLinesGoToStderrOneByOneOrTogether) {
  const auto log_and_leave = [] {
    LogInfo("first");
    {
      const LogTogether together;
      for (int i = 0; i < 3000; ++i) LogInfo("one of many", {{"i", i}});
    }
    LogInfo("last");
    _exit(0);
  };
  EXPECT_EXIT(log_and_leave(), ::testing::ExitedWithCode(0),
              "INFO first\n(.|\n)*i=2999\n.* INFO last\n");
}

TEST(LogTest, SaysWhenTheFileCannotBeOpened) {
  EXPECT_THAT(StartLogging({LogLevel::kInfo, "/nowhere/log"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/log")));
}

TEST(ParseLogFormatTest, KnowsTextAndJson) {
  LogFormat format = LogFormat::kText;
  EXPECT_THAT(ParseLogFormat("json", &format), IsOk());
  EXPECT_EQ(format, LogFormat::kJson);
  EXPECT_THAT(ParseLogFormat("xml", &format),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("valid: text, json")));
}

TEST(ParseLogLevelTest, KnowsTheFourLevels) {
  LogLevel level = LogLevel::kInfo;
  EXPECT_THAT(ParseLogLevel("warning", &level), IsOk());
  EXPECT_EQ(level, LogLevel::kWarning);
  EXPECT_THAT(ParseLogLevel("loud", &level),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("debug, info, warning, error")));
}

}  // namespace
}  // namespace ordo::base
