#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

TEST(EntriesRotaryTest, ShareOfTurningChannelsIsRoundedDown) {
  ParamMap params;
  params["partial"].set_number_value(0.3);
  EXPECT_EQ(TurningChannels(params, 8), 2);
  params["partial"].set_number_value(1.0);
  EXPECT_EQ(TurningChannels(params, 8), 8);
}

}  // namespace
}  // namespace ordo::model::catalog
