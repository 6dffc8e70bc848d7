#include "services/jobs/new_jobs.h"

#include <string>

#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
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

// There is no data.
files::Storage NoData() {
  static auto& files = *new base::PosixFilesystem;
  return {files, "/proc/none"};
}

// Nothing was created before.
NewJobContext Known() {
  static const auto& known = *new scheduler::testing::FakeScheduler;
  static auto& specs = *new spec::SpecCache;
  return {known, specs, NoData()};
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

// The only job that a request asks for.
absl::StatusOr<scheduler::NewJob> MakeOne(const NewJobContext& context,
                                          const CreateJobRequest& request,
                                          const Owner& owner) {
  auto jobs = MakeNewJob(context, request, owner);
  if (!jobs.ok()) return jobs.status();
  EXPECT_EQ(jobs->size(), 1u);
  return std::move(jobs->front());
}

// A sweep over two learning rates.
CreateJobRequest SweepOf(const std::string& name) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::SWEEP);
  spec->set_name(name);
  JobSpec* run = spec->mutable_sweep()->mutable_run();
  run->mutable_encoding()->set_name("rope");
  run->mutable_data()->set_task("addition");
  run->mutable_training()->set_steps(10);
  auto& values =
      (*spec->mutable_sweep()->mutable_matrix())["training.learning_rate"];
  values.add_values()->set_number_value(0.01);
  values.add_values()->set_number_value(0.02);
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
  const auto job = MakeOne(Known(), request, owner);
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->owner.user(), "ada");
  EXPECT_EQ(job->request_id, "r");
  EXPECT_EQ(job->spec->queue(), "default");
  EXPECT_EQ(job->fingerprint.size(), 64u);
}

// Job a, whose checkpoint 20-1 is called main.
void NameMain(scheduler::testing::FakeScheduler* known) {
  ordo::jobs::v1::Job job;
  job.set_name("jobs/a");
  job.set_state(ordo::jobs::v1::Job::SUCCEEDED);
  known->PutJob(job);
  ordo::checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/20-1");
  checkpoint.set_state(ordo::checkpoints::v1::Checkpoint::AVAILABLE);
  checkpoint.set_manifest_sha256("sha");
  known->PutCheckpoint(checkpoint);
  known->SetAlias({"main", checkpoint.name()}, {},
                  [](const auto& set) { ORDO_EXPECT_OK(set); });
}

CreateJobRequest EvaluationOf(const std::string& checkpoint) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::EVALUATE);
  spec->set_name("e");
  spec->add_checkpoints(checkpoint);
  spec->add_evaluations()->set_task("addition_grid");
  return request;
}

TEST(NewJobsTest, AJobIsBoundToWhatAnAliasNamesWhenItIsMade) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  NameMain(&known);
  const auto job =
      MakeOne({known, specs, NoData()}, EvaluationOf("aliases/main"), {});
  ORDO_ASSERT_OK(job);
  EXPECT_THAT(job->spec->checkpoints(), ElementsAre("jobs/a/checkpoints/20-1"));
  ASSERT_EQ(job->spec->bound_size(), 1);
  EXPECT_EQ(job->spec->bound(0).alias(), "aliases/main");
  EXPECT_EQ(job->spec->bound(0).manifest_sha256(), "sha");
  const auto refused =
      MakeOne({known, specs, NoData()}, EvaluationOf("aliases/no"), {});
  EXPECT_THAT(FieldsOf(refused.status()),
              ElementsAre("job.spec.checkpoints[0]"));
}

CreateJobRequest GateOf(const std::string& candidate,
                        const std::string& baseline) {
  CreateJobRequest request = EvaluationOf("");
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::GATE);
  spec->set_name("g");
  spec->clear_checkpoints();
  spec->mutable_gate()->set_candidate(candidate);
  spec->mutable_gate()->set_baseline(baseline);
  spec->mutable_gate()->set_margin(0.1);
  return request;
}

TEST(NewJobsTest, AGateIsBoundToWhatAliasesName) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  NameMain(&known);
  const auto job =
      MakeOne({known, specs, NoData()}, GateOf("jobs/a", "aliases/main"), {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->gate().candidate(), "jobs/a");
  EXPECT_EQ(job->spec->gate().baseline(), "jobs/a/checkpoints/20-1");
  ASSERT_EQ(job->spec->bound_size(), 1);
  EXPECT_EQ(job->spec->bound(0).field(), "gate.baseline");
  const auto refused =
      MakeOne({known, specs, NoData()}, GateOf("aliases/no", "jobs/a"), {});
  EXPECT_THAT(FieldsOf(refused.status()),
              ElementsAre("job.spec.gate.candidate"));
}

