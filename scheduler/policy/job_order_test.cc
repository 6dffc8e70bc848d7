#include "scheduler/policy/job_order.h"

#include <iterator>
#include <set>

#include "base/random/random.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::policy {
namespace {

// The same, obviously.
using Expected = std::set<OrderKey>;

void ExpectSame(const JobOrder& order, const Expected& expected) {
  ASSERT_EQ(order.size(), static_cast<int64_t>(expected.size()));
  ASSERT_EQ(order.empty(), expected.empty());
  if (expected.empty()) return;
  std::optional<OrderKey> key = order.first();
  int64_t before = 0;
  for (const OrderKey& other : expected) {
    ASSERT_TRUE(key.has_value());
    ASSERT_EQ(*key, other);
    ASSERT_EQ(order.CountBefore(other), before++);
    ASSERT_TRUE(order.Contains(other));
    key = order.After(*key);
  }
  ASSERT_FALSE(key.has_value());
}

TEST(JobOrderTest, JobsThatComeLastFollowEachOther) {
  JobOrder order;
  Expected expected;
  for (int64_t i = 0; i < 1000; ++i) {
    order.Insert({i, i});
    expected.insert({i, i});
  }
  ExpectSame(order, expected);
}

TEST(JobOrderTest, IsASortedSetWhateverComesAndGoes) {
  base::RandomSequence random(1, "job_order");
  for (const uint64_t range : {20, 400, 100000}) {
    JobOrder order;
    Expected expected;
    for (int i = 0; i < 6000; ++i) {
      const OrderKey key{static_cast<int64_t>(random.Int(range)),
                         static_cast<int64_t>(random.Int(3))};
      // First more come, then more leave.
      if (expected.count(key) == 0 && (i < 3000 || random.Int(4) == 0)) {
        order.Insert(key);
        expected.insert(key);
      } else if (expected.count(key) > 0) {
        order.Erase(key);
        expected.erase(key);
      } else if (!expected.empty()) {
        order.Erase(*expected.begin());
        expected.erase(expected.begin());
      }
      if (i % 500 == 0) ExpectSame(order, expected);
    }
    ExpectSame(order, expected);
  }
}

TEST(JobOrderTest, WhatIsNotThereHasAPlaceToo) {
  JobOrder order;
  for (int64_t i = 0; i < 600; ++i) order.Insert({10 * i, i});

  EXPECT_EQ(order.CountBefore({15, 0}), 2);
  EXPECT_EQ(order.After({15, 0})->k, 20);
  EXPECT_FALSE(order.Contains({15, 0}));
  EXPECT_FALSE(order.After({10 * 599, 599}).has_value());
}

}  // namespace
}  // namespace ordo::scheduler::policy
