#include "scheduler/core/board.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

class BoardTest : public ::testing::Test {
 protected:
  void Announce(const agent::v1::AnnounceRequest& request) {
    ORDO_ASSERT_OK(shell_.Announce(request));
    shell_.Ignore();
  }
  void Submit(const NewJob& job) {
    ORDO_ASSERT_OK(shell_.Submit(job));
    shell_.Ignore();
  }
  const policy::Board& board() const { return shell_.state().board; }

  TestShell shell_;
};

TEST_F(BoardTest, AJobWaitsOnItThenRunsThenIsGone) {
  Submit(JobBuilder("a"));
  EXPECT_TRUE(board().IsWaiting(1));
  Announce(WorkerBuilder("w"));
  EXPECT_TRUE(board().IsRunning(1));
  EXPECT_EQ(board().NumHeld("default", "cpu"), 1);
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_FALSE(board().IsRunning(1));
  EXPECT_EQ(board().NumHeld("default", "cpu"), 0);
}

TEST_F(BoardTest, AWithheldDeviceGetsNoJob) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w");
  request.mutable_devices(0)->set_withheld("no driver");
  Announce(request);
  Submit(JobBuilder("a"));
  EXPECT_TRUE(board().IsWaiting(1));
  Announce(WorkerBuilder("w"));
  EXPECT_TRUE(board().IsRunning(1));
}

TEST_F(BoardTest, AJobGetsTheMachineThatHasWhatItAsksFor) {
  const auto announce = [this](const std::string& id, int cpus,
                               const std::string& zone) {
    agent::v1::AnnounceRequest request = WorkerBuilder(id);
    request.set_cpus(cpus);
    request.mutable_devices(0)->set_memory_bytes(1000 * cpus);
    (*request.mutable_labels())["zone"] = zone;
    Announce(request);
  };
  announce("small", 2, "a");
  announce("far", 8, "b");
  NewJob job = JobBuilder("a");
  job.OwnSpec().mutable_resources()->set_cpus(4);
  job.OwnSpec().mutable_resources()->set_device_memory_bytes(5000);
  (*job.OwnSpec().mutable_resources()->mutable_labels())["zone"] = "a";
  Submit(job);
  EXPECT_TRUE(board().IsWaiting(1));
  announce("right", 8, "a");
  EXPECT_EQ(shell_.job("a").attempts(0).worker(), "right");
}

TEST_F(BoardTest, AJobStartsWhereItsDataMayBeRead) {
  const auto announce = [this](const std::string& id, const std::string& root) {
    agent::v1::AnnounceRequest request = WorkerBuilder(id);
    request.mutable_data_roots()->add_paths(root);
    Announce(request);
  };
  announce("other", "/srv/code");
  NewJob job = JobBuilder("a");
  (*job.OwnSpec().mutable_data()->mutable_params())["path"].set_string_value(
      "/srv/books/one.txt");
  Submit(job);
  EXPECT_TRUE(board().IsWaiting(1));
  announce("right", "/srv/books");
  EXPECT_EQ(shell_.job("a").attempts(0).worker(), "right");
}

TEST_F(BoardTest, RanksOnGpusStartWhereNcclIsAnnounced) {
  const std::vector<std::string> gpus = {"cuda:0", "cuda:1"};
  // As the release before, which does not know the field.
  agent::v1::AnnounceRequest without = WorkerBuilder("without").Devices(gpus);
  without.clear_nccl();
  Announce(without);
  Submit(JobBuilder("gang").Device("cuda").Ranks(2));
  Submit(JobBuilder("single").Device("cuda"));
  EXPECT_TRUE(board().IsWaiting(1));
  EXPECT_TRUE(board().IsRunning(2));
  Announce(WorkerBuilder("with").Devices(gpus));
  ASSERT_TRUE(board().IsRunning(1));
  for (const auto& rank : shell_.job("gang").attempts(0).ranks()) {
    EXPECT_EQ(rank.worker(), "with");
  }
  for (const auto& [id, worker] : shell_.state().workers) {
    EXPECT_EQ(ToProto(shell_.state(), worker).nccl(), id == "with");
  }
}

