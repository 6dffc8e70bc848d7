#include "services/jobs/known_jobs.h"

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using base::testing::StatusIs;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;

TEST(KnownJobsTest, JobsAreThoseOfTheSchedulerAndThoseThatAreBeingMade) {
  scheduler::testing::FakeScheduler scheduler;
  Job job;
  job.set_name("jobs/a");
  job.set_state(Job::SUCCEEDED);
  scheduler.PutJob(job);
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  const KnownJobs known{scheduler, {{"b", &spec}}};
  EXPECT_EQ(FindJob(known, "a")->state(), Job::SUCCEEDED);
  EXPECT_EQ(FindJob(known, "b")->name(), "jobs/b");
  EXPECT_EQ(FindJob(known, "b")->state(), Job::QUEUED);
  EXPECT_EQ(FindJob(known, "b")->spec().kind(), JobSpec::TRAIN);
  EXPECT_THAT(FindJob(known, "c"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(KnownJobsTest, ANeedIsNamedByItsIdOrItsResourceName) {
  JobSpec spec;
  EXPECT_FALSE(Needs(spec, "a"));
  spec.add_needs()->set_job("jobs/a");
  spec.add_needs()->set_job("b");
  EXPECT_TRUE(Needs(spec, "a"));
  EXPECT_TRUE(Needs(spec, "b"));
  EXPECT_FALSE(Needs(spec, "c"));
}

}  // namespace
}  // namespace ordo::services::jobs
