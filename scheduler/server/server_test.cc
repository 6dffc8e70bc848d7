#include "scheduler/server/server.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/policy/fair.h"
#include "scheduler/server/testing/fake_worker.h"
#include "scheduler/server/testing/server_fixture.h"
#include "scheduler/store/testing/memory_store.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using core::testing::AttemptBuilder;
using core::testing::JobBuilder;
using jobs::v1::Job;
using ::testing::AllOf;
using testing::FakeWorker;
using ::testing::HasSubstr;
using testing::kPatience;
using testing::Later;
using ::testing::Not;
using testing::ServerTest;

TEST_F(ServerTest, AJobRunsOnAWorkerToItsEnd) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  EXPECT_EQ(WaitFor("a", Job::STARTING).attempts_size(), 1);
  worker.Set(AttemptBuilder("a", 1).Running().Step(5));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::RUNNING);
  EXPECT_EQ(server_->GetJob("a")->progress().step(), 5);
  worker.Set(AttemptBuilder("a", 1)
                 .Running()
                 .Step(100)
                 .Checkpoint(1, 100)
                 .Report(2, "grid-100")
                 .Exited(0));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::SUCCEEDED);
  EXPECT_FALSE(server_->GetJob("a")->has_progress());
  EXPECT_THAT(server_->GetCheckpoint("a", "latest"), IsOk());
  EXPECT_EQ(server_->ListReports("", {})->items.size(), 1u);
  EXPECT_TRUE(worker.WaitForForgotten("a", 1));
}

// With the protocol of its worker.
class NeighbourTest : public ServerTest,
                      public ::testing::WithParamInterface<int32_t> {};

TEST_P(NeighbourTest, ItsJobsRunToTheirEndThroughARestart) {
  FakeWorker worker("w", GetParam());
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  worker.Set(AttemptBuilder("a", 1).Running().Step(5));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::RUNNING);
  Close();
  Open();
  worker.Set(
      AttemptBuilder("a", 1).Running().Step(9).Checkpoint(1, 9).Exited(0));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::SUCCEEDED);
  EXPECT_EQ(server_->GetJob("a")->attempts_size(), 1);
  EXPECT_TRUE(worker.WaitForForgotten("a", 1));
}

INSTANTIATE_TEST_SUITE_P(Before, NeighbourTest,
                         ::testing::Values(base::kWorkerProtocol - 1));
INSTANTIATE_TEST_SUITE_P(After, NeighbourTest,
                         ::testing::Values(base::kWorkerProtocol + 1));

TEST_F(ServerTest, ThousandsOfJobsOfOneCallAreThereOrNone) {
  constexpr int kNumJobs = 10'000;
  ASSERT_THAT(Create({JobBuilder("taken")}), IsOk());
  std::vector<NewJob> jobs;
  for (int i = 0; i < kNumJobs; ++i) {
    jobs.push_back(JobBuilder(absl::StrCat("a", i)));
  }
  jobs.back().name = "taken";
  EXPECT_THAT(Create(jobs), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(server_->GetJob("a0"), StatusIs(absl::StatusCode::kNotFound));

  jobs.back().name = "free";
  const auto made = Create(jobs);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->size(), jobs.size());
  Close();
  Open();
  EXPECT_THAT(server_->GetJob("a0"), IsOk());
  EXPECT_THAT(server_->GetJob("free"), IsOk());
}

TEST_F(ServerTest, ARestartGivesTheSameListing) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_THAT(Create({JobBuilder(name)}), IsOk());
  }
  ASSERT_THAT(Cancel("b"), IsOk());
  WaitFor("b", Job::CANCELLED);
  const auto listing = [this] {
    std::string text;
    const auto jobs = server_->ListJobs({}, {});
    EXPECT_THAT(jobs, IsOk());
    for (const Job& job : jobs->items) {
      text += job.ShortDebugString() + "\n";
    }
    return text;
  };
  const std::string before = listing();
  Close();
  Open();
  EXPECT_EQ(listing(), before);
}

TEST_F(ServerTest, AnAttemptThatOutlivesTheSchedulerGoesOn) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  worker.Set(AttemptBuilder("a", 1).Running().Step(5));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::RUNNING);
  Close();
  Open();
  worker.AnnounceTo(*server_);
  worker.Set(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  worker.AnnounceTo(*server_);
  EXPECT_EQ(WaitFor("a", Job::SUCCEEDED).attempts_size(), 1);
}

