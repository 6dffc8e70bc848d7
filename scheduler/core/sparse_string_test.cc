#include "scheduler/core/sparse_string.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

TEST(SparseStringTest, ItIsEmptyUntilItIsSetAndAfterItIsCleared) {
  SparseString text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.value(), "");
  text = std::string("ada");
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.value(), "ada");
  text.clear();
  EXPECT_TRUE(text.empty());
  text = std::string("ada");
  text = std::string();
  EXPECT_TRUE(text.empty());
}

TEST(SparseStringTest, CopiesDoNotShareTheirText) {
  SparseString text;
  text = std::string("ada");
  const SparseString copy = text;
  SparseString assigned;
  assigned = copy;
  text = std::string("bob");
  EXPECT_EQ(copy.value(), "ada");
  EXPECT_EQ(assigned.value(), "ada");
  assigned = SparseString();
  EXPECT_TRUE(assigned.empty());
}

TEST(SparseStringTest, MovedTextIsWhereItWent) {
  SparseString text;
  text = std::string("ada");
  const SparseString moved = std::move(text);
  EXPECT_EQ(moved.value(), "ada");
}

TEST(SparseStringTest, TakesTheRoomOfAPointer) {
  EXPECT_EQ(sizeof(SparseString), sizeof(void*));
}

}  // namespace
}  // namespace ordo::scheduler::core
