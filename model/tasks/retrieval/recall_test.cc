#include "model/tasks/retrieval/recall.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::testing::HasSubstr;

RecallTable TwoByTwo() {
  RecallTable table("task", {"a", "b"}, {10, 20});
  table.cells[0][0].Add(0, 1);
  table.cells[0][0].Add(1, 0.5);
  table.cells[1][0].Add(2, 0.5);
  table.cells[1][0].Add(3, 0);
  table.cells[0][1].Add(4, 0.25);
  table.cells[1][1].Add(5, 0.75);
  return table;
}

TEST(Recall, LengthsAreSplitByWhatWasTrained) {
  const Scores known = ScoresOfRecall(TwoByTwo(), 10);
  EXPECT_DOUBLE_EQ(known.metrics.at("trained_mean"), 0.5);
  EXPECT_DOUBLE_EQ(known.metrics.at("score"), 0.5);
  // A quarter of each of two cells, and of single items nothing.
  EXPECT_DOUBLE_EQ(known.standard_errors.at("trained_mean"),
                   std::sqrt(2.0) * 0.25 / 2);
  EXPECT_EQ(known.standard_errors.count("score"), 0u);
  const Scores unknown = ScoresOfRecall(TwoByTwo(), 0);
  EXPECT_EQ(unknown.metrics.count("trained_mean"), 0u);
  EXPECT_EQ(ScoresOfRecall(TwoByTwo(), 20).metrics.count("score"), 0u);
}

TEST(Recall, ATableHasRowsAndLengths) {
  const Scores scores = ScoresOfRecall(TwoByTwo(), 0);
  EXPECT_EQ(scores.csv,
            "task,length,recall,items,standard_error\na,10,0.75,2,0.25\n"
            "a,20,0.25,1,\nb,10,0.25,2,0.25\nb,20,0.75,1,\n");
  EXPECT_THAT(scores.markdown,
              HasSubstr("| |10|20|\n|---|---|---|\n|a|75.0 ± 25.0|25.0|\n"));
  EXPECT_EQ(scores.details["cells"][2]["task"], "b");
  EXPECT_EQ(scores.details["cells"][2]["recall"], 0.25);
  EXPECT_EQ(scores.details["cells"][2]["units"], 2);
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
