#include "kernels/attention/check/covering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::kernels::attention::check {
namespace {

bool AnyMayBe(const Row& /*row*/) { return true; }

// The number of an axis and that of its choice.
using Choice = std::pair<int, int>;

// How many rows have both.
int Meetings(const std::vector<Row>& rows, const Choice& a, const Choice& b) {
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row[a.first] == a.second && row[b.first] == b.second;
      }));
}

TEST(CoveringTest, AnyTwoChoicesOfTwoAxesMeet) {
  const std::vector<int> sizes = {7, 2, 3, 4, 2, 1};
  const std::vector<Row> rows = CoveringRows(sizes, AnyMayBe);
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < a; ++b) {
      for (int i = 0; i < sizes[a]; ++i) {
        for (int j = 0; j < sizes[b]; ++j) {
          EXPECT_GT(Meetings(rows, {a, i}, {b, j}), 0)
              << a << ": " << i << ", " << b << ": " << j;
        }
      }
    }
  }
}

TEST(CoveringTest, RowsAreFewMoreThanThePairsOfTheLargestAxes) {
  const auto rows = CoveringRows({25, 5, 5, 3, 3, 3, 3, 2, 2, 2}, AnyMayBe);
  EXPECT_GE(rows.size(), 125U);
  EXPECT_LT(rows.size(), 140U);
}

TEST(CoveringTest, WhatMayNotMeetDoesNotAndMeetsAllElse) {
  const auto rows = CoveringRows(
      {4, 3, 2}, [](const Row& row) { return row[1] != 2 || row[2] != 1; });
  EXPECT_EQ(Meetings(rows, {1, 2}, {2, 1}), 0);
  EXPECT_GT(Meetings(rows, {1, 2}, {2, 0}), 0);
  EXPECT_GT(Meetings(rows, {1, 1}, {2, 1}), 0);
  for (int i = 0; i < 4; ++i) EXPECT_GT(Meetings(rows, {0, i}, {1, 2}), 0);
}

// Each two of them meet, elsewhere.
TEST(CoveringTest, WhatMayNotMeetInThreesDoesNot) {
  const auto rows = CoveringRows({2, 2, 2, 2}, [](const Row& row) {
    return row[0] + row[1] + row[2] < 3;
  });
  for (const Row& row : rows) EXPECT_LT(row[0] + row[1] + row[2], 3);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < a; ++b) EXPECT_GT(Meetings(rows, {a, 1}, {b, 1}), 0);
  }
}

}  // namespace
}  // namespace ordo::kernels::attention::check
