#include "model/data/order_digest.h"

#include "base/digest/digest.h"
#include "gtest/gtest.h"

namespace ordo::model::data {
namespace {

using tasks::Sample;

std::string After(const std::string& before, const std::vector<Sample>& rows) {
  OrderDigest digest;
  for (const Sample& row : rows) digest.Add(row);
  return digest.After(before);
}

std::string Of(const std::vector<Sample>& rows) {
  return After(OrderDigest::OfNoRows(), rows);
}

const Sample kRow = {{5, 6, 7}, {0, 0, 1}};
const Sample kOther = {{5, 9, 7}, {0, 0, 1}};

TEST(OrderDigest, IsAHashOverTheDigestBeforeAndTheRow) {
  // Each token as four bytes, then 1 + what is to be said, or 0.
  const std::string bytes("\5\0\0\0\0\0\0\0\6\0\0\0\x8\0\0\0", 16);
  EXPECT_EQ(Of({kRow}), base::Sha256Hex(base::Sha256Hex("") + bytes));
}

TEST(OrderDigest, GoesOnFromWhatWasBefore) {
  EXPECT_EQ(After(Of({kRow}), {kOther, kRow}), Of({kRow, kOther, kRow}));
  EXPECT_EQ(After(Of({kRow}), {}), Of({kRow}));
}

TEST(OrderDigest, TellsTheOrderOfRows) {
  EXPECT_NE(Of({kRow, kOther}), Of({kOther, kRow}));
}

TEST(OrderDigest, TellsTokensAndWhatIsScored) {
  EXPECT_NE(Of({kRow}), Of({kOther}));
  EXPECT_NE(Of({kRow}), Of({{{5, 6, 7}, {0, 1, 1}}}));
  EXPECT_NE(Of({kRow}), Of({{{5, 6, 8}, {0, 0, 1}}}));
  EXPECT_NE(Of({kRow}), Of({{{5, 6, 7}, {0, 0, 1}, {0, 0, 8}}}));
  EXPECT_NE(Of({{{5, 6}, {0, 1}}, {{7, 8}, {0, 1}}}),
            Of({{{5, 6, 7, 8}, {0, 1, 0, 1}}}));
}

TEST(OrderDigest, LeavesOutWhatTrainingDoesNotSee) {
  // The last token where it is not scored, what is said where nothing is, and
  // whether the targets are told apart from the tokens.
  EXPECT_EQ(Of({{{5, 6, 7}, {0, 1, 0}}}), Of({{{5, 6, 8}, {1, 1, 0}}}));
  EXPECT_EQ(Of({kRow}), Of({{{5, 6, 0}, {0, 0, 1}, {1, 2, 7}}}));
}

}  // namespace
}  // namespace ordo::model::data
