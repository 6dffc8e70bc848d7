#include "model/transformer/cache.h"

#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::Longs;
using testing::Normals;
using testing::SameBits;

TEST(CacheTest, SelectRowsKeepsThoseRowsInThatOrder) {
  Cache cache;
  const at::Tensor keys = Normals({3, 2, 4, 5}, "k");
  cache.layers.push_back({{keys}, {Normals({3, 2, 4, 7}, "v")}});
  cache.positions = Longs({3, 1}, {10, 11, 12});
  cache.tokens = Longs({3, 1}, {5, 6, 7});
  cache.attention_mask = Longs({3, 1}, {1, 1, 0});
  cache.SelectRows(Longs({2}, {2, 0}));
  EXPECT_TRUE(SameBits(cache.layers[0].keys[0][0], keys[2]));
  EXPECT_TRUE(SameBits(cache.layers[0].keys[0][1], keys[0]));
  EXPECT_EQ(cache.layers[0].values[0].size(0), 2);
  EXPECT_TRUE(SameBits(cache.positions, Longs({2, 1}, {12, 10})));
  EXPECT_TRUE(SameBits(cache.tokens, Longs({2, 1}, {7, 5})));
  EXPECT_TRUE(SameBits(cache.attention_mask, Longs({2, 1}, {0, 1})));
}

TEST(CacheTest, PositionsThatAllRowsShareStay) {
  Cache cache;
  cache.positions = Longs({1, 2}, {0, 1});
  cache.SelectRows(Longs({1}, {2}));
  EXPECT_TRUE(SameBits(cache.positions, Longs({1, 2}, {0, 1})));
}

}  // namespace
}  // namespace ordo::model::transformer