TEST_F(BoardTest, AGangGoesOnWithoutTheWorkerOnWhichNcclFailed) {
  for (const int failed : {0, 1}) {
    TestShell shell;
    const auto announce = [&shell](const std::string& worker) {
      ORDO_ASSERT_OK(shell.Announce(WorkerBuilder(worker)));
      shell.Ignore();
    };
    announce("v");
    announce("w");
    ORDO_ASSERT_OK(shell.Submit(JobBuilder("gang").Ranks(2)));
    shell.Ignore();
    ASSERT_EQ(shell.job("gang").attempts_size(), 1);
    const jobs::v1::Attempt first = shell.job("gang").attempts(0);
    for (const int rank : {failed, 1 - failed}) {
      shell.Observe(first.ranks(rank).worker(),
                    {AttemptBuilder("gang", 1, rank)
                         .Running()
                         .Exited(rank == failed ? training::v1::NCCL_ERROR
                                                : training::v1::PEER_LOST)});
      shell.Ignore();
    }
    shell.Restart();
    for (const char* worker : {"v", "w", "x"}) announce(worker);
    shell.Advance(absl::Seconds(2));
    shell.Ignore();
    ASSERT_EQ(shell.job("gang").attempts_size(), 2);
    for (const auto& rank : shell.job("gang").attempts(1).ranks()) {
      EXPECT_NE(rank.worker(), first.ranks(failed).worker());
    }
  }
}

TEST_F(BoardTest, RanksOnCpusNeedNoNccl) {
  agent::v1::AnnounceRequest without =
      WorkerBuilder("w").Devices({"cpu:0", "cpu:1"});
  without.clear_nccl();
  Announce(without);
  Submit(JobBuilder("gang").Ranks(2));
  EXPECT_TRUE(board().IsRunning(1));
}

TEST_F(BoardTest, AWorkerThatIsForgottenIsOffIt) {
  Announce(WorkerBuilder("w"));
  EXPECT_TRUE(board().HasWorker("w"));
  shell_.Advance(absl::Hours(2));
  shell_.Ignore();
  EXPECT_FALSE(board().HasWorker("w"));
}

TEST_F(BoardTest, WhatRanBeforeARestartRunsOnIt) {
  Announce(WorkerBuilder("v").Devices({"cpu:0", "cpu:1"}));
  Announce(WorkerBuilder("w"));
  Submit(JobBuilder("a").Ranks(3));
  Submit(JobBuilder("b"));
  shell_.Observe("w", {AttemptBuilder("a", 1, 2).Running().Exited(0)});
  shell_.Ignore();
  ASSERT_TRUE(board().IsRunning(2));
  shell_.Restart();
  EXPECT_TRUE(board().IsRunning(1));
  EXPECT_TRUE(board().IsRunning(2));
  EXPECT_EQ(board().NumHeld("default", "cpu"), 3);
}

TEST_F(BoardTest, NoMorePartsRunThanMaxParallelLetsAlsoAfterARestart) {
  const auto announced = [] {
    return WorkerBuilder("w").Devices({"cpu:0", "cpu:1", "cpu:2"});
  };
  Announce(announced());
  ORDO_ASSERT_OK(shell_.Submit({JobBuilder("s-0").PartOf("s"),
                                JobBuilder("s-1").PartOf("s"),
                                JobBuilder("s").Sweeps({"s-0", "s-1"}, 1)}));
  shell_.Ignore();
  EXPECT_TRUE(board().IsRunning(1));
  EXPECT_TRUE(board().IsWaiting(2));
  shell_.Restart();
  Announce(announced().Runs(AttemptBuilder("s-0", 1).Running()));
  EXPECT_TRUE(board().IsWaiting(2));
  shell_.Observe("w", {AttemptBuilder("s-0", 1).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_TRUE(board().IsRunning(2));
}

TEST_F(BoardTest, WhatSumsUpPartsWaitsForAWorkerThatKnowsHow) {
  Announce(WorkerBuilder("old").Protocol(2));
  ORDO_ASSERT_OK(shell_.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s").Sweeps({"s-0"})}));
  shell_.Ignore();
  shell_.Observe("old", {AttemptBuilder("s-0", 1).Running().Exited(0)});
  shell_.Ignore();
  EXPECT_TRUE(board().IsWaiting(2));
  Announce(WorkerBuilder("w"));
  EXPECT_TRUE(board().IsRunning(2));
}

TEST_F(BoardTest, AGateWaitsForAWorkerThatKnowsHow) {
  Announce(WorkerBuilder("old").Protocol(2));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  shell_.Ignore();
  shell_.Observe("old",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0)});
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("g").Gates("jobs/a", "jobs/a")));
  shell_.Ignore();
  EXPECT_TRUE(board().IsWaiting(2));
  Announce(WorkerBuilder("w"));
  EXPECT_TRUE(board().IsRunning(2));
}

TEST_F(BoardTest, AnUnknownQueueIsNotFound) {
  NewJob job = JobBuilder("a");
  job.OwnSpec().set_queue("nobodys");
  EXPECT_THAT(shell_.Submit(job),
              base::testing::StatusIs(absl::StatusCode::kNotFound,
                                      ::testing::HasSubstr("nobodys")));
}

}  // namespace
}  // namespace ordo::scheduler::core
