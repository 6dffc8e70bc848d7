#include "services/jobs/jobs_service.h"

#include "absl/strings/str_cat.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/jobs/new_jobs.h"
#include "services/testing/known_users.h"
#include "services/testing/loopback.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::BatchCreateJobsRequest;
using ordo::jobs::v1::BatchCreateJobsResponse;
using ordo::jobs::v1::CancelJobRequest;
using ordo::jobs::v1::CreateJobRequest;
using ordo::jobs::v1::ExplainRequest;
using ordo::jobs::v1::ExplainResponse;
using ordo::jobs::v1::GetJobRequest;
using ordo::jobs::v1::HoldJobRequest;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::ListJobsRequest;
using ordo::jobs::v1::ListJobsResponse;
using ordo::jobs::v1::ReleaseJobRequest;
using ordo::jobs::v1::SetJobPriorityRequest;
using testing::Context;
using ::testing::ElementsAre;
using testing::FieldOf;
using ::testing::HasSubstr;

JobSpec SpecOf(const std::string& name) {
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  spec.set_name(name);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(10);
  return spec;
}

CreateJobRequest RequestOf(const std::string& name,
                           const std::string& request_id = "") {
  CreateJobRequest request;
  *request.mutable_job()->mutable_spec() = SpecOf(name);
  request.set_request_id(request_id);
  return request;
}

class JobsServiceTest : public ::testing::Test {
 protected:
  explicit JobsServiceTest(const auth::Authenticator* authenticator = nullptr,
                           const limits::LimitsOptions& limits = {})
      : loopback_(authenticator, limits),
        stub_(ordo::jobs::v1::JobsService::NewStub(loopback_.channel())) {}

  grpc::Status Create(const CreateJobRequest& request, Job* job,
                      const std::string& user = "ada") {
    Context context(user);
    return stub_->CreateJob(&context, request, job);
  }

  grpc::Status CreateBatch(const BatchCreateJobsRequest& request,
                           BatchCreateJobsResponse* response) {
    Context context;
    return stub_->BatchCreateJobs(&context, request, response);
  }

  grpc::Status Cancel(const std::string& name, Job* job,
                      const std::string& user = "ada") {
    Context context(user);
    CancelJobRequest request;
    request.set_name(name);
    return stub_->CancelJob(&context, request, job);
  }

  grpc::Status Hold(const std::string& name, Job* job,
                    const std::string& user = "ada") {
    Context context(user);
    HoldJobRequest request;
    request.set_name(name);
    return stub_->HoldJob(&context, request, job);
  }

  grpc::Status Release(const std::string& name, Job* job,
                       const std::string& user = "ada") {
    Context context(user);
    ReleaseJobRequest request;
    request.set_name(name);
    return stub_->ReleaseJob(&context, request, job);
  }

  grpc::Status SetPriority(const std::string& name, int priority, Job* job,
                           const std::string& user = "ada") {
    Context context(user);
    SetJobPriorityRequest request;
    request.set_name(name);
    request.set_priority(priority);
    return stub_->SetJobPriority(&context, request, job);
  }

  grpc::Status List(const std::string& filter, int page_size,
                    const std::string& token, ListJobsResponse* response) {
    Context context;
    ListJobsRequest request;
    request.set_filter(filter);
    request.set_page_size(page_size);
    request.set_page_token(token);
    return stub_->ListJobs(&context, request, response);
  }

  std::vector<std::string> NamesOf(const std::string& filter) {
    ListJobsResponse response;
    EXPECT_TRUE(List(filter, 0, "", &response).ok());
    std::vector<std::string> names;
    for (const Job& job : response.jobs()) names.push_back(job.name());
    return names;
  }

  testing::Loopback loopback_;
  std::unique_ptr<ordo::jobs::v1::JobsService::Stub> stub_;
};

