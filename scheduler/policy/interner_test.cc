#include "scheduler/policy/interner.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

TEST(InternerTest, EqualValuesHaveOneNumber) {
  Interner<std::string> interner;
  const int a = interner.Acquire("a");
  const int b = interner.Acquire("b");

  EXPECT_NE(a, b);
  EXPECT_EQ(interner.Acquire("a"), a);
  EXPECT_EQ(interner.Find("a"), a);
  EXPECT_EQ(interner.uses(a), 2);
}

TEST(InternerTest, ANumberIsGivenAgainAfterItsLastUse) {
  Interner<std::string> interner;
  const int a = interner.Acquire("a");
  interner.Acquire("a");

  EXPECT_FALSE(interner.Release(a, "a"));
  EXPECT_TRUE(interner.Release(a, "a"));
  EXPECT_EQ(interner.Find("a"), -1);
  EXPECT_EQ(interner.Acquire("c"), a);
  EXPECT_EQ(interner.size(), 1u);
}

}  // namespace
}  // namespace ordo::scheduler::policy
