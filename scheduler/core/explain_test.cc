#include "scheduler/core/explain.h"

#include <optional>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "base/version/worker_protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"
#include "scheduler/core/worker_admin.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Job;
using policy::Constraint;
using testing::AttemptBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

Job MakeJob(Job::State state) {
  Job job;
  job.mutable_spec()->set_name("b");
  job.mutable_spec()->mutable_resources()->set_device("cpu");
  job.set_state(state);
  return job;
}

workers::v1::Worker MakeWorker(const std::string& kind,
                               const std::string& holder) {
  workers::v1::Worker worker;
  worker.set_name("workers/w");
  worker.set_state(workers::v1::Worker::ONLINE);
  worker.set_protocol(base::kWorkerProtocol);
  workers::v1::Device& device = *worker.add_devices();
  device.set_name(kind + ":0");
  device.set_kind(kind);
  if (!holder.empty()) {
    device.set_job("jobs/" + holder);
    device.set_attempt(2);
  }
  return worker;
}

struct Seen {
  Job job = MakeJob(Job::QUEUED);
  std::vector<workers::v1::Worker> workers;
  // Of one that waits for devices.
  Constraint constraint = Constraint::kRoom;
  policy::Reason why;
  std::vector<std::string> needed;
  Placing placing;
  jobs::v1::ExplainResponse Explain() const {
    Placing told = placing;
    told.reason = why;
    told.reason->constraint = constraint;
    return core::Explain(
        {job, workers, absl::FromUnixSeconds(1000), needed, told});
  }
  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons;
    const jobs::v1::ExplainResponse response = Explain();
    for (const auto& blocker : response.blockers()) {
      reasons.push_back(blocker.reason());
    }
    return reasons;
  }
};

TEST(ExplainTest, ABusyDeviceNamesItsJob) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("runs job a (attempt 2)"));
}

TEST(ExplainTest, ADeviceThatIsWithheldSaysWhy) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  seen.workers[0].mutable_devices(0)->set_withheld(
      "its kernels are being probed");
  seen.constraint = Constraint::kClosed;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("no cpu device is free: cpu:0 of w is withheld: its "
                        "kernels are being probed"));
}

TEST(ExplainTest, AWithheldDeviceThatStillRunsAJobNamesIt) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  seen.workers[0].mutable_devices(0)->set_withheld("no driver");
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("cpu:0 of w runs job a (attempt 2); "
                        "cpu:0 of w is withheld: no driver"));
}

TEST(ExplainTest, AKernelThatFailedOnEveryDeviceIsNamed) {
  Seen seen;
  seen.job.mutable_spec()->mutable_training()->set_kernel("x");
  seen.workers = {MakeWorker("cpu", ""), MakeWorker("cpu", "a")};
  seen.workers[1].set_state(workers::v1::Worker::LOST);
  auto& failure =
      *seen.workers[0].mutable_devices(0)->mutable_probe()->add_failed();
  failure.set_kernel("attention/x");
  failure.set_message("it hung");
  seen.constraint = Constraint::kUnoffered;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoSuchKernel));
  EXPECT_THAT(
      seen.Explain().summary(),
      HasSubstr("no online cpu device has what the job names: cpu:0 of w lacks "
                "attention/x, which failed its probe there: it hung; start"));
  // One that has it, and is busy.
  seen.workers[1].set_state(workers::v1::Worker::ONLINE);
  seen.constraint = Constraint::kRoom;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("no cpu device is free: cpu:0 of w runs job a (attempt "
                        "2); cpu:0 of w lacks attention/x"));
}

TEST(ExplainTest, AQuarantineIsSaidWithWhatEndsIt) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  auto& quarantine = *seen.workers[0].mutable_devices(0)->mutable_quarantine();
  quarantine.mutable_start_time()->set_seconds(1'700'000'000);
  quarantine.set_reason("it fell off the bus");
  for (const auto constraint : {Constraint::kClosed, Constraint::kRoom}) {
    seen.constraint = constraint;
    EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
    EXPECT_THAT(
        seen.Explain().summary(),
        HasSubstr(
            "cpu:0 of w is in quarantine since 2023-11-14T22:13:20+00:00: "
            "it fell off the bus (once it is mended: ordo workers "
            "release w cpu:0)"));
  }
}

TEST(ExplainTest, NoWorkerIsSaid) {
  Seen seen;
  seen.constraint = Constraint::kClosed;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoWorker));
  seen.workers = {MakeWorker("cpu", "")};
  seen.workers[0].set_state(workers::v1::Worker::LOST);
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoWorker));
  seen.workers[0].set_state(workers::v1::Worker::DRAINING);
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("draining"));
}

