#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"
#include "scheduler/store/sqlite.h"
#include "scheduler/store/testing/memory_store.h"
#include "scheduler/store/testing/records.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using jobs::v1::Job;
using ::testing::ElementsAre;
using testing::FakeWorker;
using ::testing::HasSubstr;
using ServerJobsTest = testing::ServerTest;

// Knows that of all names only "old" and "old-request" may be past ones.
class KnowingStore : public store::testing::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  bool MayBePast(const std::string& job) const override { return job == "old"; }
  bool MayHaveMadePast(const std::string& request_id) const override {
    return request_id == "old-request";
  }
  absl::StatusOr<store::PastJobs> FindPast(
      const std::vector<std::string>& jobs,
      const std::vector<std::string>& request_ids) override {
    num_asked += static_cast<int>(jobs.size() + request_ids.size());
    return MemoryStore::FindPast(jobs, request_ids);
  }

  std::atomic<int> num_asked{0};
};

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

TEST_F(ServerJobsTest, TheStoreIsAskedOnlyForNamesThatMayBePast) {
  KnowingStore store(std::make_shared<store::testing::Memory>());
  ORDO_ASSERT_OK_AND_ASSIGN(server_, Server::Start(OptionsOf(store)));
  ASSERT_THAT(Create({JobBuilder("a").RequestId("r", "f1"), JobBuilder("b")}),
              IsOk());
  EXPECT_EQ(store.num_asked, 0);
  ASSERT_THAT(Create({JobBuilder("c"), JobBuilder("old")}), IsOk());
  EXPECT_EQ(store.num_asked, 1);
  ASSERT_THAT(Create({JobBuilder("d").RequestId("old-request", "f1")}), IsOk());
  EXPECT_EQ(store.num_asked, 2);
  server_.reset();
}

TEST_F(ServerJobsTest, WhatIsDoneToAnArchivedJobIsAnsweredAsReadsAre) {
  KnowingStore store(std::make_shared<store::testing::Memory>());
  ORDO_ASSERT_OK(store.Commit({store::testing::EndedJobRecord(1, "old")}));
  ORDO_ASSERT_OK(store.Retire({"old"}, {}));
  ORDO_ASSERT_OK_AND_ASSIGN(server_, Server::Start(OptionsOf(store)));
  const std::string read(server_->GetJob("old").status().message());
  EXPECT_THAT(read, HasSubstr("ended as SUCCEEDED and was archived"));
  const auto expect_archived = [&read](const auto& call) {
    testing::Later<absl::StatusOr<Job>> later;
    call(later.callback());
    const absl::Status status = later.Get().status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, read));
    const auto info = base::GetErrorInfo(status);
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->reason, "JOB_ARCHIVED");
  };
  expect_archived(
      [this](auto done) { server_->CancelJob("old", "ada", done); });
  expect_archived([this](auto done) { server_->HoldJob("old", "ada", done); });
  expect_archived(
      [this](auto done) { server_->ReleaseJob("old", "ada", done); });
  expect_archived(
      [this](auto done) { server_->SetPriority("old", 1, "ada", done); });
  server_.reset();
}

// Its names of old may be past ones, and "a"; `once` runs behind the first
// lookup.
class PassingStore : public store::testing::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  bool MayBePast(const std::string& job) const override {
    return job == "a" || absl::StartsWith(job, "old");
  }
  absl::StatusOr<store::PastJobs> FindPast(
      const std::vector<std::string>& jobs,
      const std::vector<std::string>& request_ids) override {
    asked.push_back(jobs);
    auto found = MemoryStore::FindPast(jobs, request_ids);
    if (once != nullptr) std::exchange(once, nullptr)();
    return found;
  }

  // By the thread that calls the server.
  std::vector<std::vector<std::string>> asked;
  std::function<void()> once;
};

TEST_F(ServerJobsTest, WhatLeftMeanwhileIsLookedForAloneAgain) {
  PassingStore store(std::make_shared<store::testing::Memory>());
  ORDO_ASSERT_OK_AND_ASSIGN(server_, Server::Start(OptionsOf(store)));
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  store.asked.clear();
  store.once = [&] {
    EXPECT_THAT(Cancel("a"), IsOk());
    // Answered by a later commit: "a" has left the core.
    EXPECT_THAT(Create({JobBuilder("b")}), IsOk());
  };
  EXPECT_THAT(
      Create({JobBuilder("old-1"), JobBuilder("a"), JobBuilder("old-2")}),
      StatusIs(absl::StatusCode::kAlreadyExists));
  // The second is the cancellation's.
  EXPECT_THAT(store.asked, ElementsAre(ElementsAre("old-1", "a", "old-2"),
                                       ElementsAre("a"), ElementsAre("a")));
  server_.reset();
}

