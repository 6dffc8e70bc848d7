#include "services/jobs/new_jobs.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using base::testing::StatusIs;
using ordo::jobs::v1::BatchCreateJobsRequest;
using ordo::jobs::v1::CreateJobRequest;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Owner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Nothing was created before.
NewJobContext Known() {
  static const auto& known = *new scheduler::testing::FakeScheduler;
  static auto& specs = *new spec::SpecCache;
  return {known, specs};
}

CreateJobRequest RequestOf(const std::string& name) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::TRAIN);
  spec->set_name(name);
  spec->mutable_encoding()->set_name("rope");
  spec->mutable_data()->set_task("addition");
  spec->mutable_training()->set_steps(10);
  for (int i = 0; i < 20; ++i) {
    (*spec->mutable_labels())["key" + std::to_string(i)] = "value";
  }
  return request;
}

std::vector<std::string> FieldsOf(const absl::Status& status) {
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(status)) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(NewJobsTest, KeepsOwnerAndRequestIdAndResolvesTheSpec) {
  CreateJobRequest request = RequestOf("a");
  request.set_request_id("r");
  Owner owner;
  owner.set_user("ada");
  const auto job = MakeNewJob(Known(), request, owner);
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->owner.user(), "ada");
  EXPECT_EQ(job->request_id, "r");
  EXPECT_EQ(job->spec->queue(), "default");
  EXPECT_EQ(job->fingerprint.size(), 64u);
}

TEST(NewJobsTest, QueueOfAJobIsThereAndSaysHowLongItMayRun) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  ordo::queues::v1::Queue queue;
  queue.set_name("queues/night");
  queue.mutable_default_run_time_limit()->set_seconds(60);
  known.CreateQueue(queue, {}, [](const auto& made) { ORDO_EXPECT_OK(made); });
  CreateJobRequest request = RequestOf("a");
  request.mutable_job()->mutable_spec()->set_queue("night");
  const auto job = MakeNewJob({known, specs}, request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->run_time_limit().seconds(), 60);
  request.mutable_job()->mutable_spec()->set_queue("nigth");
  const auto refused = MakeNewJob({known, specs}, request, {});
  EXPECT_THAT(FieldsOf(refused.status()), ElementsAre("job.spec.queue"));
}

TEST(NewJobsTest, AQueuesRulesAreLeftToWhoKnowsRepeats) {
  CreateJobRequest request = RequestOf("a");
  request.set_request_id("r");
  request.mutable_job()->mutable_spec()->set_queue("gone");
  const auto job = MakeNewJob(Known(), request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_THAT(FieldsOf(job->refusal), ElementsAre("job.spec.queue"));
}

TEST(NewJobsTest, RememberedSpecsDoNotKeepWhatAQueueSaidOnce) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  CreateJobRequest request = RequestOf("a");
  ORDO_ASSERT_OK(MakeNewJob({known, specs}, request, {}));
  const auto now = known.GetQueue("default");
  ORDO_ASSERT_OK(now);
  ordo::queues::v1::Queue queue = *now;
  queue.mutable_max_run_time_limit()->set_seconds(60);
  known.UpdateQueue(queue, {}, [](const auto& made) { ORDO_EXPECT_OK(made); });
  const auto job = MakeNewJob({known, specs}, request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->run_time_limit().seconds(), 60);
}

TEST(NewJobsTest, WhatIsWorthKnowingIsKept) {
  CreateJobRequest request = RequestOf("a");
  EXPECT_TRUE(MakeNewJob(Known(), request, {})->notices.empty());
  auto* training = request.mutable_job()->mutable_spec()->mutable_training();
  training->set_kernel("reference");
  const auto job = MakeNewJob(Known(), request, {});
  ORDO_ASSERT_OK(job);
  ASSERT_EQ(job->notices.size(), 1u);
  EXPECT_THAT(job->notices[0], HasSubstr("plain operations"));
}

TEST(NewJobsTest, FingerprintIsThatOfTheBodyAlone) {
  const auto fingerprint = [](const CreateJobRequest& request) {
    return MakeNewJob(Known(), request, {})->fingerprint;
  };
  const std::string first = fingerprint(RequestOf("a"));
  // Maps have no order of their own: the same labels, put in backwards.
  CreateJobRequest again = RequestOf("a");
  auto* labels = again.mutable_job()->mutable_spec()->mutable_labels();
  labels->clear();
  for (int i = 19; i >= 0; --i) (*labels)["key" + std::to_string(i)] = "value";
  again.set_request_id("r");
  EXPECT_EQ(fingerprint(again), first);

  CreateJobRequest other = RequestOf("a");
  other.mutable_job()->mutable_spec()->mutable_training()->set_seed(1);
  EXPECT_NE(fingerprint(other), first);
}

TEST(NewJobsTest, RequestIdIsLimited) {
  CreateJobRequest request = RequestOf("a");
  request.set_request_id(std::string(kMaxRequestIdLength, 'r'));
  ORDO_EXPECT_OK(MakeNewJob(Known(), request, {}));
  request.set_request_id(std::string(kMaxRequestIdLength + 1, 'r'));
  EXPECT_THAT(FieldsOf(MakeNewJob(Known(), request, {}).status()),
              ElementsAre("request_id"));
}

TEST(NewJobsTest, SpecWithoutASingleFieldIsNamed) {
  EXPECT_THAT(FieldsOf(MakeNewJob(Known(), {}, {}).status()),
              ElementsAre("job.spec.name", "job.spec.kind"));
}

TEST(NewJobsTest, SpecThatIsTooLargeNamesItsLongestField) {
  CreateJobRequest request = RequestOf("a");
  request.mutable_job()->mutable_spec()->mutable_encoding()->set_name(
      std::string(1 << 20, 'x'));
  const auto job = MakeNewJob(Known(), request, {});
  EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument,
                            HasSubstr("at most 1048576")));
  EXPECT_THAT(FieldsOf(job.status()), ElementsAre("job.spec.encoding"));
}

TEST(NewJobsTest, BatchNamesEveryViolationOfEveryRequest) {
  BatchCreateJobsRequest request;
  *request.add_requests() = RequestOf("a");
  *request.add_requests() = RequestOf("B");
  *request.add_requests() = RequestOf("a");
  request.mutable_requests(0)->set_request_id("r");
  request.mutable_requests(2)->set_request_id("r");
  EXPECT_THAT(
      FieldsOf(MakeNewJobs(Known(), request, {}).status()),
      ElementsAre("requests[1].job.spec.name", "requests[2].job.spec.name",
                  "requests[2].request_id"));
}

TEST(NewJobsTest, BatchSizeIsLimited) {
  BatchCreateJobsRequest request;
  EXPECT_THAT(FieldsOf(MakeNewJobs(Known(), request, {}).status()),
              ElementsAre("requests"));
  for (int i = 0; i < kMaxBatch; ++i) {
    *request.add_requests() = RequestOf("a" + std::to_string(i));
  }
  ORDO_EXPECT_OK(MakeNewJobs(Known(), request, {}));
  *request.add_requests() = RequestOf("one-more");
  EXPECT_THAT(FieldsOf(MakeNewJobs(Known(), request, {}).status()),
              ElementsAre("requests"));
}

}  // namespace
}  // namespace ordo::services::jobs
