#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;
using ListTest = testing::CliTest;
using ListOfServicesTest = testing::LoopbackCliTest;

google::protobuf::Timestamp Ago(const base::Clock& clock, int64_t seconds) {
  google::protobuf::Timestamp time;
  time.set_seconds(absl::ToUnixSeconds(clock.Now()) - seconds);
  return time;
}

TEST_F(ListTest, JobsAreATable) {
  scheduler_.SetJob("first", Job::SUCCEEDED, [&](Job* job) {
    job->mutable_spec()->mutable_training()->set_steps(100);
    job->mutable_owner()->set_user("ada");
    *job->mutable_create_time() = Ago(clock_, 200);
    job->set_reason("FINISHED");
  });
  scheduler_.SetJob("second", Job::RUNNING, [&](Job* job) {
    job->mutable_progress()->set_step(5);
    job->mutable_progress()->set_total_steps(100);
    job->mutable_owner()->set_user("ada");
    *job->mutable_create_time() = Ago(clock_, 20);
    job->set_reason("RUNNING");
  });
  EXPECT_EQ(Run({"list"}), 0);
  EXPECT_EQ(out(),
            "NAME    STATE      REASON    KIND      STEP  OWNER    AGE\n"
            "second  RUNNING    RUNNING   train    5/100  ada      20s\n"
            "first   SUCCEEDED  FINISHED  train  100/100  ada    3m20s\n");
}

TEST_F(ListTest, AJobThatEndedEarlyShowsTheStepItReached) {
  scheduler_.SetJob("a", Job::CANCELLED, [&](Job* job) {
    job->mutable_spec()->mutable_training()->set_steps(400);
    job->add_attempts()->set_end_step(16);
  });
  EXPECT_EQ(Run({"list"}), 0);
  EXPECT_THAT(out(), HasSubstr(" 16/400 "));
}

TEST_F(ListOfServicesTest, PagesThatALargeJobEndsAreFollowedByOthers) {
  for (int i = 1; i <= 12; ++i) {
    Job job;
    job.set_name("jobs/j" + std::to_string(i));
    job.set_state(Job::QUEUED);
    job.mutable_owner()->set_user("ada");
    job.set_message(std::string(1 << 20, 'x'));
    loopback_.scheduler().PutJob(job);
  }
  EXPECT_EQ(Run({"list", "--limit", "10"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("j12 "));
  EXPECT_THAT(out(), HasSubstr("j3 "));
  EXPECT_THAT(out(), Not(HasSubstr("j2 ")));
  EXPECT_EQ(err(), "ordo: there are more; --limit 0 shows all\n");
  EXPECT_EQ(Run({"list", "--limit", "0"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("j1 "));
}

TEST_F(ListTest, ShowsMineUnlessAllUsersAreWanted) {
  EXPECT_EQ(Run({"list"}), 0);
  EXPECT_EQ(Run({"list", "--filter", "state = RUNNING"}), 0);
  EXPECT_EQ(Run({"list", "jobs", "--all-users"}), 0);
  const auto requests = scheduler_.list_requests();
  EXPECT_EQ(requests[0].filter(), "owner = ada");
  EXPECT_EQ(requests[1].filter(), "state = RUNNING AND owner = ada");
  EXPECT_EQ(requests[2].filter(), "");
}

TEST_F(ListTest, AFilterThatNamesAnOwnerIsTakenAsItStands) {
  EXPECT_EQ(Run({"list", "--filter", "owner = eve"}), 0);
  EXPECT_EQ(Run({"list", "--filter", "state = RUNNING AND owner=eve"}), 0);
  EXPECT_EQ(Run({"list", "--filter", "labels.owner = eve"}), 0);
  const auto requests = scheduler_.list_requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].filter(), "owner = eve");
  EXPECT_EQ(requests[1].filter(), "state = RUNNING AND owner=eve");
  EXPECT_EQ(requests[2].filter(), "labels.owner = eve AND owner = ada");
}

TEST_F(ListTest, PartsAreThoseOfAJobThatIsThere) {
  scheduler_.SetJob("sweep", Job::RUNNING);
  EXPECT_EQ(Run({"list", "--parent", "sweep"}), 0);
  ASSERT_EQ(scheduler_.list_requests().size(), 1U);
  EXPECT_EQ(scheduler_.list_requests()[0].filter(),
            "parent = sweep AND owner = ada");
  EXPECT_NE(Run({"list", "--parent", "nope"}), 0);
  EXPECT_THAT(err(), HasSubstr("nope"));
  EXPECT_EQ(scheduler_.list_requests().size(), 1U);
}

TEST_F(ListTest, LimitBoundsTheListAndSaysSo) {
  for (int i = 0; i < 5; ++i) {
    scheduler_.SetJob("job" + std::to_string(i), Job::QUEUED);
  }
  EXPECT_EQ(Run({"list", "--limit", "2"}), 0);
  EXPECT_THAT(out(), HasSubstr("job3"));
  EXPECT_THAT(out(), Not(HasSubstr("job2")));
  EXPECT_EQ(err(), "ordo: there are more; --limit 0 shows all\n");
  EXPECT_EQ(Run({"list", "--limit", "0"}), 0);
  EXPECT_THAT(out(), HasSubstr("job0"));
  EXPECT_EQ(err(), "");
}

TEST_F(ListTest, ManyJobsTakeSeveralPages) {
  for (int i = 0; i < 1005; ++i) {
    scheduler_.SetJob("job" + std::to_string(i), Job::QUEUED);
  }
  EXPECT_EQ(Run({"list", "--limit", "1003"}), 0);
  const std::string text = out();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1004);
}

TEST_F(ListTest, JsonIsOneDocument) {
  scheduler_.SetJob("a", Job::QUEUED);
  scheduler_.SetJob("b", Job::QUEUED);
  EXPECT_EQ(Run({"list", "-o", "json"}), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("{\"jobs\":[{\"name\":\"jobs/b\""));
}

TEST_F(ListTest, WorkersShowWhatTheyRun) {
  workers::v1::Worker worker;
  worker.set_name("workers/local");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.set_address("127.0.0.1:9");
  *worker.mutable_last_seen_time() = Ago(clock_, 1);
  worker.add_devices()->set_name("cpu:0");
  worker.mutable_devices(0)->set_job("jobs/a");
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"list", "workers"}), 0);
  EXPECT_EQ(out(),
            "NAME   STATE   DEVICES  KERNELS     JOBS  SEEN  ADDRESS\n"
            "local  ONLINE  cpu:0    not probed  a     1.0s  127.0.0.1:9\n");
}