TEST_F(JobsServiceTest, CreateGivesTheResolvedJobOfTheCaller) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  EXPECT_EQ(job.name(), "jobs/a");
  EXPECT_EQ(job.state(), Job::QUEUED);
  EXPECT_EQ(job.owner().user(), "ada");
  EXPECT_FALSE(job.owner().verified());
  EXPECT_EQ(job.spec().queue(), "default");
  EXPECT_EQ(job.spec().training().batch_size(), 64);
}

TEST_F(JobsServiceTest, AJobIsPartOfTheTraceOfTheCallThatMakesIt) {
  const std::string parent =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Job job;
  {
    Context context;
    context.AddMetadata("traceparent", parent);
    ASSERT_TRUE(stub_->CreateJob(&context, RequestOf("a"), &job).ok());
    EXPECT_EQ(job.traceparent(), parent);
  }
  BatchCreateJobsRequest batch;
  *batch.add_requests() = RequestOf("b");
  BatchCreateJobsResponse made;
  {
    Context context;
    context.AddMetadata("traceparent", parent);
    ASSERT_TRUE(stub_->BatchCreateJobs(&context, batch, &made).ok());
    EXPECT_EQ(made.jobs(0).traceparent(), parent);
  }
  ASSERT_TRUE(Create(RequestOf("c"), &job).ok());
  EXPECT_EQ(job.traceparent(), "");
}

TEST_F(JobsServiceTest, CallerWithoutANameIsUnknown) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job, "").ok());
  EXPECT_EQ(job.owner().user(), auth::kUnknownUser);
}

