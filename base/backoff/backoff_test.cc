#include "base/backoff/backoff.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

BackoffOptions WithoutJitter() {
  BackoffOptions options;
  options.initial = absl::Seconds(1);
  options.max = absl::Seconds(10);
  options.jitter = 0;
  return options;
}

TEST(BackoffTest, DoublesUpToTheCap) {
  const BackoffOptions options = WithoutJitter();
  EXPECT_EQ(BackoffDelay(options, 0, "a"), absl::ZeroDuration());
  EXPECT_EQ(BackoffDelay(options, 1, "a"), absl::Seconds(1));
  EXPECT_EQ(BackoffDelay(options, 2, "a"), absl::Seconds(2));
  EXPECT_EQ(BackoffDelay(options, 4, "a"), absl::Seconds(8));
  EXPECT_EQ(BackoffDelay(options, 5, "a"), absl::Seconds(10));
  EXPECT_EQ(BackoffDelay(options, 1'000'000'000, "a"), absl::Seconds(10));
}

TEST(BackoffTest, AConstantDelayEndsToo) {
  BackoffOptions options = WithoutJitter();
  options.factor = 1;
  EXPECT_EQ(BackoffDelay(options, 1'000'000'000, "a"), absl::Seconds(1));
}

TEST(BackoffTest, JitterStaysInItsShareAndDependsOnTheKeyAlone) {
  BackoffOptions options = WithoutJitter();
  options.jitter = 0.5;
  for (int failures = 5; failures < 100; ++failures) {
    const absl::Duration delay = BackoffDelay(options, failures, "a");
    ASSERT_LE(delay, absl::Seconds(10));
    ASSERT_GE(delay, absl::Seconds(5));
    ASSERT_EQ(delay, BackoffDelay(options, failures, "a"));
  }
  EXPECT_NE(BackoffDelay(options, 5, "a"), BackoffDelay(options, 5, "b"));
  EXPECT_NE(BackoffDelay(options, 5, "a"), BackoffDelay(options, 6, "a"));
}

}  // namespace
}  // namespace ordo::base
