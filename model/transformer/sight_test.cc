#include "model/transformer/sight.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::Longs;

constexpr int64_t kB = 2, kHeads = 4, kQueries = 9, kKeys = 13;

SightOptions Options() {
  SightOptions options;
  options.num_queries = kQueries;
  options.num_keys = kKeys;
  options.heads = kHeads;
  return options;
}

at::Tensor Padding() {
  at::Tensor real = at::ones({kB, kKeys}, at::kBool);
  real[0].narrow(0, 0, 3).fill_(false);
  real[1].narrow(0, 11, 2).fill_(false);
  return real;
}

// What First() and causality say, bool [B,H,T,S].
at::Tensor ByFirst(const SightOptions& options, const Sight& sight) {
  const at::Tensor key = at::arange(kKeys);
  const at::Tensor query =
      at::arange(kKeys - options.num_queries, kKeys).unsqueeze(-1);
  at::Tensor seen =
      at::ones({kB, kHeads, options.num_queries, kKeys}, at::kBool);
  if (options.causal) seen = seen.logical_and(key.le(query));
  if (sight.First().defined()) {
    seen = seen.logical_and(key.ge(sight.First().unsqueeze(-1)));
  }
  if (sight.real().defined()) {
    seen = seen.logical_and(sight.real().unsqueeze(1).unsqueeze(1));
  }
  return seen;
}

using Change = std::function<void(SightOptions*)>;