// Closes a worker as people do.
void Close(absl::Time drain_at, const std::string& reason,
           workers::v1::Worker* worker) {
  WorkerChange change;
  change.author.owner.set_user("ada");
  change.author.reason = reason;
  change.now = absl::FromUnixSeconds(900);
  ShowAdmin(Drained(nullptr, drain_at, change), worker);
}

TEST(ExplainTest, AWorkerThatPeopleClosedIsNamedWithTheirWords) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  seen.constraint = Constraint::kClosed;
  Close(absl::FromUnixSeconds(5000), "exams", &seen.workers[0]);
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoWorker));
  const std::string closed =
      "w (to be drained at 1970-01-01T01:23:20+00:00 by ada: exams)";
  EXPECT_THAT(seen.Explain().summary(), HasSubstr(": " + closed + "; start"));

  // Others are open, and not what it asks for: of those that are closed it is
  // told of the one that is.
  seen.workers.push_back(MakeWorker("cuda", ""));
  seen.workers.push_back(MakeWorker("cuda", ""));
  seen.workers.back().set_name("workers/other");
  seen.workers.back().set_cordoned(true);
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWorkersClosed));
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("run: " + closed + "; see"));
}

TEST(ExplainTest, AWorkerThatIsDrainedLaterCountsAsOpen) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  *seen.workers[0].mutable_drain_time() =
      ToTimestamp(absl::FromUnixSeconds(5000));
  seen.placing.ends_by = absl::FromUnixSeconds(5000);
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("cpu:0 of w runs job a"));

  seen.constraint = Constraint::kClosed;
  seen.placing.ends_by = absl::FromUnixSeconds(5001);
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoWorker));
}

TEST(ExplainTest, AKindThatNobodyHasIsSaidWithThoseThereAre) {
  Seen seen;
  seen.job.mutable_spec()->mutable_resources()->set_device("cuda");
  seen.workers = {MakeWorker("cpu", "")};
  seen.constraint = Constraint::kUnoffered;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoSuchDevice));
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("there are: cpu"));
}

TEST(ExplainTest, ABackoffComesFirstAndSaysHowLong) {
  Seen seen;
  seen.job.mutable_not_before_time()->set_seconds(1030);
  seen.workers = {MakeWorker("cpu", "a")};
  EXPECT_THAT(seen.Reasons(),
              ElementsAre(reason::kBackoff, reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("30s"));
}

TEST(ExplainTest, ThePlaceInTheQueueAndTheEstimateAreTold) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  seen.placing.jobs_ahead = 3;
  seen.placing.start = absl::FromUnixSeconds(1060);
  EXPECT_EQ(seen.Explain().jobs_ahead(), 3);
  EXPECT_EQ(seen.Explain().estimated_start_time().seconds(), 1060);
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("; at a guess it starts in about 1m, by what runs"));
  seen.placing.start = absl::FromUnixSeconds(1000 + 44 * 60 + 46);
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("starts in about 45m,"));
  seen.placing.start = absl::FromUnixSeconds(1000 + 3 * 3600 + 1);
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("starts in about 3h10m,"));
}

TEST(ExplainTest, EachConstraintHasAReasonAndASentence) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  seen.job.mutable_owner()->set_user("ada");
  seen.job.set_parent("jobs/sweep");
  seen.placing.other = "a";
  seen.why.wanted = 5;
  seen.why.limit = 4;
  const struct {
    Constraint constraint;
    const char* reason;
    const char* says;
  } kCases[] = {
      {Constraint::kNone, reason::kWaitingForDevice, "about to start"},
      {Constraint::kUnoffered, reason::kNoSuchDevice, "do not have 1 cpu dev"},
      {Constraint::kClosed, reason::kWorkersClosed, "take no work"},
      {Constraint::kQueueLimit, reason::kQueueLimit, "5 cpu devices with it"},
      {Constraint::kOwnerLimit, reason::kOwnerLimit, "ada would hold 5"},
      {Constraint::kParentLimit, reason::kParentLimit, "parts of sweep run"},
      {Constraint::kRoom, reason::kWaitingForDevice, "no room"},
      {Constraint::kReservation, reason::kReserved, "kept for job a"},
      {Constraint::kOrder, reason::kOtherFirst, "job a comes first"},
  };
  for (const auto& each : kCases) {
    seen.constraint = each.constraint;
    EXPECT_THAT(seen.Reasons(), ElementsAre(each.reason));
    EXPECT_THAT(seen.Explain().summary(), HasSubstr(each.says));
  }
}

