#include "scheduler/policy/accounts.h"

#include "gtest/gtest.h"
#include "scheduler/policy/testing/boards.h"

namespace ordo::scheduler::policy {
namespace {

using testing::Cpus;
using testing::TestBoard;
using testing::Waiter;

// Two devices of four held by ann, one job of two devices waits.
class AccountsTest : public ::testing::Test {
 protected:
  AccountsTest() {
    test_.PutQueue("default", {2, 4, 3});
    test_.PutWorker("w1", 8);
    test_.Run(test_.Wait(Cpus(2)), "w1");
    test_.Wait(Cpus(2));
  }

  const Tables& tables() const { return test_.board.tables(); }
  const Lane& lane() const {
    return tables().lanes[tables().waiting.at(2).lane];
  }

  TestBoard test_;
};

TEST_F(AccountsTest, ClaimsCountWhatIsHeldAndAsked) {
  const Accounts accounts(tables());

  EXPECT_EQ(accounts.QueueClaim(lane(), false).wanted, 4);
  EXPECT_FALSE(accounts.QueueClaim(lane(), false).exceeds());
  EXPECT_EQ(accounts.OwnerClaim(lane(), false).wanted, 4);
  EXPECT_TRUE(accounts.OwnerClaim(lane(), false).exceeds());
  EXPECT_TRUE(accounts.GuaranteeClaim(lane(), false).exceeds());
}

TEST_F(AccountsTest, ClaimsCountWhatTheCallGives) {
  Accounts accounts(tables());
  accounts.Add(lane(), 1);

  EXPECT_TRUE(accounts.QueueClaim(lane(), false).exceeds());
  EXPECT_EQ(accounts.OwnerClaim(lane(), false).wanted, 5);
}

TEST_F(AccountsTest, AReservedJobIsCountedOnce) {
  test_.board.Reserve({2, absl::InfiniteDuration(), {{"w1", 1}}});
  const Accounts accounts(tables());

  EXPECT_EQ(accounts.QueueClaim(lane(), true).wanted, 4);
  EXPECT_EQ(accounts.QueueClaim(lane(), false).wanted, 6);
}

TEST_F(AccountsTest, MoreThanTheLimitIsImpossible) {
  test_.Wait(Cpus(5));
  const Lane& lane = tables().lanes[tables().waiting.at(3).lane];

  EXPECT_TRUE(Accounts(tables()).QueueClaim(lane, false).impossible);
  EXPECT_TRUE(Accounts(tables()).OwnerClaim(lane, false).impossible);
}

TEST_F(AccountsTest, WithoutLimitsNothingExceeds) {
  test_.PutQueue("default", {});
  const Accounts accounts(tables());

  EXPECT_FALSE(accounts.QueueClaim(lane(), false).limited);
  EXPECT_FALSE(accounts.OwnerClaim(lane(), false).limited);
}

TEST_F(AccountsTest, PartsThatRunOrHaveRoomKeptCountForTheirParent) {
  Waiter part{Cpus(2), "default", "bob"};
  part.parent = "sweep";
  part.max_parallel = 3;
  test_.Run(test_.Wait(part), "w1");
  const int64_t kept = test_.Wait(part);
  const Lane& lane = tables().lanes[tables().waiting.at(kept).lane];
  EXPECT_EQ(Accounts(tables()).ParentClaim(lane, false).wanted, 2);
  test_.board.Reserve({kept, absl::InfiniteDuration(), {{"w1", 1}}});
  Accounts accounts(tables());
  EXPECT_EQ(accounts.ParentClaim(lane, true).wanted, 2);
  EXPECT_EQ(accounts.ParentClaim(lane, false).wanted, 3);
  accounts.Add(lane, 2);
  EXPECT_TRUE(accounts.ParentClaim(lane, false).exceeds());
  EXPECT_FALSE(accounts.ParentClaim(this->lane(), false).limited);
}

}  // namespace
}  // namespace ordo::scheduler::policy