const std::vector<std::pair<std::string, Change>>& Changes() {
  static const auto* const changes =
      new std::vector<std::pair<std::string, Change>>{
          {"plain", [](SightOptions*) {}},
          {"window", [](SightOptions* o) { o->sliding_window = 4; }},
          {"segments",
           [](SightOptions* o) {
             o->segments = {4, 0};
           }},
          {"memory",
           [](SightOptions* o) {
             o->segments = {4, 3};
           }},
          {"groups",
           [](SightOptions* o) {
             // They have no cache.
             o->num_queries = kKeys;
             o->shifted_sparse_group = 6;
           }},
          {"texts",
           [](SightOptions* o) {
             // They have no cache.
             o->num_queries = kKeys;
             o->sliding_window = 4;
             o->first_seen_BS =
                 Longs({kB, kKeys}, {0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 12,
                                     0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
           }},
          {"segments of texts",
           [](SightOptions* o) {
             // They have no cache.
             o->num_queries = kKeys;
             o->segments = {4, 3};
             o->first_seen_BS =
                 Longs({kB, kKeys}, {0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 12,
                                     0, 1, 1, 1, 1, 1, 1, 1, 8, 8, 8, 8, 8});
           }},
          {"both",
           [](SightOptions* o) {
             // Now one is the later bound, now the other.
             o->segments = {5, 2};
             o->sliding_window = 6;
           }},
      };
  return *changes;
}

TEST(SightTest, BothFormsSayTheSame) {
  for (const auto& [label, change] : Changes()) {
    for (const bool padded : {false, true}) {
      SightOptions options = Options();
      change(&options);
      const Sight sight(options, padded ? Padding() : at::Tensor(), at::kFloat);
      ASSERT_TRUE(sight.IsByFirst()) << label;
      const at::Tensor seen = ByFirst(options, sight);
      at::Tensor expected = sight.Mask(sight.All()).visible().expand_as(seen);
      at::Tensor found = seen;
      if (padded) {
        // What padding would see has no meaning.
        const at::Tensor real =
            Padding()
                .narrow(1, kKeys - options.num_queries, options.num_queries)
                .unsqueeze(1)
                .unsqueeze(-1);
        expected = expected.logical_and(real);
        found = found.logical_and(real);
      }
      EXPECT_TRUE(found.equal(expected)) << label << " " << padded;
    }
  }
}

TEST(SightTest, ATextSeesNothingOfThoseBeforeIt) {
  SightOptions options = Options();
  options.num_queries = kKeys;
  at::Tensor first = at::zeros({kB, kKeys}, at::kLong);
  first[1].narrow(0, 5, 8).fill_(5);
  options.first_seen_BS = first;
  const Sight sight(options, {}, at::kFloat);
  for (const at::Tensor& seen :
       {sight.Mask(sight.All()).visible(),
        sight.MaskOfEncodings(sight.All()).visible()}) {
    EXPECT_TRUE(seen[0][0][5][4].item<bool>());
    EXPECT_FALSE(seen[1][0][5][4].item<bool>());
    EXPECT_TRUE(seen[1][0][5][5].item<bool>());
    EXPECT_TRUE(seen[1][0][12][5].item<bool>());
    EXPECT_TRUE(seen[1][0][4][0].item<bool>());
  }
}

TEST(SightTest, FirstKeysAscend) {
  for (const auto& [label, change] : Changes()) {
    SightOptions options = Options();
    change(&options);
    const at::Tensor first = Sight(options, Padding(), at::kFloat).First();
    if (!first.defined()) continue;
    const int64_t steps = first.size(2) - 1;
    EXPECT_TRUE(first.narrow(2, 1, steps)
                    .ge(first.narrow(2, 0, steps))
                    .all()
                    .item<bool>())
        << label;
  }
}

TEST(SightTest, WindowsBothWaysAreNoMatterOfTheFirst) {
  SightOptions options = Options();
  options.causal = false;
  EXPECT_TRUE(Sight(options, {}, at::kFloat).IsByFirst());
  options.sliding_window = 4;
  EXPECT_FALSE(Sight(options, {}, at::kFloat).IsByFirst());
}

TEST(SightTest, EncodingsDoNotSeeGroups) {
  SightOptions options = Options();
  options.num_queries = kKeys;
  options.shifted_sparse_group = 6;
  const Sight sight(options, {}, at::kFloat);
  EXPECT_EQ(sight.MaskOfEncodings(sight.All()).visible().size(1), 1);
  EXPECT_EQ(sight.Mask(sight.All()).visible().size(1), kHeads);
}

// Whether tokens number i and j are of one group, walked token by token.
bool OfOneGroup(int64_t i, int64_t j, int64_t group, bool shifted) {
  int64_t number_i = 0, number_j = 0, number = 0;
  for (int64_t token = 0; token < 64; ++token) {
    const int64_t first = shifted ? group / 2 : group;
    if (token >= first && (token - first) % group == 0) ++number;
    if (token == i) number_i = number;
    if (token == j) number_j = number;
  }
  return number_i == number_j;
}

TEST(SightTest, HalfOfTheHeadsHaveGroupsShiftedByHalfOfOne) {
  SightOptions options = Options();
  options.num_queries = kKeys;
  for (const int64_t group : {2, 4, 6, 26, 40}) {
    options.shifted_sparse_group = group;
    const Sight sight(options, {}, at::kFloat);
    const at::Tensor seen = sight.Mask(sight.All()).visible();
    ASSERT_EQ(seen.sizes(), (std::vector<int64_t>{1, kHeads, kKeys, kKeys}));
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t i = 0; i < kKeys; ++i) {
        for (int64_t j = 0; j < kKeys; ++j) {
          EXPECT_EQ(seen[0][h][i][j].item<bool>(),
                    j <= i && OfOneGroup(i, j, group, h >= kHeads / 2))
              << group << ": head " << h << ", " << i << ", " << j;
        }
      }
    }
  }
}

// What of [*,*,T,S] lies in the block.
at::Tensor CutOut(const at::Tensor& x, const Block& block) {
  return x.narrow(2, block.first_query, block.num_queries)
      .narrow(3, block.first_key, block.num_keys);
}