// No waiting mends it, and nobody else is in its way.
TEST(ExplainTest, AJobThatAloneIsMoreThanALimitIsToldSo) {
  Seen seen;
  seen.job.mutable_owner()->set_user("ada");
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  seen.job.mutable_spec()->set_queue("small");
  seen.job.mutable_spec()->mutable_resources()->set_ranks(3);
  seen.job.mutable_spec()->mutable_resources()->set_devices(2);
  seen.why.wanted = 8;
  seen.why.limit = 4;
  seen.constraint = Constraint::kQueueLimit;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kQueueLimit));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("it asks for 6 cpu devices, and queue small may hold "
                        "4: it does not start unless that limit is raised"));
  seen.constraint = Constraint::kOwnerLimit;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kOwnerLimit));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("it asks for 6 devices in queue small, and ada may "
                        "hold 4: it does not start unless"));
  seen.why.limit = 6;
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("ada would hold 8 devices in queue small with it"));
}

TEST(ExplainTest, WhatIsAskedForIsSaidInFull) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  auto& resources = *seen.job.mutable_spec()->mutable_resources();
  resources.set_ranks(4);
  resources.set_devices(2);
  resources.set_cpus(3);
  (*resources.mutable_labels())["zone"] = "a";
  resources.set_exclusive(true);
  (*seen.workers[0].mutable_labels())["zone"] = "a";
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("4 ranks of 2 cpu devices each, 3 cores, on workers "
                        "with zone=a, alone on its workers"));
}

TEST(ExplainTest, WhatNoWorkerHasIsNamedWithWhatTheyHave) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  (*seen.workers[0].mutable_labels())["zone"] = "a";
  auto& labels =
      *seen.job.mutable_spec()->mutable_resources()->mutable_labels();
  labels["zone"] = "b";
  seen.constraint = Constraint::kUnoffered;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoSuchDevice));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("do not have 1 cpu device, on workers with zone=b: no "
                        "worker has the label zone=b: there is zone=a; start"));
}

TEST(ExplainTest, OnlyDevicesThatItMayHaveAreFreeOrBusy) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", ""), MakeWorker("cpu", "a")};
  (*seen.workers[1].mutable_labels())["zone"] = "b";
  auto& resources = *seen.job.mutable_spec()->mutable_resources();
  (*resources.mutable_labels())["zone"] = "b";
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("every cpu device on workers with zone=b is busy: "
                        "cpu:0 of w runs job a"));
}

TEST(ExplainTest, WhatIsShortBesideFreeDevicesIsNamed) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "")};
  const struct {
    policy::Lack lack;
    const char* says;
  } kCases[] = {
      {policy::Lack::kCpus, "1 cpu device is free, but with too few cores"},
      {policy::Lack::kMemory, "but with too little memory beside what runs"},
      {policy::Lack::kEmptyWorkers, "but others are on the same workers"},
      {policy::Lack::kSharedWorkers, "but on workers that a job has for itsel"},
  };
  for (const auto& each : kCases) {
    seen.why.lack = each.lack;
    EXPECT_THAT(seen.Explain().summary(), HasSubstr(each.says));
  }
}

TEST(ExplainTest, AHoldComesFirstAndThenWhatIsNeeded) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  seen.job.set_held_by("ada");
  seen.needed = {"x", "y"};
  EXPECT_THAT(seen.Reasons(),
              ElementsAre(reason::kHeld, reason::kWaitingForNeeds,
                          reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().blockers(1).message(), HasSubstr("jobs x, y"));
}

TEST(ExplainTest, NoStartIsEstimatedOfWhatIsHeldOrNeedsOthers) {
  Seen seen;
  seen.workers = {MakeWorker("cpu", "a")};
  seen.placing.jobs_ahead = 2;
  seen.placing.start = absl::FromUnixSeconds(1060);
  const auto check = [&seen] {
    const jobs::v1::ExplainResponse explained = seen.Explain();
    EXPECT_EQ(explained.jobs_ahead(), 2);
    EXPECT_FALSE(explained.has_estimated_start_time());
    EXPECT_THAT(explained.summary(),
                HasSubstr("; before that nobody can say when it starts"));
  };
  seen.job.set_held_by("ada");
  check();
  seen.job.clear_held_by();
  seen.needed = {"x"};
  check();
}

