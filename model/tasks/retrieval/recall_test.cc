#include "model/tasks/retrieval/recall.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::testing::HasSubstr;

RecallTable TwoByTwo() {
  RecallTable table("task", {"a", "b"}, {10, 20});
  table.cells[0][0].Add(1);
  table.cells[0][0].Add(0.5);
  table.cells[1][0].Add(0.5);
  table.cells[1][0].Add(0);
  table.cells[0][1].Add(0.25);
  table.cells[1][1].Add(0.75);
  return table;
}

TEST(Recall, LengthsAreSplitByWhatWasTrained) {
  const Scores known = ScoresOfRecall(TwoByTwo(), 10);
  EXPECT_DOUBLE_EQ(known.metrics.at("trained_mean"), 0.5);
  EXPECT_DOUBLE_EQ(known.metrics.at("score"), 0.5);
  const Scores unknown = ScoresOfRecall(TwoByTwo(), 0);
  EXPECT_EQ(unknown.metrics.count("trained_mean"), 0u);
  EXPECT_EQ(ScoresOfRecall(TwoByTwo(), 20).metrics.count("score"), 0u);
}

TEST(Recall, ATableHasRowsAndLengths) {
  const Scores scores = ScoresOfRecall(TwoByTwo(), 0);
  EXPECT_EQ(scores.csv,
            "task,length,recall,items\na,10,0.75,2\na,20,0.25,1\n"
            "b,10,0.25,2\nb,20,0.75,1\n");
  EXPECT_THAT(scores.markdown,
              HasSubstr("| |10|20|\n|---|---|---|\n|a|75.0|25.0|\n"));
  EXPECT_EQ(scores.details["cells"][2]["task"], "b");
  EXPECT_EQ(scores.details["cells"][2]["recall"], 0.25);
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
