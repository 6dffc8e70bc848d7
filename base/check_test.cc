#include "base/check.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(CheckTest, PassesWhenTheConditionHolds) {
  int num_evaluations = 0;
  ORDO_CHECK(++num_evaluations == 1) << "evaluated once";
  EXPECT_EQ(num_evaluations, 1);
}

TEST(CheckDeathTest, NamesPlaceConditionAndTextAndAborts) {
  EXPECT_DEATH(ORDO_CHECK(1 + 1 == 3) << "arithmetic of " << 2,
               "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3 "
               "arithmetic of 2");
}

}  // namespace
}  // namespace ordo::base
