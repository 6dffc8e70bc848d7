#include "base/flags/flags.h"

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Not in a main.cc.
ABSL_FLAG(std::string, of_a_library, "", "Not for people.");

// As if in one.
#line 1 "demo/main.cc"
ABSL_FLAG(std::string, config, "", "The configuration.");
ABSL_FLAG(int, count, 1, "How many.");
ABSL_FLAG(bool, damaged, false, "Whatever it is.");
#line 19 "base/flags/flags_test.cc"

namespace ordo::base {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::StatusIs;

class ParseFlagsTest : public ::testing::Test {
 protected:
  static absl::StatusOr<CommandLine> Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "/bin/demo");
    return ParseFlags(arguments, "shows\n\n  demo [WORD]");
  }
  static void ExpectBad(const std::vector<std::string>& arguments,
                        const std::string& message) {
    EXPECT_THAT(Parse(arguments), StatusIs(absl::StatusCode::kInvalidArgument,
                                           message + "; see: demo --help"));
  }

  const absl::FlagSaver saver_;
};

TEST_F(ParseFlagsTest, FlagsAreSetAndWordsGiven) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      CommandLine line,
      Parse({"--config", "c", "word", "--count=-2", "--damaged", "-"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_config), "c");
  EXPECT_EQ(absl::GetFlag(FLAGS_count), -2);
  EXPECT_TRUE(absl::GetFlag(FLAGS_damaged));
  EXPECT_THAT(line.words, ElementsAre("word", "-"));
  EXPECT_EQ(line.answer, "");
  ORDO_ASSERT_OK_AND_ASSIGN(
      line, Parse({"-config=", "--damaged=false", "--", "--count", "--help"}));
  EXPECT_EQ(absl::GetFlag(FLAGS_config), "");
  EXPECT_FALSE(absl::GetFlag(FLAGS_damaged));
  EXPECT_THAT(line.words, ElementsAre("--count", "--help"));
  EXPECT_EQ(line.answer, "");
}

TEST_F(ParseFlagsTest, NothingIsACommandLineToo) {
  ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line, Parse({}));
  EXPECT_THAT(line.words, IsEmpty());
  EXPECT_EQ(line.answer, "");
}

TEST_F(ParseFlagsTest, HelpHasTheUsageAndTheFlagsButNoLibrarys) {
  for (const char* help : {"--help", "-h"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line,
                              Parse({"--config", "c", help}));
    EXPECT_THAT(line.answer,
                AllOf(HasSubstr("demo: shows\n\n  demo [WORD]\n"),
                      HasSubstr("  --config VALUE\n      The configuration.\n"),
                      HasSubstr("  --damaged\n"), HasSubstr("  --version\n"),
                      Not(HasSubstr("of_a_library"))));
  }
}

TEST_F(ParseFlagsTest, VersionIsTheBuild) {
  ORDO_ASSERT_OK_AND_ASSIGN(const CommandLine line, Parse({"--version"}));
  EXPECT_EQ(line.answer, "demo, build " + *BuildId() + "\n");
}

TEST_F(ParseFlagsTest, WhatIsNotUnderstoodIsNamed) {
  ExpectBad({"--cofig", "c"},
            "unknown flag '--cofig'; did you mean '--config'?");
  const std::string valid =
      "; valid: --help, --version, --config, --count, --damaged";
  ExpectBad({"--of_a_library=x"}, "unknown flag '--of_a_library'" + valid);
  ExpectBad({"--=x"}, "unknown flag '--'" + valid);
  ExpectBad({"--config"}, "--config needs a value");
  EXPECT_THAT(Parse({"--count", "x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--count cannot be 'x'")));
}

}  // namespace
}  // namespace ordo::base
