#include "model/transformer/sight.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/ones.h"
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
      at::Tensor expected = sight.Mask().visible().expand_as(seen);
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
  EXPECT_EQ(sight.MaskOfEncodings().visible().size(1), 1);
  EXPECT_EQ(sight.Mask().visible().size(1), kHeads);
}

TEST(SightTest, SegmentsCountRealTokens) {
  SightOptions options = Options();
  options.num_queries = options.num_keys = 4;
  options.segments = {2, 0};
  const Sight sight(options, Longs({1, 4}, {0, 1, 1, 1}).to(at::kBool),
                    at::kFloat);
  EXPECT_TRUE(sight.SameSegment()[0][0][2][1].item<bool>());
  EXPECT_FALSE(sight.SameSegment()[0][0][3][2].item<bool>());
}

}  // namespace
}  // namespace ordo::model::transformer