TEST_F(ServerTest, AWorkerThatDoesNotComeBackIsLostAfterALease) {
  Close();
  lease_ = absl::Milliseconds(600);
  Open();
  {
    FakeWorker worker("w");
    worker.AnnounceTo(*server_);
    ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
    ASSERT_TRUE(worker.WaitForDesired("a", 1));
  }
  const Job job = WaitFor("a", Job::QUEUED);
  EXPECT_EQ(job.reason(), "WORKER_LOST");
  FakeWorker other("v");
  other.AnnounceTo(*server_);
  EXPECT_TRUE(other.WaitForDesired("a", 2));
}

TEST_F(ServerTest, RetentionRemovesFoldersNowAndAfterARestart) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a").Keep(1)}), IsOk());
  const auto make = [this](const std::string& id) {
    EXPECT_THAT(files_.MakeFolders(folder_.Path("jobs/a/checkpoints/" + id)),
                IsOk());
  };
  const auto is_gone = [this](const std::string& id) {
    return absl::IsNotFound(
        files_.Stat(folder_.Path("jobs/a/checkpoints/" + id)).status());
  };
  make("5-1");
  make("10-1");
  worker.Set(AttemptBuilder("a", 1)
                 .Running()
                 .Checkpoint(1, 5)
                 .Checkpoint(2, 10)
                 .Exited(0));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::SUCCEEDED);
  server_->WaitForRemovals();
  EXPECT_TRUE(is_gone("5-1"));
  EXPECT_FALSE(is_gone("10-1"));
  Close();
  make("5-1");
  Open();
  server_->WaitForRemovals();
  EXPECT_TRUE(is_gone("5-1"));
}