TEST(NewJobsTest, AGateMayCompareCheckpointsOfOtherPrograms) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  NameMain(&known);
  ordo::jobs::v1::Job job;
  job.set_name("jobs/llama");
  job.set_state(ordo::jobs::v1::Job::SUCCEEDED);
  job.mutable_spec()->set_kind(JobSpec::IMPORT);
  // Nobody knows what it was trained on.
  *job.mutable_spec()->mutable_model() =
      MakeOne(Known(), RequestOf("x"), {})->spec->model();
  job.mutable_spec()->mutable_encoding()->set_name("rope");
  known.PutJob(job);
  CreateJobRequest request = GateOf("jobs/llama/checkpoints/0-0", "jobs/a");
  const auto gate = MakeOne({known, specs, NoData()}, request, {});
  ORDO_ASSERT_OK(gate);
  EXPECT_EQ(gate->spec->gate().candidate(), "jobs/llama/checkpoints/0-0");
  // A multiple of a trained length, which it has not.
  auto& evaluation =
      *request.mutable_job()->mutable_spec()->mutable_evaluations(0);
  evaluation.set_task("flip_flop");
  (*evaluation.mutable_params())["lengths"]
      .mutable_list_value()
      ->add_values()
      ->set_string_value("2x");
  const auto refused = MakeOne({known, specs, NoData()}, request, {});
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("'2x' is of the trained length")));
}

TEST(NewJobsTest, WhatASpecSaysWasBoundIsNotRead) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  NameMain(&known);
  CreateJobRequest request = EvaluationOf("jobs/a/checkpoints/20-1");
  request.mutable_job()->mutable_spec()->add_bound()->set_alias("aliases/x");
  const auto job = MakeOne({known, specs, NoData()}, request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->bound_size(), 0);
}

TEST(NewJobsTest, PartsAreBoundAndTheirTemplateNamesTheAlias) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  NameMain(&known);
  CreateJobRequest request = SweepOf("s");
  JobSpec* run =
      request.mutable_job()->mutable_spec()->mutable_sweep()->mutable_run();
  *run = EvaluationOf("aliases/main").job().spec();
  run->clear_name();
  auto& matrix =
      *request.mutable_job()->mutable_spec()->mutable_sweep()->mutable_matrix();
  matrix.clear();
  auto& values = matrix["evaluations[0].seed"];
  values.add_values()->set_number_value(1);
  values.add_values()->set_number_value(2);
  const auto jobs = MakeNewJob({known, specs, NoData()}, request, {});
  ORDO_ASSERT_OK(jobs);
  ASSERT_EQ(jobs->size(), 3u);
  for (int i = 0; i < 2; ++i) {
    const JobSpec& part = *(*jobs)[i].spec;
    EXPECT_THAT(part.checkpoints(), ElementsAre("jobs/a/checkpoints/20-1"));
    EXPECT_EQ(part.bound_size(), 1);
  }
  EXPECT_THAT(jobs->back().spec->sweep().run().checkpoints(),
              ElementsAre("aliases/main"));
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
  const auto job = MakeOne({known, specs, NoData()}, request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->run_time_limit().seconds(), 60);
  request.mutable_job()->mutable_spec()->set_queue("nigth");
  const auto refused = MakeOne({known, specs, NoData()}, request, {});
  EXPECT_THAT(FieldsOf(refused.status()), ElementsAre("job.spec.queue"));
}

