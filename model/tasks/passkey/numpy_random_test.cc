#include "model/tasks/passkey/numpy_random.h"

#include "gtest/gtest.h"

namespace ordo::model::tasks::passkey {
namespace {

// Required of every std::mt19937 (C++17, [rand.predef]).
TEST(NumpyRandom, HasTheTenThousandthNumberOfTheStandard) {
  NumpyRandom random(5489);
  for (int i = 0; i < 9999; ++i) random.Bits();
  EXPECT_EQ(random.Bits(), 4123659995U);
}

// numpy.random.seed(0); numpy.random.randint(0, 100), twice.
TEST(NumpyRandom, DrawsTheIntegersOfNumpy) {
  NumpyRandom random(0);
  EXPECT_EQ(random.Int(0, 100), 44U);
  EXPECT_EQ(random.Int(0, 100), 47U);
}

TEST(NumpyRandom, DrawsTheOnlyNumberThereIs) {
  EXPECT_EQ(NumpyRandom(7).Int(5, 6), 5U);
}

}  // namespace
}  // namespace ordo::model::tasks::passkey
