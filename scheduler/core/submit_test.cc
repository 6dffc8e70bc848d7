#include "scheduler/core/submit.h"

#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;

TEST(SubmitTest, ANewJobIsQueuedWithAllThatIsKnown) {
  TestShell shell;
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell.Submit(JobBuilder("a")));
  EXPECT_EQ(job.name(), "jobs/a");
  EXPECT_EQ(job.state(), Job::QUEUED);
  EXPECT_EQ(job.reason(), reason::kWaitingForDevice);
  EXPECT_EQ(job.owner().user(), "ada");
  EXPECT_EQ(job.create_time().seconds(), 1'700'000'000);
  EXPECT_EQ(job.version(), 1);
  EXPECT_EQ(job.sequence(), 1);
}

TEST(SubmitTest, NoticesStayWithTheJob) {
  TestShell shell;
  NewJob job = JobBuilder("a");
  job.notices = {"it is slow"};
  ORDO_ASSERT_OK(shell.Submit(job));
  shell.Restart();
  const auto& notices = shell.state().jobs.at("a").job->facts->notices;
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0], "it is slow");
}

TEST(SubmitTest, JobsThatOneCallMakesOfOneSpecShareItsHandle) {
  TestShell shell;
  const NewJob a = JobBuilder("a");
  NewJob b = a;
  b.name = "b";
  NewJob c = a;
  c.name = "c";
  ORDO_ASSERT_OK(shell.Submit({a, b}));
  ORDO_ASSERT_OK(shell.Submit(c));
  const auto spec_of = [&shell](const std::string& job) {
    return shell.state().jobs.at(job).job->facts->spec;
  };
  EXPECT_EQ(spec_of("a"), spec_of("b"));
  // That may be there longer than this one.
  EXPECT_NE(spec_of("a"), spec_of("c"));
  EXPECT_EQ(&spec_of("a")->demand(), &spec_of("c")->demand());
}

NewJob Import(const std::string& name) {
  NewJob job = JobBuilder(name).RequestId("upload/" + name);
  job.OwnSpec().set_kind(jobs::v1::JobSpec::IMPORT);
  job.imported.emplace();
  job.imported->set_step(7);
  job.imported->set_manifest_sha256("aa");
  job.imported->set_imported_by("ada");
  return job;
}

TEST(SubmitTest, AnImportHasEndedAndHoldsItsCheckpoint) {
  TestShell shell;
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job, shell.Submit(Import("a")));
  EXPECT_EQ(job.state(), Job::SUCCEEDED);
  EXPECT_EQ(job.reason(), reason::kImported);
  EXPECT_EQ(job.end_time().seconds(), 1'700'000'000);
  EXPECT_TRUE(job.attempts().empty());
  shell.Restart();
  const auto& checkpoints = shell.state().jobs.at("a").checkpoints;
  ASSERT_EQ(checkpoints.size(), 1u);
  const auto& checkpoint = *checkpoints.begin()->second;
  EXPECT_EQ(checkpoint.name(), "jobs/a/checkpoints/7-0");
  EXPECT_EQ(checkpoint.state(), checkpoints::v1::Checkpoint::AVAILABLE);
  EXPECT_EQ(checkpoint.origin(), checkpoints::v1::Checkpoint::IMPORTED);
  EXPECT_EQ(checkpoint.imported_by(), "ada");
  EXPECT_EQ(checkpoint.create_time().seconds(), 1'700'000'000);
  EXPECT_EQ(shell.Counted(Count::What::kCheckpoint, "imported"), 1);
}

TEST(SubmitTest, AnImportIsMadeOnceAndCannotBeCancelled) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(Import("a")));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job again,
                            shell.Submit(Import("a")));
  EXPECT_EQ(again.sequence(), 1);
  EXPECT_EQ(shell.state().jobs.size(), 1u);
  EXPECT_THAT(shell.CancelJob("a"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(shell.Submit(JobBuilder("a")),
              StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST(SubmitTest, AJobBeginsWithTheWeightsOfAnImportAndKeepsIt) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(Import("a")));
  NewJob job = JobBuilder("b");
  job.OwnSpec().mutable_model()->set_from("jobs/a/checkpoints/8-0");
  EXPECT_THAT(shell.Submit(job), StatusIs(absl::StatusCode::kNotFound,
                                          HasSubstr("model.from: there is no "
                                                    "checkpoint")));
  job.OwnSpec().mutable_model()->set_from("jobs/a/checkpoints/7-0");
  ORDO_ASSERT_OK(shell.Submit(job));
  EXPECT_EQ(shell.state().pins.count("jobs/a/checkpoints/7-0"), 1u);
}

TEST(SubmitTest, ATakenNameIsRefused) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  EXPECT_THAT(shell.Submit(JobBuilder("a")),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("a")));
  EXPECT_THAT(shell.Submit(JobBuilder("a").RequestId("r")),
              StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST(SubmitTest, ARepeatedRequestGivesTheJobThatItMade) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a").RequestId("r", "f")));
  ORDO_ASSERT_OK(shell.CancelJob("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job again,
                            shell.Submit(JobBuilder("a").RequestId("r", "f")));
  EXPECT_EQ(again.state(), Job::CANCELLED);
  EXPECT_EQ(shell.state().jobs.size(), 1u);
}

TEST(SubmitTest, WhatChangesWithTimeRefusesNewRequestsAndNoRepeats) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a").RequestId("r")));
  NewJob repeat = JobBuilder("a").RequestId("r");
  repeat.refusal = absl::InvalidArgumentError("the queue is gone");
  ORDO_EXPECT_OK(shell.Submit(repeat));
  NewJob another = JobBuilder("b").RequestId("s");
  another.refusal = repeat.refusal;
  EXPECT_EQ(shell.Submit(another).status(), repeat.refusal);
  EXPECT_EQ(shell.state().jobs.size(), 1u);
}