TEST(NewJobsTest, AQueuesRulesAreLeftToWhoKnowsRepeats) {
  CreateJobRequest request = RequestOf("a");
  request.set_request_id("r");
  request.mutable_job()->mutable_spec()->set_queue("gone");
  const auto job = MakeOne(Known(), request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_THAT(FieldsOf(job->refusal), ElementsAre("job.spec.queue"));
}

TEST(NewJobsTest, RememberedSpecsDoNotKeepWhatAQueueSaidOnce) {
  scheduler::testing::FakeScheduler known;
  spec::SpecCache specs;
  CreateJobRequest request = RequestOf("a");
  ORDO_ASSERT_OK(MakeOne({known, specs, NoData()}, request, {}));
  const auto now = known.GetQueue("default");
  ORDO_ASSERT_OK(now);
  ordo::queues::v1::Queue queue = *now;
  queue.mutable_max_run_time_limit()->set_seconds(60);
  known.UpdateQueue(queue, {}, [](const auto& made) { ORDO_EXPECT_OK(made); });
  const auto job = MakeOne({known, specs, NoData()}, request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(job->spec->run_time_limit().seconds(), 60);
}

TEST(NewJobsTest, WhatIsWorthKnowingIsKept) {
  CreateJobRequest request = RequestOf("a");
  EXPECT_TRUE(MakeOne(Known(), request, {})->notices.empty());
  auto* training = request.mutable_job()->mutable_spec()->mutable_training();
  training->set_kernel("reference");
  const auto job = MakeOne(Known(), request, {});
  ORDO_ASSERT_OK(job);
  ASSERT_EQ(job->notices.size(), 1u);
  EXPECT_THAT(job->notices[0], HasSubstr("plain operations"));
}

TEST(NewJobsTest, FingerprintIsThatOfTheBodyAlone) {
  const auto fingerprint = [](const CreateJobRequest& request) {
    return MakeOne(Known(), request, {})->fingerprint;
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
  ORDO_EXPECT_OK(MakeOne(Known(), request, {}));
  request.set_request_id(std::string(kMaxRequestIdLength + 1, 'r'));
  EXPECT_THAT(FieldsOf(MakeOne(Known(), request, {}).status()),
              ElementsAre("request_id"));
}

TEST(NewJobsTest, SpecWithoutASingleFieldIsNamed) {
  EXPECT_THAT(FieldsOf(MakeOne(Known(), {}, {}).status()),
              ElementsAre("job.spec.name", "job.spec.kind"));
}

TEST(NewJobsTest, SpecThatIsTooLargeNamesItsLongestField) {
  CreateJobRequest request = RequestOf("a");
  request.mutable_job()->mutable_spec()->mutable_encoding()->set_name(
      std::string(1 << 20, 'x'));
  const auto job = MakeOne(Known(), request, {});
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

TEST(NewJobsTest, PartsComeBeforeTheirParentWithItsOwnerAndNoRequestId) {
  CreateJobRequest request = SweepOf("s");
  request.set_request_id("r");
  Owner owner;
  owner.set_user("ada");
  const auto jobs = MakeNewJob(Known(), request, owner);
  ORDO_ASSERT_OK(jobs);
  ASSERT_EQ(jobs->size(), 3u);
  const scheduler::NewJob& part = (*jobs)[1];
  EXPECT_EQ(part.name, "s-1");
  EXPECT_EQ(part.parent, "s");
  EXPECT_EQ(part.part, "training.learning_rate=0.02");
  EXPECT_EQ(part.owner.user(), "ada");
  EXPECT_EQ(part.request_id, "");
  EXPECT_EQ(part.spec->training().learning_rate(), 0.02);
  EXPECT_EQ(part.spec->name(), "");
  const scheduler::NewJob& parent = jobs->back();
  EXPECT_EQ(parent.name, "s");
  EXPECT_EQ(parent.request_id, "r");
  EXPECT_THAT(parent.parts, ElementsAre("s-0", "s-1"));
  EXPECT_EQ(parent.spec->kind(), JobSpec::SWEEP);
}

TEST(NewJobsTest, AComparisonOfFewSeedsSaysSo) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::COMPARE);
  spec->set_name("c");
  auto* compare = spec->mutable_compare();
  JobSpec* run = compare->mutable_run();
  run->mutable_encoding()->set_name("rope");
  run->mutable_data()->set_task("addition");
  run->mutable_training()->set_steps(10);
  compare->add_arms()->set_name("rope");
  auto* fast = compare->add_arms();
  fast->set_name("fast");
  (*fast->mutable_set())["training.learning_rate"].set_number_value(0.0123);
  compare->add_differs("training.learning_rate");
  const auto jobs = MakeNewJob(Known(), request, {});
  ORDO_ASSERT_OK(jobs);
  EXPECT_THAT(jobs->back().notices,
              ::testing::Contains(HasSubstr("compare.seeds: with 3 seeds")));
}

TEST(NewJobsTest, WhatAQueueSaysOfPartsIsToldOnceOrRefusesTheParent) {
  CreateJobRequest request = SweepOf("s");
  request.mutable_job()->mutable_spec()->set_queue("gone");
  EXPECT_THAT(FieldsOf(MakeNewJob(Known(), request, {}).status()),
              ElementsAre("job.spec.queue"));
  request.set_request_id("r");
  const auto jobs = MakeNewJob(Known(), request, {});
  ORDO_ASSERT_OK(jobs);
  EXPECT_THAT(FieldsOf(jobs->back().refusal), ElementsAre("job.spec.queue"));
}

TEST(NewJobsTest, PartsCountAgainstTheBatchAndTheirNamesAreTheirOwn) {
  BatchCreateJobsRequest batch;
  *batch.add_requests() = SweepOf("s");
  *batch.add_requests() = RequestOf("s-1");
  EXPECT_THAT(FieldsOf(MakeNewJobs(Known(), batch, {}).status()),
              ElementsAre("requests[1].job.spec.name"));
  batch.Clear();
  for (int i = 0; i < 11; ++i) {
    CreateJobRequest request = SweepOf("s" + std::to_string(i));
    auto* sweep = request.mutable_job()->mutable_spec()->mutable_sweep();
    for (int seed = 0; seed < 500; ++seed) sweep->add_seeds(seed);
    *batch.add_requests() = request;
  }
  EXPECT_THAT(MakeNewJobs(Known(), batch, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("make more than 10000 jobs")));
}

TEST(NewJobsTest, EvaluationsOfAStageFitTheModelOfTheStageBefore) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::PIPELINE);
  spec->set_name("p");
  JobSpec* first = spec->mutable_pipeline()->add_stages();
  *first = RequestOf("first").job().spec();
  first->mutable_encoding()->set_name("learned");
  (*first->mutable_encoding()->mutable_params())["max_length"].set_number_value(
      256);
  (*first->mutable_data()->mutable_params())["max_digits"].set_number_value(3);
  JobSpec* test = spec->mutable_pipeline()->add_stages();
  test->set_kind(JobSpec::EVALUATE);
  test->set_name("test");
  test->add_checkpoints("first");
  test->add_evaluations()->set_task("addition_grid");
  (*test->mutable_evaluations(0)->mutable_params())["max_digits"]
      .set_number_value(100);
  const auto fields = FieldsOf(MakeNewJob(Known(), request, {}).status());
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_THAT(fields[0],
              HasSubstr("job.spec.pipeline.stages[1].evaluations[0].params."
                        "max_digits"));
}

