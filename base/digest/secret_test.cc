#include "base/digest/secret.h"

#include <set>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(SecretTest, NoTwoAreTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(RandomBytes(16));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(RandomBytes(32).size(), 32u);
}

}  // namespace
}  // namespace ordo::base