TEST_F(ServerTest, DrainEndsWatchesAndRefusesCalls) {
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  Later<Job> last;
  ASSERT_THAT(
      server_->WatchJob("a",
                        [told = last.callback()](const Job& job, bool is_last) {
                          if (is_last) told(job);
                        }),
      IsOk());
  server_->Drain();
  EXPECT_EQ(last.Get().state(), Job::QUEUED);
  EXPECT_THAT(Create({JobBuilder("b")}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(server_->Announce(core::testing::WorkerBuilder("w")),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(server_->GetJob("a"), IsOk());
}

TEST_F(ServerTest, AWatchOfAnEndedJobIsToldOnce) {
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_THAT(Cancel("a"), IsOk());
  Later<bool> told;
  ASSERT_THAT(server_->WatchJob(
                  "a", [callback = told.callback()](
                           const Job&, bool is_last) { callback(is_last); }),
              IsOk());
  EXPECT_TRUE(told.Get());
  EXPECT_THAT(server_->WatchJob("b", [](const Job&, bool) {}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerTest, NothingIsAnsweredOrSeenBeforeItIsDurable) {
  auto memory = std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store(memory);
  ServerOptions options = OptionsOf(store);
  ORDO_ASSERT_OK_AND_ASSIGN(auto server, Server::Start(options));
  const int num_begun = memory->num_begun();
  memory->Hold();
  Later<absl::StatusOr<std::vector<Job>>> later;
  std::atomic<bool> answered{false};
  server->CreateJobs({JobBuilder("a")},
                     [&, callback = later.callback()](auto jobs) {
                       answered = true;
                       callback(std::move(jobs));
                     });
  memory->WaitUntilBegun(num_begun + 1);
  EXPECT_FALSE(answered);
  EXPECT_THAT(server->GetJob("a"), StatusIs(absl::StatusCode::kNotFound));
  memory->Continue();
  EXPECT_THAT(later.Get(), IsOk());
  EXPECT_THAT(server->GetJob("a"), IsOk());
}

TEST_F(ServerTest, NoMoreCallsWaitForACommitThanMay) {
  auto memory = std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store(memory);
  ServerOptions options = OptionsOf(store);
  options.max_waiting_jobs = 3;
  ORDO_ASSERT_OK_AND_ASSIGN(auto server, Server::Start(options));
  using Answer = Later<absl::StatusOr<std::vector<Job>>>;
  memory->Hold();
  Answer three;
  server->CreateJobs({JobBuilder("a"), JobBuilder("b"), JobBuilder("c")},
                     three.callback());
  Answer one_more;
  server->CreateJobs({JobBuilder("d")}, one_more.callback());
  EXPECT_THAT(one_more.Get(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("3"), Not(HasSubstr("request id")))));
  Answer repeated;
  server->CreateJobs({JobBuilder("d").RequestId("r")}, repeated.callback());
  EXPECT_THAT(repeated.Get(), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasSubstr("same request id")));
  memory->Continue();
  ASSERT_THAT(three.Get(), IsOk());
  // Also after calls that were refused for something else.
  for (int i = 0; i < 4; ++i) {
    Answer taken;
    server->CreateJobs({JobBuilder("a")}, taken.callback());
    EXPECT_THAT(taken.Get(), StatusIs(absl::StatusCode::kAlreadyExists));
  }
  Answer more_at_once;
  server->CreateJobs(
      {JobBuilder("e"), JobBuilder("f"), JobBuilder("g"), JobBuilder("h")},
      more_at_once.callback());
  EXPECT_THAT(more_at_once.Get(), IsOk());
}

TEST_F(ServerTest, AFailedCommitIsAnsweredByNobody) {
  auto memory = std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore store(memory);
  memory->Fail(absl::UnavailableError("disk broken"));
  ServerOptions options = OptionsOf(store);
  Later<absl::Status> failed;
  options.on_commit_failure = failed.callback();
  ORDO_ASSERT_OK_AND_ASSIGN(auto server, Server::Start(options));
  std::atomic<bool> answered{false};
  server->CreateJobs({JobBuilder("a")}, [&](auto) { answered = true; });
  EXPECT_THAT(failed.Get(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(answered);
  EXPECT_THAT(server->GetJob("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ServerTest, AnEndedJobIsStillThereForAllWhoNameIt) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a").RequestId("r")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  worker.Set(AttemptBuilder("a", 1).Running().Checkpoint(1, 10).Exited(0));
  worker.AnnounceTo(*server_);
  const Job ended = WaitFor("a", Job::SUCCEEDED);

  EXPECT_THAT(Create({JobBuilder("a")}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  const auto repeat = Create({JobBuilder("a").RequestId("r")});
  ASSERT_THAT(repeat, IsOk());
  EXPECT_EQ(repeat->at(0).SerializeAsString(), ended.SerializeAsString());
  EXPECT_THAT(Create({JobBuilder("a").RequestId("r", "other")}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Cancel("a"), StatusIs(absl::StatusCode::kFailedPrecondition));
  const auto from = Create({JobBuilder("b").StartFrom("jobs/a")});
  ASSERT_THAT(from, IsOk());
  EXPECT_EQ(from->at(0).spec().start_from(), "jobs/a/checkpoints/10-1");
  EXPECT_EQ(server_->GetCheckpoint("a", "latest")->step(), 10);
}

TEST_F(ServerTest, AnArchivedJobIsGoneAndItsNameStaysTaken) {
  retention_.max_jobs = 0;
  retention_.archive = folder_.Path("archive.jsonl");
  retention_.period = absl::Hours(1);
  Close();
  Open();
  ASSERT_THAT(Create({JobBuilder("a").RequestId("r")}), IsOk());
  ASSERT_THAT(Cancel("a"), IsOk());
  // Until its end has reached the store and it has left the core.
  int64_t num_archived = 0;
  while (num_archived == 0) {
    const auto archived = server_->Archive();
    ASSERT_THAT(archived, IsOk());
    num_archived = *archived;
  }
  EXPECT_THAT(server_->GetJob("a"), StatusIs(absl::StatusCode::kNotFound));
  Close();
  Open();
  EXPECT_THAT(Create({JobBuilder("a")}),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("archive")));
  EXPECT_THAT(Create({JobBuilder("b").RequestId("r")}),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("job a")));
  EXPECT_THAT(Create({JobBuilder("b").Needs("a")}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("ended already, as CANCELLED")));
  const auto next = Create({JobBuilder("c").NeedsEnded("a")});
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(next->at(0).sequence(), 2);
  const auto archive =
      base::ReadFile(files_, folder_.Path("archive.jsonl"), 1 << 20);
  ASSERT_THAT(archive, IsOk());
  EXPECT_THAT(*archive, HasSubstr("jobs/a"));
}

std::vector<usage::v1::ArchivedUsage> ArchivedUsageOf(const Server& server) {
  std::vector<usage::v1::ArchivedUsage> all;
  server.ForEachArchivedUsage(
      [&all](const usage::v1::ArchivedUsage& each) { all.push_back(each); });
  return all;
}

TEST_F(ServerTest, WhatAnArchivedJobUsedStaysKnown) {
  retention_.max_jobs = 0;
  retention_.archive = folder_.Path("archive.jsonl");
  retention_.period = absl::Hours(1);
  Close();
  Open();
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  EXPECT_TRUE(ArchivedUsageOf(*server_).empty());
  worker.Set(AttemptBuilder("a", 1).Exited(0));
  worker.AnnounceTo(*server_);
  int64_t num_archived = 0;
  while (num_archived == 0) {
    const auto archived = server_->Archive();
    ASSERT_THAT(archived, IsOk());
    num_archived = *archived;
  }
  for (int life = 0; life < 2; ++life) {
    const auto usage = ArchivedUsageOf(*server_);
    ASSERT_EQ(usage.size(), 1u);
    EXPECT_EQ(usage[0].queue(), "default");
    EXPECT_EQ(usage[0].owner(), "ada");
    EXPECT_EQ(usage[0].usage().days(0).usage().attempts(), 1);
    Close();
    Open();
  }
}

TEST_F(ServerTest, AJobThatAnotherNeedsIsNotArchived) {
  retention_.max_jobs = 0;
  retention_.archive = folder_.Path("archive.jsonl");
  retention_.period = absl::Hours(1);
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  worker.Set(AttemptBuilder("a", 1).Running().Checkpoint(1, 10).Exited(0));
  worker.AnnounceTo(*server_);
  WaitFor("a", Job::SUCCEEDED);
  ASSERT_THAT(Create({JobBuilder("b").StartFrom("jobs/a")}), IsOk());
  Close();
  Open();
  EXPECT_THAT(server_->Archive(), base::testing::IsOkAndHolds(0));
  EXPECT_THAT(server_->GetJob("a"), IsOk());
}

// A store in memory whose disk is full.
class FullStoreTest : public ServerTest {
 protected:
  FullStoreTest() {
    Close();
    ServerOptions options = OptionsOf(memory_store_);
    options.core.lease = lease_;
    options.core.heartbeat = absl::Milliseconds(50);
    options.full_retry = absl::Milliseconds(1);
    options.retention.max_jobs = 0;
    options.retention.archive = folder_.Path("archive.jsonl");
    options.retention.period = absl::Hours(1);
    auto server = Server::Start(std::move(options));
    EXPECT_THAT(server, IsOk());
    server_ = *std::move(server);
  }
  // The server uses the store to its end.
  ~FullStoreTest() override { server_.reset(); }
  void SetFull(bool full) {
    memory_->Fail(full ? absl::ResourceExhaustedError("no room")
                       : absl::OkStatus());
  }

  const std::shared_ptr<store::testing::Memory> memory_ =
      std::make_shared<store::testing::Memory>();
  store::testing::MemoryStore memory_store_{memory_};
};

TEST_F(FullStoreTest, NothingIsAcknowledgedAndNothingIsLost) {
  SetFull(true);
  // The first finds out, the second is refused at once.
  const auto refused =
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("disk"));
  EXPECT_THAT(Create({JobBuilder("a").RequestId("r")}), refused);
  EXPECT_THAT(Create({JobBuilder("b")}), refused);
  EXPECT_THAT(Cancel("a"), refused);
  EXPECT_THAT(server_->GetJob("a"), StatusIs(absl::StatusCode::kNotFound));
  SetFull(false);
  // A repeat, for as long as it is asked to repeat it.
  absl::StatusOr<std::vector<Job>> repeat;
  do {
    repeat = Create({JobBuilder("a").RequestId("r")});
  } while (absl::IsUnavailable(repeat.status()));
  ASSERT_THAT(repeat, IsOk());
  EXPECT_EQ(repeat->at(0).sequence(), 1);
  EXPECT_EQ(memory_store_.Load()->records.jobs.size(), 1u);
}

TEST_F(FullStoreTest, OnlyWhoGaveARequestIdIsToldToRepeatIt) {
  const auto repeats_it =
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("same request id"));
  const auto tries_again =
      StatusIs(absl::StatusCode::kUnavailable,
               AllOf(HasSubstr("try again"), Not(HasSubstr("request id"))));
  SetFull(true);
  // Those that find out.
  Later<absl::StatusOr<std::vector<Job>>> first;
  server_->CreateJobs({JobBuilder("a").RequestId("r")}, first.callback());
  Later<absl::StatusOr<queues::v1::Queue>> queue;
  queues::v1::Queue night;
  night.set_name("queues/night");
  server_->CreateQueue(night, Author(), queue.callback());
  EXPECT_THAT(first.Get(), repeats_it);
  EXPECT_THAT(queue.Get(), tries_again);
  // Those that are refused at once.
  EXPECT_THAT(Create({JobBuilder("a").RequestId("r")}), repeats_it);
  EXPECT_THAT(Create({JobBuilder("b")}), tries_again);
  EXPECT_THAT(Cancel("a"), tries_again);
  Later<absl::StatusOr<queues::v1::Queue>> refused;
  server_->CreateQueue(night, Author(), refused.callback());
  EXPECT_THAT(refused.Get(), tries_again);
  SetFull(false);
}

TEST_F(FullStoreTest, WorkersGoOn) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  SetFull(true);
  EXPECT_THAT(Create({JobBuilder("b")}),
              StatusIs(absl::StatusCode::kUnavailable));
  worker.Set(AttemptBuilder("a", 1).Running().Step(5));
  worker.AnnounceTo(*server_);
  EXPECT_EQ(server_->GetJob("a")->state(), Job::STARTING);
  SetFull(false);
  WaitFor("a", Job::RUNNING);
}

TEST_F(FullStoreTest, AJobThatEndsMeanwhileIsArchived) {
  FakeWorker worker("w");
  worker.AnnounceTo(*server_);
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  ASSERT_TRUE(worker.WaitForDesired("a", 1));
  SetFull(true);
  worker.Set(AttemptBuilder("a", 1).Running().Step(5));
  worker.AnnounceTo(*server_);
  worker.Set(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  worker.AnnounceTo(*server_);
  // More than are kept one by one; the second commit from now on is of all that
  // has come.
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 100; ++j) worker.AnnounceTo(*server_);
    memory_->WaitUntilBegun(memory_->num_begun() + 2);
  }
  SetFull(false);
  // Acknowledged only when what had found no room is released.
  absl::StatusOr<std::vector<Job>> next;
  do {
    next = Create({JobBuilder("b")});
  } while (absl::IsUnavailable(next.status()));
  ASSERT_THAT(next, IsOk());
  EXPECT_EQ(server_->GetJob("a")->state(), Job::SUCCEEDED);
  EXPECT_THAT(server_->Archive(), base::testing::IsOkAndHolds(1));
  EXPECT_THAT(server_->GetJob("a"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FullStoreTest, WatchesThatComeAndGoSplitNoCommit) {
  ASSERT_THAT(Create({JobBuilder("a")}), IsOk());
  const int num_committed = memory_->num_committed();
  const int num_begun = memory_->num_begun();
  memory_->Hold();
  std::vector<Later<absl::StatusOr<std::vector<Job>>>> created(10);
  for (size_t i = 0; i < created.size(); ++i) {
    server_->CreateJobs({JobBuilder(absl::StrCat("b-", i))},
                        created[i].callback());
    // One commit is under way, all others wait for it.
    memory_->WaitUntilBegun(num_begun + 1);
    const auto watch = server_->WatchJob("a", [](const Job&, bool) {});
    ASSERT_THAT(watch, IsOk());
    server_->StopWatch(*watch);
  }
  memory_->Continue();
  for (auto& each : created) EXPECT_THAT(each.Get(), IsOk());
  EXPECT_EQ(memory_->num_committed() - num_committed, 2);
}

TEST(ServerDeathTest, AFailedCommitEndsTheProcessWithAMessage) {
  EXPECT_EXIT(
      {
        base::testing::TemporaryFolder folder;
        base::PosixFilesystem files;
        base::RealClock clock;
        base::MetricsRegistry registry;
        SchedulerMetrics metrics(registry);
        auto memory = std::make_shared<store::testing::Memory>();
        store::testing::MemoryStore store(memory);
        memory->Fail(absl::UnavailableError("disk broken"));
        ServerOptions options;
        options.core.place = &policy::PlaceFair;
        options.store = &store;
        options.clock = &clock;
        options.files = &files;
        options.metrics = &metrics;
        auto server = Server::Start(options);
        std::promise<void> never;
        (*server)->CreateJobs({JobBuilder("a")}, [](auto) {});
        never.get_future().wait_for(kPatience);
      },
      ::testing::ExitedWithCode(1), "disk broken");
}

}  // namespace
}  // namespace ordo::scheduler::server
