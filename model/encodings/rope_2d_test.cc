#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Doubles;
using model::testing::Longs;
using model::testing::MaxDifference;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  const auto width = static_cast<int>(attention.q_BHTD.size(3));
  return Probe(FromText(yaml), {1, width, 1}).Scores(attention);
}

std::string Grid(int columns, const std::string& more = "") {
  return "{name: rope_2d, params: {columns: " + std::to_string(columns) + more +
         "}}";
}

// One pair for the row, one for the column: cells (1, 2) and (3, 0) of four
// columns.
TEST(Rope2dTest, HalvesTurnByRowAndColumn) {
  Attention attention;
  attention.positions_BT = Longs({1, 2}, {6, 12});
  attention.q_BHTD = attention.k_BHTD =
      Doubles({1, 1, 2, 4}, {1, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_NEAR(Scores(Grid(4), attention)[0][0][0][1].item<double>(),
              std::cos(2.0) / 2, 1e-15);
  attention.q_BHTD = attention.k_BHTD =
      Doubles({1, 1, 2, 4}, {0, 0, 1, 0, 0, 0, 1, 0});
  EXPECT_NEAR(Scores(Grid(4), attention)[0][0][1][0].item<double>(),
              std::cos(-2.0) / 2, 1e-15);
}

// Each half is a rope of half the width.
TEST(Rope2dTest, ItIsTwoRopes) {
  const Attention attention = RandomAttention(2, 1, 12, 16);
  for (const std::string layout : {"half_split", "interleaved"}) {
    at::Tensor sum;
    for (int half = 0; half < 2; ++half) {
      Attention part;
      part.q_BHTD = attention.q_BHTD.narrow(3, 8 * half, 8).contiguous();
      part.k_BHTD = attention.k_BHTD.narrow(3, 8 * half, 8).contiguous();
      part.positions_BT =
          half == 0 ? Longs({1, 12}, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2})
                    : Longs({1, 12}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
      const at::Tensor scores =
          Scores("{name: rope, params: {layout: " + layout + "}}", part) *
          std::sqrt(8.0);
      sum = half == 0 ? scores : sum + scores;
    }
    EXPECT_LT(MaxDifference(Scores(Grid(5, ", layout: " + layout), attention),
                            sum / 4.0),
              1e-14);
  }
}

TEST(Rope2dTest, ChannelsThatDoNotTurnStay) {
  const Attention attention = RandomAttention(2, 1, 12, 16);
  Attention turning = attention;
  turning.q_BHTD = attention.q_BHTD.narrow(3, 0, 8).contiguous();
  turning.k_BHTD = attention.k_BHTD.narrow(3, 0, 8).contiguous();
  const at::Tensor rest =
      attention.q_BHTD.narrow(3, 8, 8).matmul(
          attention.k_BHTD.narrow(3, 8, 8).transpose(2, 3)) /
      4.0;
  EXPECT_LT(
      MaxDifference(Scores(Grid(5, ", partial: 0.5"), attention),
                    Scores(Grid(5), turning) * std::sqrt(8.0) / 4.0 + rest),
      1e-14);
}

TEST(Rope2dTest, AShiftOfTheGridChangesNothing) {
  Attention attention = RandomAttention(1, 1, 4, 8);
  // A square of cells, then the same three rows down and two columns on.
  attention.positions_BT = Longs({1, 4}, {0, 1, 7, 8});
  const at::Tensor before = Scores(Grid(7), attention);
  attention.positions_BT = attention.positions_BT + (3 * 7 + 2);
  EXPECT_LT(MaxDifference(before, Scores(Grid(7), attention)), 1e-13);
}

TEST(Rope2dTest, InOneColumnOnlyTheFirstHalfTurns) {
  const Attention attention = RandomAttention(1, 1, 5, 8);
  const at::Tensor one = Scores(Grid(1), attention);
  const at::Tensor row = Scores(Grid(1000), attention);
  EXPECT_GT(MaxDifference(one, row), 1e-2);
  Attention swapped = attention;
  const at::Tensor order = Longs({8}, {4, 5, 6, 7, 0, 1, 2, 3});
  swapped.q_BHTD = attention.q_BHTD.index_select(3, order);
  swapped.k_BHTD = attention.k_BHTD.index_select(3, order);
  EXPECT_LT(MaxDifference(one, Scores(Grid(1000), swapped)), 1e-14);
}

}  // namespace
}  // namespace ordo::model::encodings
