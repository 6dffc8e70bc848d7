#include "services/cli/commands/commands.h"

#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/help.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::HasSubstr;
using CommandsTest = testing::CliTest;

TEST(CommandTableTest, NamesAreUniqueAndEverythingIsExplained) {
  std::set<std::string> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_NE(command.run, nullptr) << command.name;
    EXPECT_EQ(FindCommand(command.name), &command);
    std::set<std::string> options;
    for (const Option& option : AllOptions(command)) {
      EXPECT_TRUE(options.insert(option.name).second)
          << command.name << " --" << option.name;
    }
  }
  EXPECT_EQ(FindCommand("nothing"), nullptr);
}

// The contract with scripts and people.
TEST(CommandTableTest, HasTheCommandsOfTheManual) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  EXPECT_THAT(names,
              ::testing::IsSupersetOf(
                  {"up", "down", "submit", "list", "show", "watch", "logs",
                   "explain", "cancel", "wait", "rerun", "continue", "evaluate",
                   "report", "get", "help", "version", "completion"}));
}

TEST_F(CommandsTest, EveryCommandHasHelpOfAtMostEightyColumns) {
  for (const Command& command : Commands()) {
    EXPECT_EQ(Run({"help", command.name}), 0);
    EXPECT_THAT(out(), HasSubstr("ordo " + command.name));
    std::istringstream lines(out());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << line;
    }
    const std::string help = out();
    EXPECT_EQ(Run({command.name, "--help"}), 0);
    EXPECT_EQ(out(), help);
  }
}

}  // namespace
}  // namespace ordo::services::cli
