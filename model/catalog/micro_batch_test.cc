#include "model/catalog/micro_batch.h"

#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

TEST(MicroBatchTest, ShortRowsFillAPassByTheirNumber) {
  EXPECT_EQ(MicroBatchRows({8, 100}, 1), 8);
  EXPECT_EQ(MicroBatchRows({8, 100}, 12), 8);
}

TEST(MicroBatchTest, LongRowsFillItByTheirTokens) {
  EXPECT_EQ(MicroBatchRows({8, 100}, 13), 7);
  EXPECT_EQ(MicroBatchRows({8, 100}, 50), 2);
  EXPECT_EQ(MicroBatchRows({8, 100}, 51), 1);
}

TEST(MicroBatchTest, ARowThatIsTooLongHasAPassOfItsOwn) {
  EXPECT_EQ(MicroBatchRows({8, 100}, 101), 1);
}

}  // namespace
}  // namespace ordo::model::catalog
