#include "scheduler/core/worker_admin.h"

#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Worker;

WorkerChange At(int64_t seconds, const std::string& reason = "") {
  WorkerChange change;
  change.worker = "w";
  change.author.owner.set_user("ada");
  change.author.reason = reason;
  change.now = absl::FromUnixSeconds(seconds);
  return change;
}

TEST(WorkerAdminTest, WorkerOfWhichNobodyDecidedIsOpen) {
  EXPECT_FALSE(IsCordoned(nullptr));
  EXPECT_EQ(DrainTime(nullptr), std::nullopt);
  EXPECT_EQ(Uncordoned(nullptr, At(1)), nullptr);
}

TEST(WorkerAdminTest, CordonClosesAtOnce) {
  const WorkerAdminPtr admin = Cordoned(nullptr, At(5, "new disks"));
  EXPECT_TRUE(IsCordoned(admin));
  EXPECT_EQ(DrainTime(admin), std::nullopt);
  EXPECT_EQ(admin->name(), "workers/w");
  EXPECT_EQ(admin->closed_reason(), "new disks");
  ASSERT_EQ(admin->changes_size(), 1);
  EXPECT_EQ(admin->changes(0).action(), "cordon");
  EXPECT_EQ(admin->changes(0).user(), "ada");
}

TEST(WorkerAdminTest, DrainClosesAtItsTime) {
  const WorkerAdminPtr admin =
      Drained(nullptr, absl::FromUnixSeconds(60), At(5, "move"));
  EXPECT_EQ(DrainTime(admin), absl::FromUnixSeconds(60));
  EXPECT_EQ(admin->changes(0).action(), "drain at 1970-01-01T00:01:00+00:00");
}

TEST(WorkerAdminTest, DrainInThePastIsNow) {
  const WorkerAdminPtr admin = Drained(nullptr, absl::InfinitePast(), At(5));
  EXPECT_EQ(DrainTime(admin), absl::FromUnixSeconds(5));
  EXPECT_EQ(Drained(admin, absl::InfinitePast(), At(6)), admin);
}

TEST(WorkerAdminTest, LaterDrainTakesThePlaceOfAnEarlierOne) {
  const WorkerAdminPtr first =
      Drained(nullptr, absl::FromUnixSeconds(60), At(5));
  const WorkerAdminPtr second =
      Drained(first, absl::FromUnixSeconds(90), At(6, "later"));
  EXPECT_EQ(DrainTime(second), absl::FromUnixSeconds(90));
  EXPECT_EQ(second->closed_reason(), "later");
  EXPECT_EQ(second->changes_size(), 2);
}

TEST(WorkerAdminTest, WhoClosesItTooDoesNotTakeBackWhyItWas) {
  const WorkerAdminPtr drained =
      Drained(nullptr, absl::FromUnixSeconds(60), At(5, "move"));
  const WorkerAdminPtr both = Cordoned(drained, At(6, "fans"));
  EXPECT_EQ(DrainTime(both), absl::FromUnixSeconds(60));
  EXPECT_EQ(both->closed_reason(), "move; fans");
  EXPECT_EQ(Cordoned(drained, At(6))->closed_reason(), "move");
  EXPECT_EQ(Cordoned(drained, At(6, "move"))->closed_reason(), "move");
  // Another time, for another reason.
  EXPECT_EQ(
      Drained(both, absl::FromUnixSeconds(90), At(7, "later"))->closed_reason(),
      "later; fans");
  ASSERT_NE(DrainOf(*both), nullptr);
  EXPECT_EQ(DrainOf(*both)->reason(), "move");
  ASSERT_NE(CordonOf(*both), nullptr);
  EXPECT_EQ(CordonOf(*both)->reason(), "fans");
  EXPECT_EQ(CordonOf(*drained), nullptr);
}

TEST(WorkerAdminTest, UncordonEndsBoth) {
  const WorkerAdminPtr closed =
      Drained(Cordoned(nullptr, At(1)), absl::FromUnixSeconds(60), At(2));
  EXPECT_TRUE(IsCordoned(closed));
  EXPECT_EQ(DrainTime(closed), absl::FromUnixSeconds(60));
  const WorkerAdminPtr open = Uncordoned(closed, At(3));
  EXPECT_FALSE(IsCordoned(open));
  EXPECT_EQ(DrainTime(open), std::nullopt);
  EXPECT_EQ(open->closed_reason(), "");
  EXPECT_EQ(open->changes_size(), 3);
}

TEST(WorkerAdminTest, WhatIsSoAlreadyChangesNothing) {
  const WorkerAdminPtr cordoned = Cordoned(nullptr, At(1));
  EXPECT_EQ(Cordoned(cordoned, At(2)), cordoned);
  const WorkerAdminPtr drained =
      Drained(nullptr, absl::FromUnixSeconds(60), At(1));
  EXPECT_EQ(Drained(drained, absl::FromUnixSeconds(60), At(2)), drained);
  const WorkerAdminPtr open = Uncordoned(cordoned, At(3));
  EXPECT_EQ(Uncordoned(open, At(4)), open);
}

TEST(WorkerAdminTest, ShownWithWhatTheWorkerAnnounced) {
  const WorkerAdminPtr admin = Drained(
      Cordoned(nullptr, At(1)), absl::FromUnixSeconds(60), At(2, "fans"));
  Worker worker;
  worker.set_address("here:1");
  ShowAdmin(admin, &worker);
  EXPECT_EQ(worker.address(), "here:1");
  EXPECT_TRUE(worker.cordoned());
  EXPECT_EQ(worker.drain_time().seconds(), 60);
  EXPECT_EQ(worker.closed_reason(), "fans");
  EXPECT_EQ(worker.changes_size(), 2);
}

}  // namespace
}  // namespace ordo::scheduler::core