TEST_F(JobsServiceTest, CallerWithABadNameIsRefused) {
  Job job;
  EXPECT_EQ(Create(RequestOf("a"), &job, "a b").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(loopback_.scheduler().created().empty());
}

TEST_F(JobsServiceTest, CreateReportsEveryViolationWithItsPath) {
  CreateJobRequest request = RequestOf("Bad name", std::string(129, 'r'));
  request.mutable_job()->mutable_spec()->mutable_encoding()->set_name("roap");
  request.mutable_job()->mutable_spec()->mutable_training()->clear_steps();
  Job job;
  const grpc::Status status = Create(request, &job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  std::vector<std::string> fields;
  for (const auto& violation :
       base::FieldViolations(testing::ToStatus(status))) {
    fields.push_back(violation.field);
  }
  EXPECT_THAT(fields,
              ElementsAre("request_id", "job.spec.name",
                          "job.spec.encoding.name", "job.spec.training.steps"));
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean 'rope'?"));
  EXPECT_TRUE(loopback_.scheduler().created().empty());
}

TEST_F(JobsServiceTest, TakenNameAlreadyExists) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  EXPECT_EQ(Create(RequestOf("a"), &job).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(JobsServiceTest, RepeatOfARequestGivesTheSameJob) {
  Job first;
  ASSERT_TRUE(Create(RequestOf("a", "r"), &first).ok());
  Job second;
  ASSERT_TRUE(Create(RequestOf("a", "r"), &second).ok());
  EXPECT_EQ(second.sequence(), first.sequence());
  EXPECT_EQ(loopback_.scheduler().created().size(), 1u);
}

TEST_F(JobsServiceTest, RepeatWithAnotherBodyIsInvalid) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a", "r"), &job).ok());
  CreateJobRequest other = RequestOf("a", "r");
  other.mutable_job()->mutable_spec()->mutable_training()->set_seed(2);
  EXPECT_EQ(Create(other, &job).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Like `data: {task: text, params: {data: [<path>]}}`.
void ReadText(const std::string& path, CreateJobRequest* request) {
  auto* data = request->mutable_job()->mutable_spec()->mutable_data();
  data->set_task("text");
  (*data->mutable_params())["data"]
      .mutable_list_value()
      ->add_values()
      ->set_string_value(path);
}

TEST_F(JobsServiceTest, AJobKeepsTheVersionOfDataThatANameStandsFor) {
  loopback_.Write("data/books@0123456789abcdef/a.txt", "text");
  ASSERT_TRUE(
      loopback_.files()
          .ReplaceLink("books@0123456789abcdef", loopback_.Path("data/books"))
          .ok());
  CreateJobRequest request = RequestOf("a");
  ReadText("books", &request);
  Job job;
  const grpc::Status status = Create(request, &job);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(job.spec()
                .data()
                .params()
                .at("data")
                .list_value()
                .values(0)
                .string_value(),
            "books@0123456789abcdef");
  CreateJobRequest missing = RequestOf("b");
  ReadText("papers", &missing);
  EXPECT_EQ(FieldOf(Create(missing, &job)), "job.spec.data.params.data[0]");
  BatchCreateJobsRequest batch;
  *batch.add_requests() = RequestOf("c");
  *batch.add_requests() = missing;
  BatchCreateJobsResponse response;
  EXPECT_EQ(FieldOf(CreateBatch(batch, &response)),
            "requests[1].job.spec.data.params.data[0]");
}

class WithoutFileCalls : public JobsServiceTest {
 protected:
  static limits::LimitsOptions None() {
    limits::LimitsOptions none;
    none.file_calls = 0;
    return none;
  }
  WithoutFileCalls() : JobsServiceTest(nullptr, None()) {}
};

TEST_F(WithoutFileCalls, OnlyJobsThatMayNameDataWaitForADisk) {
  Job job;
  EXPECT_TRUE(Create(RequestOf("a"), &job).ok());
  CreateJobRequest reads = RequestOf("b");
  ReadText("books", &reads);
  EXPECT_EQ(Create(reads, &job).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(JobsServiceTest, BatchCreatesAllInOrder) {
  BatchCreateJobsRequest request;
  *request.add_requests() = RequestOf("b");
  *request.add_requests() = RequestOf("a");
  BatchCreateJobsResponse response;
  ASSERT_TRUE(CreateBatch(request, &response).ok());
  ASSERT_EQ(response.jobs_size(), 2);
  EXPECT_EQ(response.jobs(0).name(), "jobs/b");
  EXPECT_EQ(response.jobs(1).name(), "jobs/a");
}

// Its request is nearly as large as one may be, and its answer larger than
// that.
TEST_F(JobsServiceTest, ThousandsOfJobsAreCreatedInOneCall) {
  BatchCreateJobsRequest request;
  CreateJobRequest one = RequestOf("");
  for (int i = 0; i < 20; ++i) {
    const std::string key = absl::StrCat("label-", i);
    (*one.mutable_job()->mutable_spec()->mutable_labels())[key] =
        std::string(60, 'x');
  }
  for (int i = 0; i < kMaxBatch; ++i) {
    one.mutable_job()->mutable_spec()->set_name(absl::StrCat("a", i));
    *request.add_requests() = one;
  }
  ASSERT_LT(request.ByteSizeLong(), size_t{base::kMaxMessageBytes});
  BatchCreateJobsResponse response;
  const grpc::Status status = CreateBatch(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.jobs_size(), kMaxBatch);
  EXPECT_EQ(response.jobs(kMaxBatch - 1).name(),
            absl::StrCat("jobs/a", kMaxBatch - 1));
  EXPECT_GT(response.ByteSizeLong(), size_t{base::kMaxMessageBytes});
}

TEST_F(JobsServiceTest, BatchWithOneBadJobCreatesNone) {
  BatchCreateJobsRequest request;
  *request.add_requests() = RequestOf("a");
  *request.add_requests() = RequestOf("B");
  BatchCreateJobsResponse response;
  const grpc::Status status = CreateBatch(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(status), "requests[1].job.spec.name");
  EXPECT_TRUE(loopback_.scheduler().created().empty());
}

TEST_F(JobsServiceTest, EmptyBatchIsInvalid) {
  BatchCreateJobsResponse response;
  EXPECT_EQ(FieldOf(CreateBatch({}, &response)), "requests");
}

TEST_F(JobsServiceTest, GetGivesTheJobOrSaysWhyNot) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  const auto get = [this](const std::string& name, Job* found) {
    Context context;
    GetJobRequest request;
    request.set_name(name);
    return stub_->GetJob(&context, request, found);
  };
  Job found;
  ASSERT_TRUE(get("jobs/a", &found).ok());
  EXPECT_EQ(found.name(), "jobs/a");
  EXPECT_EQ(get("jobs/b", &found).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(FieldOf(get("a", &found)), "name");
}

TEST_F(JobsServiceTest, ListFiltersByEveryKey) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job, "ada").ok());
  ASSERT_TRUE(Create(RequestOf("b"), &job, "bob").ok());
  CreateJobRequest labelled = RequestOf("c");
  (*labelled.mutable_job()->mutable_spec()->mutable_labels())["team"] = "x y";
  ASSERT_TRUE(Create(labelled, &job, "bob").ok());
  loopback_.scheduler().SetState("b", Job::RUNNING);

  EXPECT_THAT(NamesOf(""), ElementsAre("jobs/c", "jobs/b", "jobs/a"));
  EXPECT_THAT(NamesOf("owner = bob"), ElementsAre("jobs/c", "jobs/b"));
  EXPECT_THAT(NamesOf("owner = bob AND state = RUNNING"),
              ElementsAre("jobs/b"));
  EXPECT_THAT(NamesOf("labels.team = \"x y\""), ElementsAre("jobs/c"));
  EXPECT_THAT(NamesOf("queue = other"), ElementsAre());
}

TEST_F(JobsServiceTest, ListPagesGoOnWhereTheyEnded) {
  Job job;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(Create(RequestOf(name), &job).ok());
  }
  ListJobsResponse first;
  ASSERT_TRUE(List("owner = ada", 2, "", &first).ok());
  ASSERT_EQ(first.jobs_size(), 2);
  EXPECT_EQ(first.jobs(0).name(), "jobs/c");
  // A job that comes in between does not move what follows.
  ASSERT_TRUE(Create(RequestOf("d"), &job).ok());
  ListJobsResponse second;
  ASSERT_TRUE(List("owner = ada", 2, first.next_page_token(), &second).ok());
  ASSERT_EQ(second.jobs_size(), 1);
  EXPECT_EQ(second.jobs(0).name(), "jobs/a");
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(JobsServiceTest, ListRefusesBadPagesAndFilters) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  ASSERT_TRUE(Create(RequestOf("b"), &job).ok());
  ListJobsResponse first;
  ASSERT_TRUE(List("owner = ada", 1, "", &first).ok());
  ListJobsResponse response;
  EXPECT_EQ(FieldOf(List("owner = bob", 1, first.next_page_token(), &response)),
            "page_token");
  EXPECT_EQ(FieldOf(List("", 1, "nonsense", &response)), "page_token");
  EXPECT_EQ(FieldOf(List("", -1, "", &response)), "page_size");
  EXPECT_EQ(FieldOf(List("owner : bob", 0, "", &response)), "filter");
}

TEST_F(JobsServiceTest, CancelTellsTheSchedulerWho) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  ASSERT_TRUE(Cancel("jobs/a", &job, "bob").ok());
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_EQ(job.cancelled_by(), "bob");
  EXPECT_THAT(loopback_.scheduler().cancelled_by(), ElementsAre("bob"));
}

TEST_F(JobsServiceTest, CancelOfAnEndedOrUnknownJobIsRefused) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  loopback_.scheduler().SetState("a", Job::SUCCEEDED);
  EXPECT_EQ(Cancel("jobs/a", &job).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Cancel("jobs/b", &job).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(FieldOf(Cancel("b", &job)), "name");
}

TEST_F(JobsServiceTest, HeldJobSaysByWhomUntilItIsReleased) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  ASSERT_TRUE(Hold("jobs/a", &job, "bob").ok());
  EXPECT_EQ(job.state(), Job::QUEUED);
  EXPECT_EQ(job.held_by(), "bob");
  ASSERT_TRUE(Release("jobs/a", &job).ok());
  EXPECT_EQ(job.held_by(), "");
}

