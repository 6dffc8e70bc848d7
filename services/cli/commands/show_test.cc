#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/print.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ShowTest = testing::CliTest;

TEST_F(ShowTest, JobHasItsAttemptsAndSpec) {
  scheduler_.SetJob("a", Job::FAILED, [](Job* job) {
    job->set_reason("NON_FINITE");
    job->set_message("lower training.learning_rate");
    job->mutable_owner()->set_user("ada");
    job->mutable_spec()->set_queue("default");
    auto* attempt = job->add_attempts();
    attempt->set_number(1);
    attempt->set_worker("workers/local");
    attempt->mutable_start_time()->set_seconds(1000);
    attempt->mutable_end_time()->set_seconds(1012);
    attempt->set_end_step(7);
    attempt->set_reason("NON_FINITE");
    attempt->set_message("loss is not finite");
    attempt->set_resumed_from("jobs/a/checkpoints/5-1");
    attempt->set_exact(true);
    attempt->add_warnings("a cpu is missing");
    job->add_notices("no kernel does it");
    job->set_traceparent(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("Job:      a\nState:    FAILED\n"
                               "Reason:   NON_FINITE\n"
                               "Message:  lower training.learning_rate\n"
                               "Owner:    ada (unverified)\n"));
  EXPECT_THAT(out(), HasSubstr("Notice:   no kernel does it\n"));
  EXPECT_THAT(out(), HasSubstr("Trace:    4bf92f3577b34da6a3ce929d0e0e4736\n"));
  EXPECT_THAT(out(), HasSubstr("12s"));
  EXPECT_THAT(out(), HasSubstr("7  NON_FINITE  loss is not finite"));
  EXPECT_THAT(out(), HasSubstr("attempt 1: resumed from "
                               "jobs/a/checkpoints/5-1 exactly\n"));
  EXPECT_THAT(out(), HasSubstr("attempt 1: warning a cpu is missing\n"));
  EXPECT_THAT(out(), HasSubstr("Spec:\nname: a\nqueue: default\n"));
}

TEST_F(ShowTest, ResumeThatWasNotExactSaysSo) {
  scheduler_.SetJob("a", Job::RUNNING, [](Job* job) {
    auto* attempt = job->add_attempts();
    attempt->set_number(2);
    attempt->set_resumed_from("jobs/a/checkpoints/5-1");
    attempt->set_exact(false);
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("attempt 2: resumed from "
                               "jobs/a/checkpoints/5-1, not exactly\n"));
}

TEST_F(ShowTest, ARunThatFollowsTrialsSaysWhatItTook) {
  scheduler_.SetJob("a", Job::QUEUED, [](Job* job) {
    job->mutable_spec()->mutable_tuned_by()->add_trials();
    job->mutable_spec()->mutable_tuned_by()->add_trials();
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("that of the best of 2 trials\n"));
  scheduler_.SetJob("a", Job::RUNNING, [](Job* job) {
    job->add_attempts()->mutable_control()->set_learning_rate(0.003);
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("0.003, that of the best of 2 trials\n"));
}

TEST_F(ShowTest, AnAttemptSaysWhereItsRanksAreAndHowTheyEnded) {
  scheduler_.SetJob("a", Job::RUNNING, [](Job* job) {
    auto* attempt = job->add_attempts();
    attempt->set_number(1);
    auto* first = attempt->add_ranks();
    first->set_worker("here");
    first->add_devices("cpu:0");
    auto* second = attempt->add_ranks();
    second->set_worker("there");
    second->add_devices("cpu:3");
    second->mutable_end_time()->set_seconds(1012);
    second->set_reason("PEER_LOST");
    second->set_message("another rank is gone");
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("attempt 1: rank 0 on here, cpu:0\n"
                               "attempt 1: rank 1 on there, cpu:3: PEER_LOST, "
                               "another rank is gone\n"));
}

TEST_F(ShowTest, WorkerHasItsDevices) {
  workers::v1::Worker worker;
  worker.set_name("workers/local");
  worker.set_state(workers::v1::Worker::DRAINING);
  worker.add_devices()->set_name("cpu:0");
  worker.mutable_devices(0)->set_kind("cpu");
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"show", "workers/local"}), 0);
  EXPECT_THAT(out(), HasSubstr("DRAINING"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("cpu:0 +cpu +- +- +-\n"));
}

TEST_F(ShowTest, CheckpointAndReportHaveTheirFiles) {
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_step(20);
  checkpoint.set_state_digest("d16e57");
  checkpoint.add_files()->set_path("model.safetensors");
  scheduler_.AddCheckpoint(checkpoint);
  EXPECT_EQ(Run({"show", "jobs/a/checkpoints/latest"}), 0);
  EXPECT_THAT(out(), HasSubstr("d16e57"));
  EXPECT_THAT(out(), HasSubstr("model.safetensors   0 B"));
  reports::v1::Report report;
  report.set_name("jobs/a/reports/grid-20");
  (*report.mutable_metrics())["grid_mean"] = 0.25;
  scheduler_.AddReport(report, {{"result.json", "{}"}});
  EXPECT_EQ(Run({"show", "jobs/a/reports/grid-20"}), 0);
  EXPECT_THAT(out(), HasSubstr("grid_mean=0.25"));
  EXPECT_THAT(out(), HasSubstr("result.json   2 B"));
}

TEST_F(ShowTest, UnknownNamesAreBadInput) {
  EXPECT_EQ(Run({"show", "a"}), 2);
  EXPECT_EQ(Run({"show", "a/b"}), 2);
  EXPECT_THAT(err(), HasSubstr("names are JOB"));
}

TEST_F(ShowTest, WorkerSaysWhatJobsMayAskItFor) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_cpus(16);
  worker.set_memory_bytes(int64_t{64} << 30);
  worker.mutable_data_roots()->add_paths("/srv/text");
  (*worker.mutable_labels())["zone"] = "north";
  (*worker.mutable_labels())["arch"] = "x86_64";
  worker.add_devices()->set_name("cuda:0");
  worker.mutable_devices(0)->set_memory_bytes(int64_t{80} << 30);
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"show", "workers/w"}), 0);
  EXPECT_THAT(out(), ::testing::ContainsRegex("Cores: +16\n"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("Memory: +64"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("Data root: +/srv/text\n"));
  EXPECT_THAT(
      out(), ::testing::ContainsRegex("Label: +arch=x86_64\nLabel: +zone=nor"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("cuda:0 .*80"));
}

TEST_F(ShowTest, ClosedWorkerSaysWhoClosedItWhenAndWhy) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.mutable_drain_time()->set_seconds(1'700'000'000);
  worker.set_closed_reason("new disks");
  auto* change = worker.add_changes();
  change->set_user("bob");
  change->set_action("drain at 2023-11-14T22:13:20+00:00");
  change->set_reason("new disks");
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"show", "workers/w"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,DRAIN"));
  // Both in the local zone.
  const std::string time = FormatTime(worker.drain_time());
  EXPECT_THAT(out(), ::testing::ContainsRegex("Drains at: +" + time + "\n"));
  EXPECT_THAT(out(), HasSubstr("drain at " + time));
  EXPECT_THAT(out(), HasSubstr("bob"));
  EXPECT_EQ(Run({"list", "workers"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,DRAIN"));

  // A cordon hides no drain.
  worker.set_name("workers/both");
  worker.set_cordoned(true);
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"show", "workers/both"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,CORDONED,DRAIN"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("Drains at: +" + time + "\n"));
  EXPECT_EQ(Run({"list", "workers"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,CORDONED,DRAIN"));
}

TEST_F(ShowTest, WorkerSaysWhenItsMachineIsTakenAway) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.mutable_leave_time()->set_seconds(1'700'000'000);
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"show", "workers/w"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,LEAVES"));
  EXPECT_THAT(out(), ::testing::ContainsRegex("Leaves at: +" +
                                              FormatTime(worker.leave_time())));
  EXPECT_EQ(Run({"list", "workers"}), 0);
  EXPECT_THAT(out(), HasSubstr("ONLINE,LEAVES"));
}

TEST_F(ShowTest, JobSaysWhoHeldItAndWhoMovedIt) {
  scheduler_.SetJob("a", Job::QUEUED, [](Job* job) {
    job->set_priority(-5);
    job->set_priority_set_by("eve");
    job->set_held_by("bob");
  });
  EXPECT_EQ(Run({"show", "a"}), 0);
  EXPECT_THAT(out(), HasSubstr("-5, set by eve\n"));
  EXPECT_THAT(out(), HasSubstr("Held by:"));
  EXPECT_THAT(out(), HasSubstr("bob"));
}

}  // namespace
}  // namespace ordo::services::cli
