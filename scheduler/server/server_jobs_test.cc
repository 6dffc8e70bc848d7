#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using jobs::v1::Job;
using testing::FakeWorker;
using ::testing::HasSubstr;
using ServerJobsTest = testing::ServerTest;

TEST_F(ServerJobsTest, ARepeatOfARequestGivesTheSameJob) {
  ASSERT_THAT(Create({JobBuilder("a").RequestId("r", "f1")}), IsOk());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto again,
                            Create({JobBuilder("a").RequestId("r", "f1")}));
  EXPECT_EQ(again[0].sequence(), 1);
  EXPECT_THAT(Create({JobBuilder("a").RequestId("r", "f2")}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Create({JobBuilder("a")}),
              StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(ServerJobsTest, ACancelReachesTheWorkerAtOnce) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  worker.Set(AttemptBuilder("a", 1).Running());
  worker.AnnounceTo(*server_);
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, Cancel("a"));
  EXPECT_EQ(job.state(), Job::CANCELLING);
  EXPECT_TRUE(worker.WaitForAction(agent::v1::DesiredAttempt::KILL));
  worker.Set(AttemptBuilder("a", 1).Ended(agent::v1::ObservedAttempt::KILLED));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::CANCELLED);
}

TEST_F(ServerJobsTest, ExplainNamesTheJobThatHoldsTheDevice) {
  FakeWorker worker("w");
  ASSERT_THAT(Create({JobBuilder("a"), JobBuilder("b")}), IsOk());
  EXPECT_EQ(server_->Explain("a")->blockers(0).reason(), "NO_WORKER");
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::STARTING);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, server_->Explain("b"));
  ASSERT_GE(explained.blockers_size(), 1);
  EXPECT_EQ(explained.blockers(0).reason(), "WAITING_FOR_DEVICE");
  EXPECT_THAT(explained.summary(), HasSubstr("job a"));
}

TEST_F(ServerJobsTest, ADamagedJobIsLeftOutOfListingsAndCountedOnce) {
  for (const char* name : {"a", "b"}) {
    ASSERT_THAT(Create({JobBuilder(name)}), IsOk());
    ASSERT_THAT(Cancel(name), IsOk());
    WaitFor(name, Job::CANCELLED);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto database,
                            store::Database::Open(folder_.Path("ordo.db")));
  ORDO_ASSERT_OK(database->Execute("UPDATE jobs SET crc = 0 WHERE name = 'b'"));
  for (int i = 0; i < 2; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto jobs, server_->ListJobs({}, {}));
    ASSERT_EQ(jobs.items.size(), 1u);
    EXPECT_EQ(jobs.items[0].spec().name(), "a");
  }
  EXPECT_THAT(server_->GetJob("b"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 1\n"));
}

}  // namespace
}  // namespace ordo::scheduler::server