// A pipeline of a run and what takes `reference` from it, as a YAML stage
// would.
CreateJobRequest PipelineOf(const std::string& reference,
                            bool evaluates_itself) {
  CreateJobRequest request;
  JobSpec* spec = request.mutable_job()->mutable_spec();
  spec->set_kind(JobSpec::PIPELINE);
  spec->set_name("p");
  JobSpec* first = spec->mutable_pipeline()->add_stages();
  *first = RequestOf("first").job().spec();
  if (evaluates_itself) {
    first->add_evaluations()->set_task("addition_grid");
    first->mutable_evaluations(0)->set_every_steps(5);
  }
  JobSpec* test = spec->mutable_pipeline()->add_stages();
  test->set_kind(JobSpec::EVALUATE);
  test->set_name("test");
  test->add_checkpoints(reference);
  test->add_evaluations()->set_task("addition_grid");
  return request;
}

TEST(NewJobsTest, AStageMayTakeTheBestOfAnotherThatEvaluatesItself) {
  const auto jobs =
      MakeNewJob(Known(), PipelineOf("first/checkpoints/best", true), {});
  ORDO_ASSERT_OK(jobs);
  const JobSpec& test = *(*jobs)[1].spec;
  EXPECT_THAT(test.checkpoints(), ElementsAre("jobs/p-first/checkpoints/best"));
  ASSERT_EQ(test.needs_size(), 1);
  EXPECT_EQ(test.needs(0).job(), "jobs/p-first");
  const auto refused =
      MakeNewJob(Known(), PipelineOf("first/checkpoints/best", false), {});
  EXPECT_THAT(FieldsOf(refused.status()),
              ElementsAre("job.spec.pipeline.stages[1].checkpoints[0]"));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("jobs/p-first has no evaluations of its own"));
}

TEST(NewJobsTest, AStageMayEvaluateAllOfAnotherAsTheyCome) {
  const auto jobs =
      MakeNewJob(Known(), PipelineOf("first/checkpoints/every", false), {});
  ORDO_ASSERT_OK(jobs);
  const JobSpec& test = *(*jobs)[1].spec;
  EXPECT_THAT(test.checkpoints(),
              ElementsAre("jobs/p-first/checkpoints/every"));
  EXPECT_EQ(test.needs_size(), 0);
}

// A storage root on which `books` was pushed.
class NewJobsOnData : public ::testing::Test {
 protected:
  NewJobsOnData() {
    ORDO_EXPECT_OK(files_.MakeFolders(folder_.Path("data/" + version_)));
    ORDO_EXPECT_OK(files_.ReplaceLink(version_, folder_.Path("data/books")));
  }

  NewJobContext Context() { return {known_, specs_, {files_, folder_.path()}}; }
  static void ReadText(const std::string& path, JobSpec* spec) {
    spec->mutable_data()->set_task("text");
    auto& params = *spec->mutable_data()->mutable_params();
    params.clear();
    params["data"].mutable_list_value()->add_values()->set_string_value(path);
  }
  static std::string DataOf(const JobSpec& spec) {
    return spec.data()
        .params()
        .at("data")
        .list_value()
        .values(0)
        .string_value();
  }

