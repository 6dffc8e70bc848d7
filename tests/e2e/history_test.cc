#include "tests/e2e/history.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::e2e {
namespace {

using base::testing::StatusIs;
using jobs::v1::Attempt;
using jobs::v1::Job;
using ::testing::HasSubstr;

Job At(int64_t version, Job::State state) {
  Job job;
  job.set_name("jobs/a");
  job.set_version(version);
  job.set_state(state);
  return job;
}

Attempt* Add(Job* job, int64_t start, int64_t end, const std::string& reason) {
  Attempt* attempt = job->add_attempts();
  attempt->set_number(job->attempts_size());
  attempt->set_worker("w");
  attempt->add_devices("cpu:0");
  attempt->mutable_start_time()->set_seconds(start);
  attempt->mutable_end_time()->set_seconds(end);
  attempt->set_reason(reason);
  return attempt;
}

void ExpectWrong(const absl::Status& status, const std::string& text) {
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal, HasSubstr(text)));
}

TEST(HistoryTest, TakesWhatTheTableAllows) {
  History history;
  ORDO_EXPECT_OK(history.See(At(1, Job::QUEUED)));
  ORDO_EXPECT_OK(history.See(At(2, Job::STARTING)));
  ORDO_EXPECT_OK(history.See(At(2, Job::STARTING)));
  ORDO_EXPECT_OK(history.See(At(3, Job::QUEUED)));
  ORDO_EXPECT_OK(history.See(At(6, Job::SUCCEEDED)));
}

TEST(HistoryTest, DoesNotLookAtProgress) {
  History history;
  Job job = At(3, Job::RUNNING);
  ORDO_EXPECT_OK(history.See(job));
  job.mutable_progress()->set_step(4);
  ORDO_EXPECT_OK(history.See(job));
}

TEST(HistoryTest, RefusesAnOlderVersion) {
  History history;
  ORDO_EXPECT_OK(history.See(At(3, Job::RUNNING)));
  ExpectWrong(history.See(At(2, Job::RUNNING)), "version 3 was there");
}

TEST(HistoryTest, RefusesAnotherContentOfTheSameVersion) {
  History history;
  ORDO_EXPECT_OK(history.See(At(3, Job::RUNNING)));
  Job job = At(3, Job::RUNNING);
  job.set_failed_attempts(1);
  ExpectWrong(history.See(job), "without a new version");
}

TEST(HistoryTest, RefusesAStateThatIsTooFarAway) {
  History history;
  ORDO_EXPECT_OK(history.See(At(1, Job::QUEUED)));
  ExpectWrong(history.See(At(2, Job::RUNNING)), "was QUEUED at version 1");
}

TEST(HistoryTest, RefusesAnythingAfterTheEnd) {
  History history;
  ORDO_EXPECT_OK(history.See(At(4, Job::SUCCEEDED)));
  ExpectWrong(history.See(At(5, Job::SUCCEEDED)), "had ended as SUCCEEDED");
}

TEST(HistoryTest, RefusesAForgottenAttempt) {
  History history;
  Job job = At(4, Job::STARTING);
  Add(&job, 1, 0, "");
  ORDO_EXPECT_OK(history.See(job));
  ExpectWrong(history.See(At(5, Job::QUEUED)), "attempt 1 is forgotten");
}

TEST(HistoryTest, AJobSucceedsByItsLastAttemptAlone) {
  Job job = At(9, Job::SUCCEEDED);
  ExpectWrong(CheckSucceeded(job), "has no attempt");
  Add(&job, 1, 2, "WORKER_LOST");
  ExpectWrong(CheckSucceeded(job), "attempt 1 of 1 ended as WORKER_LOST");
  Add(&job, 2, 3, "FINISHED");
  ORDO_EXPECT_OK(CheckSucceeded(job));
  Add(&job, 3, 4, "FINISHED");
  ExpectWrong(CheckSucceeded(job), "attempt 2 of 3 ended as FINISHED");
}

TEST(HistoryTest, AttemptsFollowEachOther) {
  Job job = At(9, Job::SUCCEEDED);
  Add(&job, 1, 4, "TRAINER_KILLED");
  Add(&job, 3, 5, "FINISHED");
  ExpectWrong(CheckSucceeded(job), "began before the one before it ended");
  job.mutable_attempts(0)->mutable_end_time()->set_seconds(0);
  ExpectWrong(CheckSucceeded(job), "attempt 1 ended before it began");
  job.mutable_attempts(0)->mutable_end_time()->set_seconds(2);
  job.mutable_attempts(1)->set_number(3);
  ExpectWrong(CheckSucceeded(job), "attempt 3 follows 1");
  job.mutable_attempts(1)->set_number(2);
  job.mutable_attempts(0)->set_reason("SOMEHOW");
  ExpectWrong(CheckSucceeded(job), "ended as 'SOMEHOW'");
}

TEST(HistoryTest, ADeviceHasOneAttemptAtATime) {
  Job first = At(9, Job::SUCCEEDED);
  Add(&first, 1, 4, "FINISHED");
  Job second = At(9, Job::SUCCEEDED);
  second.set_name("jobs/b");
  Attempt* attempt = Add(&second, 4, 8, "FINISHED");
  ORDO_EXPECT_OK(CheckDevices({first, second}));
  attempt->mutable_start_time()->set_seconds(3);
  ExpectWrong(CheckDevices({second, first}),
              "w cpu:0: jobs/a attempt 1 and jobs/b attempt 1 at a time");
  attempt->set_worker("v");
  ORDO_EXPECT_OK(CheckDevices({first, second}));
}

TEST(HistoryTest, ARankHasItsDevicesToItself) {
  Job first = At(9, Job::SUCCEEDED);
  Attempt* attempt = Add(&first, 1, 5, "FINISHED");
  for (const int64_t end : {5, 4}) {
    Attempt::Rank* rank = attempt->add_ranks();
    rank->set_worker(end == 5 ? "w" : "v");
    rank->add_devices("cpu:0");
    rank->mutable_end_time()->set_seconds(end);
  }
  Job second = At(9, Job::SUCCEEDED);
  second.set_name("jobs/b");
  Attempt* other = Add(&second, 4, 8, "FINISHED");
  other->set_worker("v");
  ORDO_EXPECT_OK(CheckDevices({first, second}));
  other->mutable_start_time()->set_seconds(3);
  ExpectWrong(CheckDevices({first, second}), "v cpu:0: jobs/a attempt 1");
}

}  // namespace
}  // namespace ordo::tests::e2e
