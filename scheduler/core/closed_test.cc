#include "scheduler/core/closed.h"

#include "gtest/gtest.h"
#include "scheduler/core/worker_admin.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::Worker;

Worker Online() {
  Worker worker;
  worker.set_name("workers/w");
  worker.set_state(Worker::ONLINE);
  return worker;
}

WorkerChange At(int64_t seconds, const std::string& reason) {
  WorkerChange change;
  change.author.owner.set_user("ada");
  change.author.reason = reason;
  change.now = absl::FromUnixSeconds(seconds);
  return change;
}

TEST(ClosedTest, AWorkerIsClosedToWhatOutlastsItsDrain) {
  Worker worker = Online();
  EXPECT_FALSE(IsClosed(worker, absl::InfiniteFuture()));
  ShowAdmin(Drained(nullptr, absl::FromUnixSeconds(60), At(5, "")), &worker);
  EXPECT_FALSE(IsClosed(worker, absl::FromUnixSeconds(60)));
  EXPECT_TRUE(IsClosed(worker, absl::FromUnixSeconds(61)));
}

TEST(ClosedTest, OneThatIsCordonedOrLeavesIsClosedAndOneThatIsLostIsNotThere) {
  Worker worker = Online();
  worker.set_cordoned(true);
  EXPECT_TRUE(IsClosed(worker, absl::InfinitePast()));
  worker.set_state(Worker::LOST);
  EXPECT_FALSE(IsClosed(worker, absl::InfinitePast()));
  worker.set_cordoned(false);
  worker.set_state(Worker::DRAINING);
  EXPECT_TRUE(IsClosed(worker, absl::InfinitePast()));
  EXPECT_EQ(ClosedText(worker, absl::UnixEpoch()), "w (it is being ended)");
}

TEST(ClosedTest, TheTextSaysWhoAndWhenAndWhy) {
  Worker worker = Online();
  const WorkerAdminPtr drained =
      Drained(nullptr, absl::FromUnixSeconds(60), At(5, "exams"));
  ShowAdmin(drained, &worker);
  EXPECT_EQ(ClosedText(worker, absl::FromUnixSeconds(59)),
            "w (to be drained at 1970-01-01T00:01:00+00:00 by ada: exams)");
  EXPECT_EQ(ClosedText(worker, absl::FromUnixSeconds(60)),
            "w (drained since 1970-01-01T00:01:00+00:00 by ada: exams)");
  ShowAdmin(Cordoned(drained, At(7, "")), &worker);
  EXPECT_EQ(ClosedText(worker, absl::FromUnixSeconds(60)),
            "w (drained since 1970-01-01T00:01:00+00:00 by ada: exams; "
            "cordoned since 1970-01-01T00:00:07+00:00 by ada)");
}

TEST(ClosedTest, WhatIsNoLongerKeptIsLeftOut) {
  Worker worker = Online();
  worker.set_cordoned(true);
  EXPECT_EQ(ClosedText(worker, absl::UnixEpoch()), "w (cordoned)");
}

}  // namespace
}  // namespace ordo::scheduler::core