  const std::string version_ = "books@0123456789abcdef";
  scheduler::testing::FakeScheduler known_;
  spec::SpecCache specs_;
  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(NewJobsOnData, TheVersionThatANameStandsForIsKept) {
  CreateJobRequest request = RequestOf("a");
  ReadText("books", request.mutable_job()->mutable_spec());
  const auto job = MakeOne(Context(), request, {});
  ORDO_ASSERT_OK(job);
  EXPECT_EQ(DataOf(*job->spec), version_);
  // Its fingerprint is that of what was asked for.
  ORDO_ASSERT_OK(
      files_.MakeFolders(folder_.Path("data/books@00000000ffffffff")));
  ORDO_ASSERT_OK(
      files_.ReplaceLink("books@00000000ffffffff", folder_.Path("data/books")));
  const auto later = MakeOne(Context(), request, {});
  ORDO_ASSERT_OK(later);
  EXPECT_EQ(DataOf(*later->spec), "books@00000000ffffffff");
  EXPECT_EQ(later->fingerprint, job->fingerprint);
}

TEST_F(NewJobsOnData, DataThatIsNotThereIsRefusedWithTheLayout) {
  CreateJobRequest request = RequestOf("a");
  ReadText("papers", request.mutable_job()->mutable_spec());
  const auto job = MakeOne(Context(), request, {});
  EXPECT_THAT(FieldsOf(job.status()),
              ElementsAre("job.spec.data.params.data[0]"));
  EXPECT_THAT(std::string(job.status().message()),
              ::testing::AllOf(HasSubstr("there is no data/papers"),
                               HasSubstr("ordo push data PATH"),
                               HasSubstr("x.bin with x.bin.json")));
}

TEST_F(NewJobsOnData, AWholePathThatNoWorkerMayReadIsRefused) {
  CreateJobRequest request = RequestOf("a");
  ReadText("/srv/books", request.mutable_job()->mutable_spec());
  // No worker has said what it may read.
  ORDO_EXPECT_OK(MakeOne(Context(), request, {}));
  ordo::workers::v1::Worker worker;
  worker.set_name("workers/a");
  worker.mutable_data_roots()->add_paths("/srv/text");
  known_.PutWorker(worker);
  const auto refused = MakeOne(Context(), request, {});
  EXPECT_THAT(FieldsOf(refused.status()),
              ElementsAre("job.spec.data.params.data[0]"));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("/srv/books is outside of what any worker may read "
                        "(/srv/text)"));
  worker.set_name("workers/b");
  worker.mutable_data_roots()->set_paths(0, "/srv/books");
  known_.PutWorker(worker);
  ORDO_EXPECT_OK(MakeOne(Context(), request, {}));
  // One of an earlier release may have any.
  ReadText("/srv/more", request.mutable_job()->mutable_spec());
  EXPECT_FALSE(MakeOne(Context(), request, {}).ok());
  worker.set_name("workers/c");
  worker.clear_data_roots();
  known_.PutWorker(worker);
  ORDO_EXPECT_OK(MakeOne(Context(), request, {}));
}

TEST_F(NewJobsOnData, PartsKeepVersionsToo) {
  CreateJobRequest request = SweepOf("s");
  JobSpec* run =
      request.mutable_job()->mutable_spec()->mutable_sweep()->mutable_run();
  ReadText("books", run);
  const auto jobs = MakeNewJob(Context(), request, {});
  ORDO_ASSERT_OK(jobs);
  EXPECT_EQ(DataOf(*(*jobs)[0].spec), version_);
  EXPECT_EQ(DataOf(*(*jobs)[1].spec), version_);
  EXPECT_EQ(DataOf(jobs->back().spec->sweep().run()), "books");
  ReadText("papers", run);
  EXPECT_THAT(FieldsOf(MakeNewJob(Context(), request, {}).status()),
              ElementsAre("job.spec.sweep.run.data.params.data[0]"));
}

TEST(NewJobsTest, PartsAreNotAnsweredWith) {
  std::vector<ordo::jobs::v1::Job> jobs(3);
  jobs[0].set_parent("jobs/s");
  jobs[1].set_name("jobs/s");
  jobs[2].set_name("jobs/t");
  const auto answered = WithoutParts(jobs);
  ASSERT_EQ(answered.size(), 2u);
  EXPECT_EQ(answered[0].name(), "jobs/s");
}

}  // namespace
}  // namespace ordo::services::jobs