TEST_F(JobsServiceTest, PriorityOfAQueuedJobChanges) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  for (const int priority : {-1000, 1000, 0}) {
    ASSERT_TRUE(SetPriority("jobs/a", priority, &job).ok());
    EXPECT_EQ(job.priority(), priority);
  }
  EXPECT_EQ(FieldOf(SetPriority("jobs/a", -1001, &job)), "priority");
  EXPECT_EQ(FieldOf(SetPriority("jobs/a", 1001, &job)), "priority");
}

TEST_F(JobsServiceTest, OnlyQueuedJobsAreHeldAndMoved) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  loopback_.scheduler().SetState("a", Job::RUNNING);
  for (const grpc::Status& status :
       {Hold("jobs/a", &job), Release("jobs/a", &job),
        SetPriority("jobs/a", 1, &job)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  }
  for (const grpc::Status& status :
       {Hold("jobs/b", &job), Release("jobs/b", &job),
        SetPriority("jobs/b", 1, &job)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  }
}

TEST_F(JobsServiceTest, ExplainGivesTheSchedulersWords) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  ExplainResponse explanation;
  explanation.set_summary("waits for a device");
  explanation.set_jobs_ahead(2);
  loopback_.scheduler().PutExplanation("a", explanation);
  const auto explain = [this](const std::string& name, ExplainResponse* found) {
    Context context;
    ExplainRequest request;
    request.set_name(name);
    return stub_->Explain(&context, request, found);
  };
  ExplainResponse found;
  ASSERT_TRUE(explain("jobs/a", &found).ok());
  EXPECT_EQ(found.summary(), "waits for a device");
  EXPECT_EQ(found.jobs_ahead(), 2);
  EXPECT_EQ(explain("jobs/b", &found).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(FieldOf(explain("jobs/", &found)), "name");
}

class GuardedJobsServiceTest : public JobsServiceTest {
 protected:
  GuardedJobsServiceTest() : JobsServiceTest(&kUsers) {}

 private:
  static inline const services::testing::KnownUsers kUsers{};
};

TEST_F(GuardedJobsServiceTest, RefusedCancelDoesNotReachTheScheduler) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job, "ada").ok());
  const grpc::Status status = Cancel("jobs/a", &job, "bob");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(),
              ::testing::StartsWith("cancel jobs/a: it is of ada, and bob"));
  EXPECT_TRUE(loopback_.scheduler().cancelled_by().empty());
  EXPECT_TRUE(Cancel("jobs/a", &job, "ada").ok());
}

