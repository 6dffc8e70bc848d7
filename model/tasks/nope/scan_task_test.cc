#include "model/tasks/nope/scan_task.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/tasks/nope/scan.h"

namespace ordo::model::tasks::nope {
namespace {

// 6 commands have one action, 88 have two.
TEST(ScanTask, AllCommandsAreGoneThroughInEachEpoch) {
  const auto task = MakeScan({1, 2});
  std::set<std::vector<int64_t>> first, second;
  bool in_one_order = true;
  for (uint64_t index = 0; index < 94; ++index) {
    first.insert(task->Generate(1, index).value().tokens);
    second.insert(task->Generate(1, 94 + index).value().tokens);
    in_one_order =
        in_one_order && task->Generate(1, index).value().tokens ==
                            task->Generate(1, 94 + index).value().tokens;
  }
  EXPECT_EQ(first.size(), 94u);
  EXPECT_EQ(first, second);
  EXPECT_FALSE(in_one_order);
}

// Made by this code; the actions checked by hand.
TEST(ScanTask, TheFirstRowOfSeedOneIsFrozen) {
  const auto task = MakeScan({1, 25});
  EXPECT_EQ(task->tokenizer().Decode(task->Generate(1, 0).value().tokens),
            "Solve: look around left twice and look opposite right thrice "
            "[SEP] Left Look Left Look Left Look Left Look Left Look Left Look "
            "Left Look Left Look Right Right Look Right Right Look Right Right "
            "Look");
}

TEST(ScanTask, TheLongestRowIsAsLongAsIsSaid) {
  const auto task = MakeScan({48, 48});
  size_t longest = 0;
  for (uint64_t index = 0; index < 128; ++index) {
    longest = std::max(longest, task->Generate(1, index).value().tokens.size());
  }
  EXPECT_EQ(longest, static_cast<size_t>(task->row_length()));
}

TEST(ScanTask, ActionsAreAskedForByTheirNumber) {
  ScanAnswersOptions options;
  options.commands = {34, 47};
  options.samples = 3;
  const auto task = MakeScanAnswers(options);
  // 36 and 40 actions there are.
  ASSERT_EQ(task->size(), 6);
  for (int64_t index = 0; index < 6; ++index) {
    const Question question = task->Generate(1, index).value();
    EXPECT_EQ(question.answer.size(), index < 3 ? 37u : 41u);
    EXPECT_EQ(question.answer.back(), kEnd);
    EXPECT_EQ(static_cast<int>(question.prompt.size()),
              task->PromptLength(index));
  }
}

// Of one action there are six commands.
TEST(ScanTask, ACommandThatIsAskedAgainIsOfTheSameUnit) {
  ScanAnswersOptions options;
  options.commands = {1, 1};
  options.samples = 12;
  const auto task = MakeScanAnswers(options);
  std::multiset<std::string> units;
  for (int64_t index = 0; index < 12; ++index) {
    units.insert(task->UnitId(1, index));
  }
  for (const std::string& unit : units) EXPECT_EQ(units.count(unit), 2u);
}

TEST(ScanTask, AnAnswerIsRightIfAllOfItIs) {
  ScanAnswersOptions options;
  options.commands = {25, 26};
  options.samples = 1;
  options.trained_actions = 25;
  const Scores scores =
      MakeScanAnswers(options)->Score({1, {{1, 1}, {1, 0}}, {}});
  EXPECT_DOUBLE_EQ(scores.metrics.at("trained_mean"), 1);
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0);
  EXPECT_EQ(scores.csv,
            "actions,exact_match,count,total,standard_error\n25,1,1,1,\n"
            "26,0,0,1,\n");
}

}  // namespace
}  // namespace ordo::model::tasks::nope
