#include "model/text/rows/mixture.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::rows {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

Mixture Make(const std::vector<Source>& sources) {
  auto mixture = Mixture::Create(sources);
  EXPECT_TRUE(mixture.ok()) << mixture.status();
  return *std::move(mixture);
}

TEST(Mixture, EachSourceHasItsShareAtAnyTime) {
  const std::vector<Source> sources = {
      {"a", 5, 70}, {"b", 3, 11}, {"c", 1.5, 400}, {"d", 0.5, 1}};
  const Mixture mixture = Make(sources);
  std::vector<double> counts(4, 0);
  for (uint64_t index = 0; index < 25000; ++index) {
    ++counts[mixture.Find(1, index).source];
    for (size_t i = 0; i < 4; ++i) {
      const double share =
          static_cast<double>(index + 1) * sources[i].weight / 10;
      ASSERT_LE(std::abs(counts[i] - share), 4) << index << " " << i;
    }
  }
}

TEST(Mixture, TheSharesOfATurnOfTurnsAreExact) {
  const Mixture mixture = Make({{"a", 2, 5}, {"b", 1, 5}});
  std::vector<int> counts(2, 0);
  for (uint64_t index = 0; index < Mixture::kNumTurns; ++index) {
    ++counts[mixture.Find(1, index).source];
  }
  EXPECT_EQ(counts[0], 6667);
  EXPECT_EQ(counts[1], 3333);
}

TEST(Mixture, EachEpochOfASourceHasEachOfItsRowsOnce) {
  const Mixture mixture = Make({{"a", 3, 7000}, {"b", 1, 13}});
  // By source and epoch.
  std::map<std::pair<size_t, uint64_t>, std::set<uint64_t>> rows;
  std::map<size_t, uint64_t> last;
  for (uint64_t index = 0; index < 30000; ++index) {
    const Mixture::Place place = mixture.Find(3, index);
    const auto epoch = std::make_pair(place.source, place.epoch);
    EXPECT_TRUE(rows[epoch].insert(place.row).second) << index;
    EXPECT_LE(last[place.source], place.epoch);
    last[place.source] = place.epoch;
  }
  EXPECT_EQ((rows[{0, 2}].size()), 7000);
  EXPECT_EQ((rows[{1, 500}].size()), 13);
}

std::vector<uint64_t> Rows(const Mixture& mixture, uint64_t seed,
                           size_t source) {
  std::vector<uint64_t> rows;
  for (uint64_t index = 0; rows.size() < 50; ++index) {
    const Mixture::Place place = mixture.Find(seed, index);
    if (place.source == source) rows.push_back(place.row);
  }
  return rows;
}

TEST(Mixture, OrdersDifferBySeedSourceAndEpoch) {
  const Mixture mixture = Make({{"a", 1, 50}, {"b", 1, 50}});
  EXPECT_NE(Rows(mixture, 1, 0), Rows(mixture, 2, 0));
  EXPECT_NE(Rows(mixture, 1, 0), Rows(mixture, 1, 1));
  std::vector<uint64_t> epochs[2];
  const Mixture alone = Make({{"a", 1, 50}});
  for (uint64_t index = 0; index < 100; ++index) {
    epochs[index / 50].push_back(alone.Find(1, index).row);
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(Mixture, ASourceHasTheSameOrderWhateverStandsBesideIt) {
  const Mixture one = Make({{"a", 1, 50}});
  const Mixture two = Make({{"b", 7, 3}, {"a", 2, 50}});
  EXPECT_EQ(Rows(one, 1, 0), Rows(two, 1, 1));
}

TEST(Mixture, FindsLateRowsAsTheyWouldHaveBeen) {
  const Mixture mixture = Make({{"a", 2, 5}, {"b", 1, 1000000007}});
  uint64_t of_b = 0;
  for (uint64_t index = 0; index < 3 * Mixture::kNumTurns; ++index) {
    if (mixture.Find(1, index).source == 1) ++of_b;
  }
  EXPECT_EQ(of_b, 3 * 3333);
  const uint64_t late = std::numeric_limits<uint64_t>::max() / 100000;
  EXPECT_LT(mixture.Find(1, late).row, 1000000007);
  EXPECT_GT(mixture.Find(1, late).epoch, 1000);
}

TEST(Mixture, RefusesWhatCannotBeMixed) {
  EXPECT_THAT(Mixture::Create({}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sources: must have one")));
  EXPECT_THAT(Mixture::Create({{"a", 0, 1}, {"a", -1, 0}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("sources[0].weight: must be above 0"),
                             HasSubstr("sources[1].weight: must be above 0"),
                             HasSubstr("sources[1].name: 'a' is there twice"),
                             HasSubstr("sources[1]: has no row"))));
  EXPECT_THAT(Mixture::Create({{"a", 1, 1}, {"b", 1e-5, 1}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sources[1].weight: is less than one row")));
  EXPECT_THAT(
      Mixture::Create({{"a", std::numeric_limits<double>::infinity(), 1}})
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::model::text::rows
