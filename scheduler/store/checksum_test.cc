#include "scheduler/store/checksum.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::store {
namespace {

TEST(ChecksumTest, ItIsTheSameInEveryRelease) {
  EXPECT_EQ(Checksum("jobs").Add(7).Add("a").value(), 3551722178u);
}

TEST(ChecksumTest, TableKeyAndEachValueCount) {
  const uint32_t checksum = Checksum("jobs").Add(7).Add("a").Add("b").value();
  EXPECT_EQ(Checksum("jobs").Add(7).Add("a").Add("b").value(), checksum);
  EXPECT_NE(Checksum("specs").Add(7).Add("a").Add("b").value(), checksum);
  EXPECT_NE(Checksum("jobs").Add(8).Add("a").Add("b").value(), checksum);
  EXPECT_NE(Checksum("jobs").Add(7).Add("a").Add("c").value(), checksum);
}

TEST(ChecksumTest, WhereAValueEndsCounts) {
  EXPECT_NE(Checksum("t").Add("ab").Add("c").value(),
            Checksum("t").Add("a").Add("bc").value());
}

}  // namespace
}  // namespace ordo::scheduler::store
