#include "services/cli/sparkline.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(SparklineTest, GoesFromTheLeastToTheGreatest) {
  EXPECT_EQ(Sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 8, false), "_.-=+*%#");
  EXPECT_EQ(Sparkline({8, 1}, 8, true), "\u2588\u2581");
}

TEST(SparklineTest, OfManyValuesAColumnIsAMean) {
  EXPECT_EQ(Sparkline({0, 0, 3, 5, 8, 8}, 3, false), "_+#");
}

TEST(SparklineTest, ValuesThatAreEqualAreFlat) {
  EXPECT_EQ(Sparkline({2, 2, 2}, 8, false), "___");
}

TEST(HistoryTest, KeepsWhatIsFinite) {
  History history;
  history.Add(1);
  history.Add(std::numeric_limits<double>::quiet_NaN());
  history.Add(2);
  EXPECT_THAT(history.values(), ElementsAre(1, 2));
}

TEST(HistoryTest, OfManyValuesMeansAreKept) {
  History history;
  for (size_t i = 0; i < 10 * History::kMaxValues; ++i) {
    history.Add(i % 2 == 0 ? 1 : 3);
  }
  // Each of sixteen, after four times half of them were put together.
  EXPECT_THAT(history.values(), SizeIs(320));
  EXPECT_THAT(history.values(), Each(2.0));
}

}  // namespace
}  // namespace ordo::services::cli