// What the core says of jobs, with nobody who runs them.
class PlacingTest : public ::testing::Test {
 protected:
  void Submit(const NewJob& job) {
    ORDO_ASSERT_OK(shell_.Submit(job));
    shell_.Ignore();
  }
  // The worker has one device.
  void StartWorker() {
    ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
    shell_.Ignore();
  }
  // The only attempt of the job ends by its own fault: it backs off.
  void Fail(const std::string& job) {
    shell_.Observe("w", {AttemptBuilder(job, 1).Running().Exited(1)});
    shell_.Ignore();
    ASSERT_EQ(shell_.ReasonOf(job), reason::kBackoff);
  }
  std::optional<Placing> PlacingOf(const std::string& job) const {
    return core::PlacingOf(shell_.state(), job, shell_.now());
  }

  TestShell shell_;
};

TEST_F(PlacingTest, AHeldJobStandsWhereItWouldIfItWereFree) {
  Submit(JobBuilder("a"));
  Submit(JobBuilder("b"));
  Submit(JobBuilder("held").Held());
  Submit(JobBuilder("c"));
  const auto placing = PlacingOf("held");
  ASSERT_TRUE(placing.has_value());
  EXPECT_FALSE(placing->reason.has_value());
  EXPECT_EQ(placing->jobs_ahead, 2);
  ORDO_ASSERT_OK(shell_.ReleaseJob("held"));
  shell_.Ignore();
  EXPECT_EQ(PlacingOf("held")->jobs_ahead, 2);
  EXPECT_TRUE(PlacingOf("held")->reason.has_value());
}

TEST_F(PlacingTest, AStartNowHasEndedByItsLimitAndAGrace) {
  Submit(JobBuilder("a").RunTimeLimit(absl::Hours(1)));
  Submit(JobBuilder("b"));
  const absl::Duration grace = shell_.state().options.board.grace;
  EXPECT_EQ(PlacingOf("a")->ends_by,
            shell_.now().wall + absl::Hours(1) + grace);
  EXPECT_EQ(PlacingOf("b")->ends_by, absl::InfiniteFuture());
}

TEST_F(PlacingTest, AJobThatNeedsOthersHasAPlace) {
  Submit(JobBuilder("a"));
  Submit(JobBuilder("b").Needs("a"));
  const auto placing = PlacingOf("b");
  ASSERT_TRUE(placing.has_value());
  EXPECT_FALSE(placing->reason.has_value());
  EXPECT_EQ(placing->jobs_ahead, 1);
}

TEST_F(PlacingTest, ABackoffDelaysTheStart) {
  StartWorker();
  Submit(JobBuilder("a"));
  Fail("a");
  const auto placing = PlacingOf("a");
  ASSERT_TRUE(placing.has_value());
  EXPECT_EQ(placing->jobs_ahead, 0);
  ASSERT_TRUE(placing->start.has_value());
  // Records have nanoseconds.
  EXPECT_LT(*placing->start - ToTime(shell_.job("a").not_before_time()),
            absl::Nanoseconds(1));
  EXPECT_GE(*placing->start, ToTime(shell_.job("a").not_before_time()));
  EXPECT_GT(*placing->start, shell_.now().wall);
}

TEST_F(PlacingTest, AJobThatBacksOffStartsInItsTurn) {
  const absl::Duration limit = absl::Hours(1);
  Submit(JobBuilder("first").Held().RunTimeLimit(limit));
  StartWorker();
  Submit(JobBuilder("a").RunTimeLimit(limit));
  ORDO_ASSERT_OK(shell_.ReleaseJob("first"));
  shell_.Ignore();
  Fail("a");
  // It is older, and has the device now.
  ASSERT_EQ(shell_.StateOf("first"), Job::STARTING);
  EXPECT_GT(PlacingOf("a")->start, ToTime(shell_.job("a").not_before_time()));
}

TEST_F(PlacingTest, WhatRunsOrIsNotThereHasNoPlace) {
  StartWorker();
  Submit(JobBuilder("a"));
  EXPECT_FALSE(PlacingOf("a").has_value());
  EXPECT_FALSE(PlacingOf("x").has_value());
}

TEST(ExplainTest, RanksWaitUntilThereIsRoomForAll) {
  Seen seen;
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  seen.job.mutable_spec()->mutable_resources()->set_ranks(3);
  seen.workers = {MakeWorker("cpu", ""), MakeWorker("cpu", "a")};
  seen.constraint = Constraint::kUnoffered;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kNoSuchDevice));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("do not have 3 ranks of 1 cpu device each"));
  seen.workers.push_back(MakeWorker("cpu", ""));
  seen.constraint = Constraint::kRoom;
  EXPECT_THAT(seen.Reasons(), ElementsAre(reason::kWaitingForDevice));
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("no room yet for 3 ranks of 1 cpu device each: 2 cpu "
                        "devices are free, the others are not: cpu:0 of w runs "
                        "job a (attempt 2)"));
}

