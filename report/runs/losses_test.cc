#include "report/runs/losses.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report::runs {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LossesTest, ALaterAttemptTakesThePlaceOfWhatWasAfterItsBeginning) {
  std::map<int64_t, double> losses;
  AddLosses(
      "{\"step\":10,\"loss\":3}\n{\"step\":20,\"loss\":2.5}\n"
      "{\"step\":30,\"loss\":2.25}\n",
      &losses);
  AddLosses("{\"step\":20,\"loss\":2.5}\n{\"step\":25,\"loss\":2}\n", &losses);
  EXPECT_THAT(losses, ElementsAre(Pair(10, 3), Pair(20, 2.5), Pair(25, 2)));
}

TEST(LossesTest, LinesWithoutALossArePassedOver) {
  std::map<int64_t, double> losses;
  AddLosses(
      "{\"step\":10,\"evaluation\":\"grid\",\"grid_mean\":0.5}\n"
      "{\"step\":20,\"loss\":null}\n"
      "no JSON\n"
      "\n"
      "{\"time\":\"now\",\"step\":30,\"loss\":1.5,\"tokens\":7}\n"
      "{\"step\":40,\"lo",
      &losses);
  EXPECT_THAT(losses, ElementsAre(Pair(30, 1.5)));
}

}  // namespace
}  // namespace ordo::report::runs