TEST(SightTest, BlocksAreCutOutOfAllAndLeaveOutWhatTheirQueriesDoNotSee) {
  std::vector<SightOptions> all;
  for (const auto& [label, change] : Changes()) {
    all.push_back(Options());
    change(&all.back());
  }
  // Both ways.
  all.push_back(Options());
  all.back().num_queries = kKeys;
  all.back().causal = false;
  all.push_back(all.back());
  all.back().sliding_window = 4;
  for (const SightOptions& options : all) {
    const Sight sight(options, Padding(), at::kFloat);
    const at::Tensor seen = sight.Mask(sight.All()).visible();
    const at::Tensor of_encodings =
        sight.MaskOfEncodings(sight.All()).visible();
    for (int64_t first = 0; first < options.num_queries; first += 4) {
      const Block block =
          sight.Of(first, std::min<int64_t>(4, options.num_queries - first));
      const at::Tensor of_block = sight.Mask(block).visible();
      EXPECT_TRUE(of_block.equal(CutOut(seen, block)));
      EXPECT_EQ(of_block.sum().item<int64_t>(),
                seen.narrow(2, first, block.num_queries).sum().item<int64_t>());
      EXPECT_TRUE(sight.MaskOfEncodings(block).visible().equal(
          CutOut(of_encodings, block)));
      if (options.segments.length == 0) continue;
      EXPECT_TRUE(sight.SameSegment(block).equal(
          CutOut(sight.SameSegment(sight.All()), block)));
    }
  }
}

TEST(SightTest, BlocksOfAWindowHaveTheKeysInReach) {
  SightOptions options = Options();
  options.sliding_window = 3;
  const Block causal = Sight(options, {}, at::kFloat).Of(4, 2);
  EXPECT_EQ(causal.first_key, 6);
  EXPECT_EQ(causal.num_keys, 4);
  options.causal = false;
  const Block both_ways = Sight(options, {}, at::kFloat).Of(4, 2);
  EXPECT_EQ(both_ways.first_key, 6);
  EXPECT_EQ(both_ways.num_keys, 6);
}

TEST(SightTest, WhatIsSeenIsSeenByAQuery) {
  for (const auto& [label, change] : Changes()) {
    for (const bool padded : {false, true}) {
      SightOptions options = Options();
      change(&options);
      const Sight sight(options, padded ? Padding() : at::Tensor(), at::kFloat);
      const at::Tensor right =
          sight.MaskOfEncodings(sight.All()).visible().any(2).squeeze(1);
      const at::Tensor seen = sight.Seen();
      EXPECT_TRUE((seen.defined() ? seen : at::ones({1, kKeys}, at::kBool))
                      .expand_as(right)
                      .equal(right))
          << label << " " << padded;
    }
  }
}

TEST(SightTest, SegmentsOfATextBeginWithIt) {
  SightOptions options;
  options.num_queries = options.num_keys = 7;
  options.heads = 1;
  options.segments = {2, 1};
  options.first_seen_BS =
      Longs({2, 7}, {0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0});
  const Sight sight(options, {}, at::kFloat);
  // Their own segment, and one token before it that is of their text.
  EXPECT_TRUE(sight.First().squeeze(1).equal(
      Longs({2, 7}, {0, 0, 1, 3, 3, 4, 4, 0, 0, 1, 1, 3, 3, 5})));
  const at::Tensor same = sight.SameSegment(sight.All());
  EXPECT_FALSE(same[0][0][3][2].item<bool>());
  EXPECT_TRUE(same[0][0][4][3].item<bool>());
  EXPECT_FALSE(same[0][0][5][4].item<bool>());
  EXPECT_TRUE(same[1][0][3][2].item<bool>());
}

TEST(SightTest, SegmentsCountRealTokens) {
  SightOptions options = Options();
  options.num_queries = options.num_keys = 4;
  options.segments = {2, 0};
  const Sight sight(options, Longs({1, 4}, {0, 1, 1, 1}).to(at::kBool),
                    at::kFloat);
  EXPECT_TRUE(sight.SameSegment(sight.All())[0][0][2][1].item<bool>());
  EXPECT_FALSE(sight.SameSegment(sight.All())[0][0][3][2].item<bool>());
}

}  // namespace
}  // namespace ordo::model::transformer