TEST_F(ServerJobsTest, ANameStaysTakenByAJobThatHasEndedInThisLifeAndTheNext) {
  for (int life = 0; life < 2; ++life) {
    ASSERT_THAT(Create({JobBuilder("new-" + std::to_string(life))}), IsOk());
    if (life == 0) {
      ASSERT_THAT(Create({JobBuilder("a").RequestId("r", "f1")}), IsOk());
      ASSERT_THAT(Cancel("a"), IsOk());
      WaitFor("a", Job::CANCELLED);
    }
    EXPECT_THAT(Create({JobBuilder("a")}),
                StatusIs(absl::StatusCode::kAlreadyExists));
    ORDO_ASSERT_OK_AND_ASSIGN(const auto again,
                              Create({JobBuilder("a").RequestId("r", "f1")}));
    EXPECT_EQ(again[0].state(), Job::CANCELLED);
    Close();
    Open();
  }
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

TEST_F(ServerJobsTest, WhatIsNotInMemoryIsShownListedWatchedAndStarted) {
  NewJob a = JobBuilder("a");
  a.OwnSpec().mutable_training()->set_seed(5);
  (*a.OwnSpec().mutable_labels())["team"] = "red";
  ASSERT_THAT(Create({a}), IsOk());
  // No spec is in memory then.
  Close();
  Open();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job shown, server_->GetJob("a"));
  EXPECT_EQ(shown.spec().name(), "a");
  EXPECT_EQ(shown.spec().training().seed(), 5);
  Close();
  Open();
  JobFilter red;
  red.labels["team"] = "red";
  ORDO_ASSERT_OK_AND_ASSIGN(const auto jobs, server_->ListJobs(red, {}));
  ASSERT_EQ(jobs.items.size(), 1u);
  EXPECT_EQ(jobs.items[0].ShortDebugString(), shown.ShortDebugString());
  Close();
  Open();
  EXPECT_EQ(WaitFor("a", Job::QUEUED).spec().training().seed(), 5);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, server_->Explain("a"));
  EXPECT_GE(explained.blockers_size(), 1);
  Close();
  Open();
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  EXPECT_EQ(worker.newest().attempts(0).train().training().seed(), 5);
}

TEST_F(ServerJobsTest, ASpecThatIsDamagedMeanwhileHoldsUpItsJobAlone) {
  for (int i = 1; i <= 2; ++i) {
    NewJob job = JobBuilder(i == 1 ? "a" : "b");
    job.OwnSpec().mutable_training()->set_seed(i);
    ASSERT_THAT(Create({job}), IsOk());
  }
  Close();
  Open();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto database,
                            store::Database::Open(folder_.Path("ordo.db")));
  const auto change_crc = [&database](const std::string& by) {
    ORDO_ASSERT_OK(database->Execute(
        "UPDATE specs SET crc = crc " + by +
        " WHERE id = (SELECT spec FROM jobs WHERE name = 'a')"));
  };
  change_crc("+ 1");
  EXPECT_THAT(server_->GetJob("a"), StatusIs(absl::StatusCode::kDataLoss,
                                             HasSubstr("table specs, id 1")));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto jobs, server_->ListJobs({}, {}));
  ASSERT_EQ(jobs.items.size(), 1u);
  EXPECT_EQ(jobs.items[0].spec().name(), "b");
  // What is done to it is done, and told but for the spec.
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Owner owner,
                            server_->GetOwner("a"));
  EXPECT_EQ(owner.user(), server_->GetJob("b")->owner().user());
  testing::Later<absl::StatusOr<Job>> held;
  server_->HoldJob("a", "ada", held.callback());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job answer, held.Get());
  EXPECT_EQ(answer.held_by(), "ada");
  EXPECT_EQ(answer.spec().name(), "a");
  EXPECT_FALSE(answer.spec().has_training());
  EXPECT_FALSE(WaitFor("a", Job::QUEUED).spec().has_training());
  testing::Later<absl::StatusOr<Job>> released;
  server_->ReleaseJob("a", "ada", released.callback());
  ORDO_ASSERT_OK(released.Get());
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 1\n"));
  // It is the first, but nobody can say what to do.
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_TRUE(worker.WaitForSets(3));
  EXPECT_EQ(worker.newest().attempts_size(), 0);
  change_crc("- 1");
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  EXPECT_EQ(worker.newest().attempts(0).train().training().seed(), 1);
}

TEST_F(ServerJobsTest, PagesGoOnBehindJobsThatAreLeftOut) {
  for (int i = 1; i <= 4; ++i) {
    NewJob job = JobBuilder(absl::StrCat("j", i));
    job.OwnSpec().mutable_training()->set_seed(i);
    ASSERT_THAT(Create({job}), IsOk());
  }
  Close();
  Open();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto database,
                            store::Database::Open(folder_.Path("ordo.db")));
  ORDO_ASSERT_OK(
      database->Execute("UPDATE specs SET crc = crc + 1 WHERE id IN "
                        "(SELECT spec FROM jobs WHERE name IN ('j3', 'j4'))"));
  std::vector<std::string> names;
  Page page;
  page.size = 1;
  do {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto jobs, server_->ListJobs({}, page));
    for (const Job& job : jobs.items) names.push_back(job.spec().name());
    page.before = jobs.next;
  } while (!page.before.empty());
  EXPECT_THAT(names, ElementsAre("j2", "j1"));
}

TEST_F(ServerJobsTest, ADamagedUseOfAQueueIsCountedAtTheStart) {
  Close();
  {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto database,
                              store::Database::Open(folder_.Path("ordo.db")));
    ORDO_ASSERT_OK(database->Execute(
        "INSERT INTO other VALUES (6, 'default/cpu', x'00', 0)"));
  }
  Open();
  EXPECT_THAT(registry_.Text(),
              HasSubstr("ordo_scheduler_damaged_records_total 1\n"));
  EXPECT_THAT(Create({JobBuilder("a")}), IsOk());
}

}  // namespace
}  // namespace ordo::scheduler::server