TEST(ExplainTest, FreeDevicesThatDoNotSufficeAreSaid) {
  Seen seen;
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  seen.workers = {MakeWorker("cpu", "")};
  seen.constraint = Constraint::kRoom;
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("no room yet for 1 cpu device: 1 cpu device is free, "
                        "but not together with all else that it asks for"));
}

TEST(ExplainTest, EveryStateHasASentence) {
  for (const Job::State state : {Job::STARTING, Job::RUNNING, Job::CANCELLING,
                                 Job::SUCCEEDED, Job::FAILED, Job::CANCELLED}) {
    Seen seen;
    seen.job = MakeJob(state);
    seen.job.set_reason("HANG");
    seen.job.set_message("no progress");
    EXPECT_THAT(seen.Explain().summary(), HasSubstr("job b"));
    EXPECT_THAT(seen.Reasons(), IsEmpty());
  }
}

TEST(ExplainTest, AJobThatHasFinishedNamesTheReportThatThereIs) {
  Seen seen;
  seen.job = MakeJob(Job::SUCCEEDED);
  for (const auto kind :
       {jobs::v1::JobSpec::TRAIN, jobs::v1::JobSpec::IMPORT}) {
    seen.job.mutable_spec()->set_kind(kind);
    EXPECT_EQ(seen.Explain().summary(),
              "job b has finished; it has no evaluations of its own; its "
              "checkpoints: ordo list checkpoints b; to score the newest: ordo "
              "evaluate b --task TASK");
  }
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::BENCHMARK);
  EXPECT_EQ(seen.Explain().summary(),
            "job b has finished; its numbers: ordo list reports b");
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::COMPARE);
  EXPECT_EQ(seen.Explain().summary(), "job b has finished; see: ordo report b");
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
  seen.job.mutable_spec()->add_evaluations()->set_task("addition_grid");
  EXPECT_EQ(seen.Explain().summary(), "job b has finished; see: ordo report b");
}

TEST(ExplainTest, AJobThatIsBeingEndedSaysWhoOrWhatEndsIt) {
  Seen seen;
  seen.job = MakeJob(Job::CANCELLING);
  seen.job.set_reason("STOPPED_EARLY");
  seen.job.set_message("stopped early at step 10 of 100");
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("job b is stopped early at step 10 of 100: "));
  seen.job.set_reason("CANCELLED_BY_USER");
  seen.job.set_cancelled_by("ada");
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("job b is being cancelled by ada: "));
}

TEST(ExplainTest, ARunningJobSaysWhereAndHowFar) {
  Seen seen;
  seen.job = MakeJob(Job::RUNNING);
  jobs::v1::Attempt& attempt = *seen.job.add_attempts();
  attempt.set_number(2);
  attempt.set_worker("w");
  attempt.add_devices("cpu:0");
  seen.job.mutable_progress()->set_step(5);
  seen.job.mutable_progress()->set_total_steps(20);
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("attempt 2 on w, cpu:0, at step 5 of 20"));
  seen.job.mutable_progress()->set_evaluation("grid");
  seen.job.mutable_progress()->set_evaluation_done(1);
  seen.job.mutable_progress()->set_evaluation_total(9);
  EXPECT_THAT(seen.Explain().summary(), HasSubstr("evaluates grid, 1 of 9"));
  seen.job.mutable_spec()->set_kind(jobs::v1::JobSpec::BENCHMARK);
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("measures grid, 1 of 9 shapes"));
}

TEST(ExplainTest, ARunningJobSaysWhereItsRanksAre) {
  Seen seen;
  seen.job = MakeJob(Job::RUNNING);
  jobs::v1::Attempt& attempt = *seen.job.add_attempts();
  attempt.set_number(2);
  attempt.set_worker("w");
  for (const char* device : {"cpu:0", "cpu:1"}) {
    jobs::v1::Attempt::Rank& rank = *attempt.add_ranks();
    rank.set_worker("w");
    rank.add_devices(device);
  }
  EXPECT_THAT(seen.Explain().summary(),
              HasSubstr("attempt 2 on 2 ranks: cpu:0 of w, cpu:1 of w"));
}

}  // namespace
}  // namespace ordo::scheduler::core