TEST(SubmitTest, ARepeatedRequestIsKnownAfterARestart) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a").RequestId("r", "f")));
  shell.Restart();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a").RequestId("r", "f")));
}

TEST(SubmitTest, ARequestIdWithAnotherBodyIsRefused) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a").RequestId("r", "f")));
  const absl::Status status =
      shell.Submit(JobBuilder("b").RequestId("r", "g")).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("made job a")));
  ASSERT_TRUE(base::GetErrorInfo(status).has_value());
  EXPECT_EQ(base::GetErrorInfo(status)->reason, "REQUEST_ID_REUSED");
}

TEST(SubmitTest, ABatchIsAllOrNothing) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("c")));
  EXPECT_THAT(
      shell.Submit(std::vector<NewJob>{JobBuilder("a"), JobBuilder("b"),
                                       JobBuilder("c")}),
      StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("requests[2]")));
  EXPECT_EQ(shell.state().jobs.size(), 1u);
}

TEST(SubmitTest, ABatchMayNotNameAJobTwiceButMayRepeatARequest) {
  TestShell shell;
  EXPECT_THAT(
      shell.Submit(std::vector<NewJob>{JobBuilder("a"), JobBuilder("a")}),
      StatusIs(absl::StatusCode::kAlreadyExists));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto jobs,
      shell.Submit(std::vector<NewJob>{JobBuilder("a").RequestId("r", "f"),
                                       JobBuilder("a").RequestId("r", "f")}));
  EXPECT_EQ(jobs[0].name(), jobs[1].name());
  EXPECT_THAT(
      shell.Submit(std::vector<NewJob>{JobBuilder("x").RequestId("s", "f"),
                                       JobBuilder("y").RequestId("s", "g")}),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SubmitTest, ANameThatIsNoIdIsRefused) {
  TestShell shell;
  for (const char* name : {"", "A", "1a", "a/b", "a_b", "a b"}) {
    EXPECT_THAT(shell.Submit(JobBuilder(name)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << name;
  }
  EXPECT_THAT(shell.Submit(JobBuilder(std::string(64, 'a'))),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SubmitTest, NamesAndRequestsOfJobsThatLeftTheStoreStayTaken) {
  TestShell shell;
  const std::vector<RetiredJob> retired = {{"old", "r", Job::SUCCEEDED},
                                           {"older", "", Job::FAILED}};
  EXPECT_THAT(shell.Submit({JobBuilder("old")}, retired),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("job old")));
  EXPECT_THAT(
      shell.Submit({JobBuilder("a"), JobBuilder("b").RequestId("r")}, retired),
      StatusIs(absl::StatusCode::kAlreadyExists,
               HasSubstr("requests[1]: the request has made job old")));
  EXPECT_TRUE(shell.state().jobs.empty());
  // One without a request id repeats no other that has none.
  ORDO_EXPECT_OK(shell.Submit({JobBuilder("a")}, retired));
}

TEST(SubmitTest, WhatNamesACheckpointOfAnArchivedJobIsAnsweredAsReadsAre) {
  TestShell shell;
  const std::vector<RetiredJob> retired = {{"old", "", Job::SUCCEEDED}};
  const auto archived = [](const std::string& field) {
    return StatusIs(
        absl::StatusCode::kNotFound,
        HasSubstr(field + ": job old has ended as SUCCEEDED and was archived"));
  };
  const absl::Status status =
      shell.Submit({JobBuilder("a").StartFrom("jobs/old")}, retired).status();
  EXPECT_THAT(status, archived("start_from"));
  const auto info = base::GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason, "JOB_ARCHIVED");
  EXPECT_EQ(info->metadata.at("state"), "SUCCEEDED");
  EXPECT_THAT(
      shell.Submit({JobBuilder("a").Evaluates({"jobs/old/checkpoints/5-1"})},
                   retired),
      archived("checkpoints[0]"));
  // That it has ended is all that a need asks.
  ORDO_EXPECT_OK(shell.Submit({JobBuilder("a").Needs("old")}, retired));
}

// Sweep s of two runs, which request r asks for.
std::vector<NewJob> SweepOfTwo() {
  return {JobBuilder("s-0").PartOf("s", "x=1"),
          JobBuilder("s-1").PartOf("s", "x=2"),
          JobBuilder("s").Sweeps({"s-0", "s-1"}).RequestId("r")};
}

TEST(SubmitTest, AParentNeedsItsPartsAndBothSayWhoseTheyAre) {
  TestShell shell;
  ORDO_ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs,
                            shell.Submit(SweepOfTwo()));
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].name(), "jobs/s-0");
  EXPECT_EQ(jobs[1].parent(), "jobs/s");
  EXPECT_EQ(jobs[1].part(), "x=2");
  EXPECT_EQ(jobs[2].name(), "jobs/s");
  EXPECT_THAT(jobs[2].parts(), ElementsAre("jobs/s-0", "jobs/s-1"));
  EXPECT_EQ(jobs[2].reason(), reason::kWaitingForNeeds);
  EXPECT_TRUE(jobs[2].spec().needs().empty());
}

