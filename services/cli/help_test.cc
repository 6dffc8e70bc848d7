#include "services/cli/help.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Command MakeCommand() {
  Command command;
  command.name = "grow";
  command.arguments = "TREE...";
  command.summary = "make trees larger";
  command.help = "Takes years.";
  command.options = {{"by", 'b', "METRES", "how much"}, {"buried", 0, "X", ""}};
  return command;
}

TEST(HelpTextTest, HasUsageTextAndOptionsInColumns) {
  EXPECT_THAT(HelpText(MakeCommand()),
              HasSubstr("ordo grow TREE...\n\nmake trees larger\n\nTakes "
                        "years.\n\nOptions:\n  -b, --by METRES         how "
                        "much\n  -o, --output FORM"));
}

TEST(HelpTextTest, HiddenOptionsStayHidden) {
  EXPECT_THAT(HelpText(MakeCommand()), Not(HasSubstr("buried")));
}

TEST(OverviewTest, ListsCommandsAndExitCodes) {
  const std::string text = Overview({MakeCommand()});
  EXPECT_THAT(text, HasSubstr("  grow        make trees larger\n"));
  EXPECT_THAT(text, HasSubstr("70 a bug of ours"));
}

TEST(AllOptionsTest, EndWithTheCommonOnes) {
  EXPECT_EQ(AllOptions(MakeCommand()).front().name, "by");
  EXPECT_EQ(AllOptions(MakeCommand()).back().name, "help");
}

}  // namespace
}  // namespace ordo::services::cli
