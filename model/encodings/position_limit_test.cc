#include "model/encodings/position_limit.h"

#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ErrorOf(const at::Tensor& positions) {
  try {
    CheckPositions(positions, 8, "make it longer");
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(PositionLimitTest, IdsFromZeroToBelowTheLimitPass) {
  EXPECT_EQ(ErrorOf(Longs({2, 2}, {0, 7, 3, 3})), "");
  EXPECT_EQ(ErrorOf(Longs({1, 0}, {})), "");
}

TEST(PositionLimitTest, AnIdBeyondNamesItselfTheLimitAndTheFix) {
  EXPECT_THAT(ErrorOf(Longs({1, 3}, {1, 8, 2})),
              AllOf(HasSubstr("position id 8"), HasSubstr("8 positions"),
                    HasSubstr("make it longer")));
}

TEST(PositionLimitTest, AnIdBelowZeroIsNamed) {
  EXPECT_THAT(ErrorOf(Longs({1, 2}, {-1, 2})), HasSubstr("position id -1"));
}

std::string OrderErrorOf(const at::Tensor& positions,
                         const at::Tensor& real = {}) {
  try {
    CheckAscending(positions, real, "t5");
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(PositionLimitTest, IdsThatStayOrGoOnAreInOrder) {
  EXPECT_EQ(OrderErrorOf(Longs({2, 3}, {0, 0, 5, 7, 9, 9})), "");
  EXPECT_EQ(OrderErrorOf(Longs({1, 0}, {})), "");
}

TEST(PositionLimitTest, IdsThatGoBackNameTheirPlaceAndTheFix) {
  EXPECT_EQ(OrderErrorOf(Longs({2, 4}, {0, 1, 2, 3, 4, 9, 9, 8})),
            "positions: row 1 goes back to 8 at token 3 after 9; under the "
            "causal mask t5 has no distances below 0: give ids that do not "
            "decrease");
}

// Ids of padding are counted from the real tokens, and may be anything.
TEST(PositionLimitTest, IdsOfPaddingAreInAnyOrder) {
  const at::Tensor real = Longs({2, 4}, {0, 0, 1, 1, 1, 1, 1, 0}).to(at::kBool);
  EXPECT_EQ(OrderErrorOf(Longs({2, 4}, {1, 1, 0, 1, 0, 1, 2, 0}), real), "");
  EXPECT_EQ(OrderErrorOf(Longs({1, 4}, {9, 9, 2, 3}), real.narrow(0, 0, 1)),
            "");
  EXPECT_THAT(OrderErrorOf(Longs({1, 4}, {5, 4, 6, 7}), real),
              HasSubstr("row 1 goes back to 4 at token 1 after 5"));
}

}  // namespace
}  // namespace ordo::model::encodings
