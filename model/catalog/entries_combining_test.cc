#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

TEST(EntriesCombiningTest, NoneHasNoParametersAndNoLimit) {
  ordo::training::v1::Component none;
  none.set_name("none");
  EXPECT_EQ(CountParameters(none, {2, 16, 2}), 0);
  EXPECT_EQ(MaxLength(none), 0);
}

}  // namespace
}  // namespace ordo::model::catalog
