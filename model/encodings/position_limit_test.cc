#include "model/encodings/position_limit.h"

#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

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
  EXPECT_EQ(ErrorOf(model::testing::Longs({2, 2}, {0, 7, 3, 3})), "");
  EXPECT_EQ(ErrorOf(model::testing::Longs({1, 0}, {})), "");
}

TEST(PositionLimitTest, AnIdBeyondNamesItselfTheLimitAndTheFix) {
  EXPECT_THAT(ErrorOf(model::testing::Longs({1, 3}, {1, 8, 2})),
              AllOf(HasSubstr("position id 8"), HasSubstr("8 positions"),
                    HasSubstr("make it longer")));
}

TEST(PositionLimitTest, AnIdBelowZeroIsNamed) {
  EXPECT_THAT(ErrorOf(model::testing::Longs({1, 2}, {-1, 2})),
              HasSubstr("position id -1"));
}

}  // namespace
}  // namespace ordo::model::encodings
