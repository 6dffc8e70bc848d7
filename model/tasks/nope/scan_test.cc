#include "model/tasks/nope/scan.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::nope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Split(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

std::string ActionsFor(const std::string& command) {
  for (int64_t number = 0; number < kNumCommands; ++number) {
    const Item item = CommandAt(number);
    if (item.prompt == "Solve: " + command + " [SEP]") return item.answer;
  }
  return "no such command";
}

// From the data set: what the authors' table of translations gives.
TEST(Scan, CommandsStandForTheirActions) {
  EXPECT_EQ(ActionsFor("jump"), "Jump");
  EXPECT_EQ(ActionsFor("turn opposite right"), "Right Right");
  EXPECT_EQ(ActionsFor("walk left twice"), "Left Walk Left Walk");
  EXPECT_EQ(ActionsFor("turn around left"), "Left Left Left Left");
  EXPECT_EQ(ActionsFor("walk after turn right"), "Right Walk");
  EXPECT_EQ(
      ActionsFor("jump opposite left twice and look around right"),
      "Left Left Jump Left Left Jump Right Look Right Look Right Look Right "
      "Look");
}

// The published split by length has 16990 commands of up to 22 actions and 3920
// of 24 to 48.
TEST(Scan, ThereAreAsManyCommandsAsWerePublished) {
  EXPECT_EQ(CommandsOf(1, 22).size(), 16990);
  EXPECT_EQ(CommandsOf(23, 48).size(), 3920);
  std::set<std::string> prompts;
  for (int64_t number = 0; number < kNumCommands; ++number) {
    prompts.insert(CommandAt(number).prompt);
  }
  EXPECT_EQ(static_cast<int64_t>(prompts.size()), kNumCommands);
}

TEST(Scan, CommandsComeByTheirActions) {
  const CommandRange range = CommandsOf(9, 10);
  for (int64_t number = range.first; number < range.end; ++number) {
    const size_t actions = Split(CommandAt(number).answer).size();
    EXPECT_GE(actions, 9u);
    EXPECT_LE(actions, 10u);
  }
  EXPECT_EQ(range.size(), 1256 + 1696);
}

TEST(Scan, WhereNoCommandHasSoManyActionsTheNextDo) {
  EXPECT_THAT(ActionCounts(CommandsOf(29, 36)), ElementsAre(30, 32, 33, 36));
  EXPECT_THAT(ActionCounts(CommandsOf(41, 47)), ElementsAre(48));
}

TEST(Scan, CommandsAreOfTheWordsAndShortEnough) {
  const std::set<std::string> known(ScanWords().begin(), ScanWords().end());
  size_t longest = 0;
  for (int64_t number = 0; number < kNumCommands; ++number) {
    const Item item = CommandAt(number);
    longest = std::max(longest, Split(item.prompt).size());
    for (const std::string& word : Split(item.prompt + " " + item.answer)) {
      ASSERT_EQ(known.count(word), 1u) << word;
    }
  }
  EXPECT_EQ(longest, static_cast<size_t>(kScanPromptWords));
}

}  // namespace
}  // namespace ordo::model::tasks::nope