TEST_F(ListTest, WorkersShowWhatTheirProbesFound) {
  workers::v1::Worker worker;
  worker.set_name("workers/local");
  worker.set_state(workers::v1::Worker::ONLINE);
  *worker.mutable_last_seen_time() = Ago(clock_, 1);
  workers::v1::Device& device = *worker.add_devices();
  device.set_name("cpu:0");
  device.mutable_probe()->add_passed("rows/a");
  device.mutable_probe()->add_failed()->set_kernel("attention/b");
  worker.add_devices()->set_name("cuda:0");
  worker.mutable_devices(1)->set_withheld("its kernels are being probed");
  scheduler_.AddWorker(worker);
  EXPECT_EQ(Run({"list", "workers"}), 0);
  EXPECT_THAT(out(), HasSubstr("1 right, attention/b WRONG; its kernels are "
                               "being probed"));
}

TEST_F(ListTest, CheckpointsAndReportsCanBeThoseOfAJob) {
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_step(20);
  checkpoint.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
  checkpoint.add_files()->set_size_bytes(2048);
  scheduler_.AddCheckpoint(checkpoint);
  reports::v1::Report report;
  report.set_name("jobs/b/reports/grid-20");
  report.set_task("addition_grid");
  report.set_step(20);
  (*report.mutable_metrics())["z"] = 0.5;
  (*report.mutable_metrics())["a"] = 1;
  scheduler_.AddReport(report, {});
  EXPECT_EQ(Run({"list", "checkpoints"}), 0);
  EXPECT_EQ(out(),
            "NAME                     STEP     SIZE  STATE      AGE  NOTES\n"
            "jobs/a/checkpoints/20-1    20  2.0 KiB  AVAILABLE    -\n");
  checkpoint.add_aliases("aliases/main");
  checkpoint.mutable_pin();
  checkpoint.mutable_thin_time();
  checkpoint.set_name("jobs/a/checkpoints/30-1");
  scheduler_.AddCheckpoint(checkpoint);
  EXPECT_EQ(Run({"list", "checkpoints"}), 0);
  EXPECT_THAT(out(), HasSubstr("AVAILABLE    -  main, pinned, thinned\n"));
  EXPECT_EQ(Run({"list", "checkpoints", "b"}), 0);
  EXPECT_THAT(out(), Not(HasSubstr("20-1")));
  EXPECT_EQ(Run({"list", "reports", "b"}), 0);
  EXPECT_THAT(out(), HasSubstr("jobs/b/reports/grid-20  addition_grid    20  "
                               "a=1 z=0.5"));
}

TEST_F(ListTest, UnknownListAndSuperfluousArgumentsAreBadInput) {
  EXPECT_EQ(Run({"list", "job"}), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'jobs'"));
  EXPECT_EQ(Run({"list", "jobs", "a"}), 2);
  EXPECT_EQ(Run({"list", "workers", "--all-users"}), 2);
}

TEST_F(ListOfServicesTest, DataIsATableWithTheVersionThatIsCurrent) {
  EXPECT_EQ(Run({"push", "data", WriteFile("book.txt", "one")}), 0) << err();
  const std::string first = out().substr(0, out().find('\n'));
  EXPECT_EQ(Run({"push", "data", WriteFile("book.txt", "twos")}), 0) << err();
  const std::string second = out().substr(0, out().find('\n'));
  EXPECT_EQ(Run({"list", "data"}), 0) << err();
  EXPECT_THAT(out(), ::testing::StartsWith("NAME"));
  EXPECT_THAT(out(), ::testing::ContainsRegex(first + " +1 +3 B +ada"));
  EXPECT_THAT(out(), ::testing::ContainsRegex(second + " +yes +1 +4 B +ada"));
  EXPECT_EQ(Run({"list", "data", "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("\"name\":\"data/" + first + "\""));
  EXPECT_EQ(Run({"list", "data", "book"}), 2);
  EXPECT_THAT(err(), HasSubstr("takes no further argument"));
}

}  // namespace
}  // namespace ordo::services::cli