TEST_F(GuardedJobsServiceTest, RefusedChangeDoesNotReachTheScheduler) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job, "ada").ok());
  for (const grpc::Status& status :
       {Hold("jobs/a", &job, "bob"), Release("jobs/a", &job, "bob"),
        SetPriority("jobs/a", 1, &job, "bob")}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  ASSERT_TRUE(Hold("jobs/a", &job, "ada").ok());
  EXPECT_EQ(job.held_by(), "ada");
}

TEST_F(GuardedJobsServiceTest, AJobWhoseSpecIsDamagedIsItsOwnersToChange) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job, "ada").ok());
  loopback_.scheduler().DamageSpec("a");
  EXPECT_EQ(Cancel("jobs/a", &job, "bob").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Hold("jobs/a", &job).ok());
  EXPECT_TRUE(SetPriority("jobs/a", 1, &job).ok());
  EXPECT_TRUE(Release("jobs/a", &job).ok());
  EXPECT_TRUE(Cancel("jobs/a", &job).ok());
  EXPECT_THAT(loopback_.scheduler().cancelled_by(), ElementsAre("ada"));
}

CreateJobRequest SweepOf(const std::string& name,
                         const std::vector<uint64_t>& seeds) {
  CreateJobRequest request = RequestOf(name);
  JobSpec run;
  request.mutable_job()->mutable_spec()->Swap(&run);
  run.clear_name();
  JobSpec& spec = *request.mutable_job()->mutable_spec();
  spec.set_kind(JobSpec::SWEEP);
  spec.set_name(name);
  *spec.mutable_sweep()->mutable_run() = run;
  for (const uint64_t seed : seeds) spec.mutable_sweep()->add_seeds(seed);
  return request;
}

