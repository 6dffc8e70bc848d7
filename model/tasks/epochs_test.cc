#include "model/tasks/epochs.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

TEST(RowOfSet, HasEveryRowOncePerEpoch) {
  for (const uint64_t num_rows : {1, 2, 3, 5, 16, 17, 1000}) {
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<uint64_t> rows;
      for (uint64_t i = 0; i < num_rows; ++i) {
        rows.insert(RowOfSet(1, epoch * num_rows + i, num_rows));
      }
      EXPECT_EQ(rows.size(), num_rows);
      EXPECT_EQ(*rows.rbegin(), num_rows - 1);
    }
  }
}

TEST(RowOfSet, OrdersDifferBetweenEpochsAndSeeds) {
  constexpr uint64_t kRows = 1000;
  int same_epoch = 0, same_seed = 0, in_order = 0;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint64_t row = RowOfSet(1, i, kRows);
    same_epoch += row == RowOfSet(1, kRows + i, kRows);
    same_seed += row == RowOfSet(2, i, kRows);
    in_order += row == i;
  }
  // One is expected of each, as of any two orders.
  EXPECT_LT(same_epoch, 8);
  EXPECT_LT(same_seed, 8);
  EXPECT_LT(in_order, 8);
}

TEST(RowOfSet, WithoutASetTheStreamIsEndless) {
  EXPECT_EQ(RowOfSet(1, 123456789, 0), 123456789u);
}

}  // namespace
}  // namespace ordo::model::tasks
