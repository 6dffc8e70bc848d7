#include "scheduler/core/sparse_vector.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SparseVectorTest, ItIsEmptyUntilSomethingIsPutIntoIt) {
  SparseVector<std::string> names;
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.size(), 0u);
  EXPECT_EQ(names.begin(), names.end());
  names.push_back("a");
  names.push_back("b");
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(names[1], "b");
  EXPECT_THAT(names.value(), ElementsAre("a", "b"));
  names = std::vector<std::string>();
  EXPECT_TRUE(names.empty());
  EXPECT_THAT(names.value(), IsEmpty());
}

TEST(SparseVectorTest, CopiesDoNotShareTheirElements) {
  SparseVector<std::string> names;
  names = {"a", "b"};
  const SparseVector<std::string> copy = names;
  SparseVector<std::string> assigned;
  assigned = copy;
  names.push_back("c");
  EXPECT_THAT(copy.value(), ElementsAre("a", "b"));
  EXPECT_THAT(assigned.value(), ElementsAre("a", "b"));
}

TEST(SparseVectorTest, MovedElementsAreWhereTheyWent) {
  SparseVector<std::string> names;
  names = {"a"};
  const SparseVector<std::string> moved = std::move(names);
  EXPECT_THAT(moved.value(), ElementsAre("a"));
}

TEST(SparseVectorTest, TakesTheRoomOfAPointer) {
  EXPECT_EQ(sizeof(SparseVector<std::string>), sizeof(void*));
}

}  // namespace
}  // namespace ordo::scheduler::core