TEST(SubmitTest, AParentStartsWhenItsPartsHaveEndedHoweverThatWas) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(SweepOfTwo()));
  ORDO_ASSERT_OK(shell.CancelJob("s-0"));
  shell.Restart();
  EXPECT_EQ(shell.ReasonOf("s"), reason::kWaitingForNeeds);
  ORDO_ASSERT_OK(shell.CancelJob("s-1"));
  EXPECT_EQ(shell.ReasonOf("s"), reason::kWaitingForDevice);
}

TEST(SubmitTest, TheRepeatOfAParentIsAnsweredWithItAlone) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(SweepOfTwo()));
  std::vector<NewJob> again = SweepOfTwo();
  again.push_back(JobBuilder("other"));
  ORDO_ASSERT_OK_AND_ASSIGN(const std::vector<Job> jobs, shell.Submit(again));
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].name(), "jobs/s");
  EXPECT_EQ(jobs[1].name(), "jobs/other");
  EXPECT_EQ(shell.state().jobs.size(), 4u);
  // Twice in one call it is one, too.
  std::vector<NewJob> twice;
  for (int i = 0; i < 2; ++i) {
    twice.push_back(JobBuilder("t-0").PartOf("t"));
    twice.push_back(JobBuilder("t").Sweeps({"t-0"}).RequestId("q"));
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const std::vector<Job> made, shell.Submit(twice));
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[2].name(), "jobs/t");
}

TEST(SubmitTest, APartThatCannotBeCreatedKeepsAllFromBeing) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("s-1")));
  EXPECT_THAT(shell.Submit(SweepOfTwo()),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("s-1")));
  EXPECT_EQ(shell.state().jobs.size(), 1u);
}

TEST(SubmitTest, PartsAreTheJobsRightBeforeTheirParent) {
  TestShell shell;
  const NewJob parent = JobBuilder("s").Sweeps({"a", "b"});
  const NewJob a = JobBuilder("a").PartOf("s");
  const NewJob b = JobBuilder("b").PartOf("s");
  const NewJob other = JobBuilder("other");
  for (const std::vector<NewJob>& call :
       {std::vector<NewJob>{a, parent}, std::vector<NewJob>{b, a, parent},
        std::vector<NewJob>{a, b, other, parent}, std::vector<NewJob>{a, b},
        std::vector<NewJob>{parent, a, b}}) {
    EXPECT_THAT(shell.Submit(call), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("parts")));
  }
  EXPECT_TRUE(shell.state().jobs.empty());
}

TEST(SubmitTest, AnErrorNamesTheRequestAndThePart) {
  TestShell shell;
  std::vector<NewJob> jobs = SweepOfTwo();
  jobs.push_back(JobBuilder("t-0").PartOf("t").StartFrom("jobs/none"));
  jobs.push_back(JobBuilder("t").Sweeps({"t-0"}));
  EXPECT_THAT(shell.Submit(jobs),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("requests[1]: jobs/t-0: start_from")));
}

TEST(SubmitTest, PartsOfAParentThatIsOnHoldAreToo) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(
      {JobBuilder("s-0").PartOf("s"), JobBuilder("s").Sweeps({"s-0"}).Held()}));
  EXPECT_EQ(shell.ReasonOf("s-0"), reason::kHeld);
}

}  // namespace
}  // namespace ordo::scheduler::core
