#include "model/tasks/ruoss/items.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::ruoss {
namespace {

using ::testing::ElementsAre;

TEST(Kinds, AreFifteenOfDifferentNames) {
  std::set<std::string_view> names;
  for (const Kind& kind : Kinds()) {
    names.insert(kind.name);
    EXPECT_EQ(KindOf(kind.name).draw, kind.draw);
  }
  EXPECT_EQ(names.size(), 15u);
}

TEST(Kinds, ItemsHaveTheLengthsThatTheySay) {
  for (const Kind& kind : Kinds()) {
    for (int n = 1; n <= 130; ++n) {
      base::RandomSequence random(1, absl::StrCat("data/", n));
      const Item item = kind.draw(n, &random);
      EXPECT_EQ(static_cast<int>(item.input.size()), kind.num_inputs(n))
          << kind.name << n;
      EXPECT_EQ(static_cast<int>(item.output.size()), kind.num_outputs(n))
          << kind.name << n;
      EXPECT_GE(item.num_measured, 1u) << kind.name << n;
      EXPECT_LE(item.num_measured, item.output.size()) << kind.name << n;
      for (const int64_t symbol : item.input) {
        EXPECT_GE(symbol, 0);
        EXPECT_LT(symbol, kEmpty);
      }
      for (const int64_t symbol : item.output) {
        EXPECT_GE(symbol, 0);
        EXPECT_LT(symbol, 5);
      }
    }
  }
}

TEST(Marked, FillsUpWithZerosThatAreNotMeasured) {
  const Item item = Marked({1, 1}, {1, 0}, 5);
  EXPECT_THAT(item.output, ElementsAre(1, 0, 2, 0, 0));
  EXPECT_EQ(item.num_measured, 3u);
}

TEST(DrawDigits, DrawsEachEquallyOften) {
  base::RandomSequence random(1, "data/0");
  int counts[5] = {};
  for (const int64_t digit : DrawDigits(50000, 5, &random)) ++counts[digit];
  // Standard deviation 89; six of them.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 540);
}

}  // namespace
}  // namespace ordo::model::tasks::ruoss
