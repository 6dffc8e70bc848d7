#include "model/tasks/inside/rows.h"

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/pairs.h"

namespace ordo::model::tasks::inside {
namespace {

std::unique_ptr<TrainingTask> Sums() {
  PairsOptions options;
  options.max_first = options.max_second = 2;
  return MakePairs(Addition(), options);
}

TEST(RowsTest, ARowIsWhatAModelReadsOfTheTasksRow) {
  const auto task = Sums();
  const auto rows = MakeRowsOfTask(Sums(), {5, 100});
  EXPECT_EQ(rows->size(), 5);
  EXPECT_EQ(rows->max_length(), task->row_length() - 1);
  for (int64_t i = 0; i < rows->size(); ++i) {
    std::vector<int64_t> expected =
        task->Generate(7, static_cast<uint64_t>(i)).value().tokens;
    expected.pop_back();
    ORDO_ASSERT_OK_AND_ASSIGN(const auto row, rows->Get(7, i));
    EXPECT_EQ(row, expected);
  }
  EXPECT_EQ(rows->Id(7, 3), "7-3");
  EXPECT_EQ(rows->begin_token(), kBegin);
  EXPECT_EQ(rows->data_fingerprint(), "");
}

TEST(RowsTest, ALongRowIsCut) {
  const auto rows = MakeRowsOfTask(Sums(), {5, 3});
  EXPECT_EQ(rows->max_length(), 3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto row, rows->Get(1, 0));
  EXPECT_EQ(row.size(), 3u);
}

}  // namespace
}  // namespace ordo::model::tasks::inside
