#include "services/auth/throttle.h"

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "base/clock/testing/fake_clock.h"
#include "gtest/gtest.h"

namespace ordo::services::auth {
namespace {

constexpr char kPeer[] = "ipv4:10.0.0.1:5000";

class ThrottleTest : public ::testing::Test {
 protected:
  bool Fail(const std::string& peer) {
    return throttle_.Fail(peer, &num_left_out_);
  }

  base::testing::FakeClock clock_;
  Throttle throttle_{clock_};
  int64_t num_left_out_ = 0;
};

TEST_F(ThrottleTest, AfterManyFailuresAnAddressWaits) {
  EXPECT_TRUE(throttle_.MayTry(kPeer));
  for (int i = 0; i < kFailureBurst; ++i) EXPECT_TRUE(Fail(kPeer)) << i;
  // Another port is the same address.
  EXPECT_FALSE(Fail("ipv4:10.0.0.1:6000"));
  EXPECT_FALSE(Fail(kPeer));
  EXPECT_FALSE(throttle_.MayTry(kPeer));
  EXPECT_TRUE(throttle_.MayTry("ipv4:10.0.0.2:5000"));
  EXPECT_EQ(num_left_out_, 0);

  clock_.Advance(kFailurePeriod);
  EXPECT_TRUE(throttle_.MayTry(kPeer));
  EXPECT_TRUE(Fail(kPeer));
  EXPECT_EQ(num_left_out_, 2);
  EXPECT_FALSE(throttle_.MayTry(kPeer));
}

TEST_F(ThrottleTest, AddressesBeyondTheMostShareOneShare) {
  for (size_t i = 0; i < kMaxAddresses; ++i) {
    EXPECT_TRUE(Fail("ipv4:a" + std::to_string(i) + ":1"));
  }
  for (int i = 0; i < kFailureBurst; ++i) {
    EXPECT_TRUE(Fail("ipv4:b" + std::to_string(i) + ":1"));
  }
  EXPECT_FALSE(Fail("ipv4:c:1"));
  EXPECT_TRUE(Fail("ipv4:a0:1"));
  // Those that have been quiet are forgotten.
  clock_.Advance(kFailurePeriod * kFailureBurst);
  for (int i = 0; i < kFailureBurst; ++i) EXPECT_TRUE(Fail("ipv4:c:1"));
}

}  // namespace
}  // namespace ordo::services::auth