class LimitedJobsServiceTest : public JobsServiceTest {
 protected:
  LimitedJobsServiceTest() : JobsServiceTest(nullptr, Few()) {}

  static limits::LimitsOptions Few() {
    limits::LimitsOptions options;
    options.calls_per_second = 3;
    options.burst_seconds = 1;
    options.streams_per_user = 1;
    return options;
  }
};

TEST_F(LimitedJobsServiceTest, UserWhoCallsTooOftenIsRefusedByName) {
  Job job;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(Create(RequestOf(name), &job).ok());
  }
  const grpc::Status refused = Create(RequestOf("d"), &job);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("calls_per_second"));
  EXPECT_EQ(Cancel("jobs/a", &job).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  ListJobsResponse listed;
  EXPECT_EQ(List("", 0, "", &listed).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(loopback_.scheduler().created().size(), 3u);
  EXPECT_TRUE(Create(RequestOf("d"), &job, "bob").ok());
  loopback_.clock().Advance(absl::Seconds(1));
  EXPECT_TRUE(Create(RequestOf("e"), &job).ok());
}

TEST_F(LimitedJobsServiceTest, PartsOfASweepCountEach) {
  Job job;
  ASSERT_TRUE(Create(SweepOf("s", {1, 2, 3, 4}), &job).ok());
  EXPECT_EQ(Create(RequestOf("a"), &job).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Create(RequestOf("b"), &job, "bob").ok());
}

TEST_F(LimitedJobsServiceTest, PartsOfASweepThatIsRefusedDoNotCount) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("s"), &job, "bob").ok());
  const grpc::Status refused = Create(SweepOf("s", {1, 2, 3, 4}), &job);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_TRUE(Create(RequestOf("a"), &job).ok());
}

TEST_F(LimitedJobsServiceTest, JobsOfABatchCountEach) {
  BatchCreateJobsRequest request;
  for (const char* name : {"a", "b", "c"}) {
    *request.add_requests() = RequestOf(name);
  }
  BatchCreateJobsResponse response;
  ASSERT_TRUE(CreateBatch(request, &response).ok());
  Job job;
  EXPECT_EQ(Create(RequestOf("d"), &job).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(LimitedJobsServiceTest, OpenWatchesAndLogsCountTogether) {
  Job job;
  ASSERT_TRUE(Create(RequestOf("a"), &job).ok());
  Context watch_context;
  ordo::jobs::v1::WatchJobRequest watch_request;
  watch_request.set_name("jobs/a");
  const auto watch = stub_->WatchJob(&watch_context, watch_request);
  ordo::jobs::v1::WatchJobResponse watched;
  ASSERT_TRUE(watch->Read(&watched));

  Context logs_context;
  ordo::jobs::v1::ReadLogsRequest logs_request;
  logs_request.set_name("jobs/a");
  logs_request.set_follow(true);
  const auto logs = stub_->ReadLogs(&logs_context, logs_request);
  ordo::jobs::v1::ReadLogsResponse read;
  EXPECT_FALSE(logs->Read(&read));
  const grpc::Status refused = logs->Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("streams_per_user"));

  loopback_.scheduler().SetState("a", Job::SUCCEEDED);
  while (watch->Read(&watched)) {
  }
  ASSERT_TRUE(watch->Finish().ok());
  // The server lets go of a stream soon after the client has seen its end.
  grpc::Status again;
  for (int i = 0; i < 10'000; ++i) {
    loopback_.clock().Advance(absl::Seconds(1));
    Context context;
    const auto second = stub_->WatchJob(&context, watch_request);
    while (second->Read(&watched)) {
    }
    again = second->Finish();
    if (again.ok()) break;
  }
  EXPECT_TRUE(again.ok()) << again.error_message();
}

}  // namespace
}  // namespace ordo::services::jobs
