#include "services/jobs/checkpoint_models.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve_model.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ordo::reports::v1::Report;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

// A violation of a field with a text in it.
MATCHER_P2(Says, field, text, "") {
  return arg.field == field && arg.description.find(text) != std::string::npos;
}

class CheckpointModelsTest : public ::testing::Test {
 protected:
  CheckpointModelsTest() {
    Job job;
    job.set_name("jobs/llama");
    job.set_state(Job::SUCCEEDED);
    auto* model = job.mutable_spec()->mutable_model();
    model->set_layers(2);
    model->set_width(16);
    model->set_heads(2);
    model->set_key_value_heads(2);
    model->set_head_width(6);
    model->set_causal(true);
    model->set_mlp("swiglu");
    model->set_dropout(0.25);
    model->set_vocabulary_size(19);
    job.mutable_spec()->mutable_encoding()->set_name("rope");
    scheduler_.PutJob(job);
    checkpoint_.set_name("jobs/llama/checkpoints/7-0");
    checkpoint_.set_step(7);
    checkpoint_.set_state(Checkpoint::AVAILABLE);
    checkpoint_.set_manifest_sha256("aa");
    scheduler_.PutCheckpoint(checkpoint_);
    spec_.set_kind(JobSpec::TRAIN);
    spec_.mutable_model()->set_from("llama");
  }

  Violations Fill() {
    Violations violations;
    FillModel(known_, &spec_, &violations);
    return violations;
  }
  Violations Check() {
    Violations violations;
    notices_.clear();
    CheckModels(known_, spec_, &notices_, &violations);
    return violations;
  }

  scheduler::testing::FakeScheduler scheduler_;
  KnownJobs known_ = {scheduler_};
  Checkpoint checkpoint_;
  JobSpec spec_;
  std::vector<std::string> notices_;
};

TEST_F(CheckpointModelsTest, TheModelIsThatOfTheCheckpoint) {
  for (const char* from : {"llama", "jobs/llama", "jobs/llama/checkpoints/7-0",
                           "jobs/llama/checkpoints/latest"}) {
    spec_.clear_encoding();
    spec_.clear_model();
    spec_.mutable_model()->set_from(from);
    EXPECT_THAT(Fill(), IsEmpty());
    EXPECT_EQ(spec_.model().from(), "jobs/llama/checkpoints/7-0");
    EXPECT_EQ(spec_.model().from_sha256(), "aa");
    EXPECT_EQ(spec_.model().width(), 16);
    EXPECT_EQ(spec_.model().dropout(), 0.25);
    EXPECT_EQ(spec_.encoding().name(), "rope");
  }
  // What is filled in already stays.
  const std::string filled = spec_.SerializeAsString();
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.SerializeAsString(), filled);
}

TEST_F(CheckpointModelsTest, EncodingDropoutAndInitialValuesMayBeOthers) {
  spec_.mutable_encoding()->set_name("yarn");
  spec_.mutable_model()->set_dropout(0);
  spec_.mutable_model()->set_init_std(0.5);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.encoding().name(), "yarn");
  EXPECT_EQ(spec_.model().dropout(), 0);
  EXPECT_EQ(spec_.model().init_std(), 0.5);
}

TEST_F(CheckpointModelsTest, FieldsThatContradictTheCheckpointAreNamed) {
  spec_.mutable_model()->set_layers(2);
  spec_.mutable_model()->set_width(32);
  spec_.mutable_model()->set_mlp("relu");
  spec_.mutable_model()->set_from_sha256("bb");
  EXPECT_THAT(
      Fill(),
      ElementsAre(Says("model.from_sha256", "has aa; leave it out"),
                  Says("model.width",
                       "is 16 in jobs/llama/checkpoints/7-0, which the model "
                       "is taken from; leave it out"),
                  Says("model.mlp", "is \"swiglu\" in ")));
}

// Knows of each job that it was archived.
class ArchivedScheduler : public scheduler::testing::FakeScheduler {
 public:
  absl::StatusOr<Job> GetJob(const std::string& job) const override {
    return absl::NotFoundError("job " + job + " was archived");
  }
};

TEST_F(CheckpointModelsTest, AJobThatWasArchivedIsToldAsThat) {
  ArchivedScheduler archived;
  Violations violations;
  FillModel({archived}, &spec_, &violations);
  EXPECT_THAT(violations,
              ElementsAre(Says("model.from", "job llama was archived")));
}

TEST_F(CheckpointModelsTest, ACheckpointThatIsNotThereIsRefused) {
  const auto from = [this](const std::string& name) {
    spec_.clear_model();
    spec_.mutable_model()->set_from(name);
    const Violations violations = Fill();
    EXPECT_EQ(spec_.model().from_sha256(), "");
    return violations;
  };
  EXPECT_THAT(from("lama"),
              ElementsAre(Says("model.from", "there is no job lama; see: ")));
  EXPECT_THAT(from("jobs/llama/checkpoints/8-0"),
              ElementsAre(Says("model.from", "there is no checkpoint ")));
  checkpoint_.set_state(Checkpoint::DELETED);
  scheduler_.PutCheckpoint(checkpoint_);
  EXPECT_THAT(from("jobs/llama/checkpoints/7-0"),
              ElementsAre(Says("model.from", "was removed")));
  Job job = *scheduler_.GetJob("llama");
  job.set_name("jobs/young");
  job.set_state(Job::RUNNING);
  scheduler_.PutJob(job);
  EXPECT_THAT(from("young"),
              ElementsAre(Says("model.from", "wait for it: ordo wait young")));
  job.set_name("jobs/evaluation");
  job.set_state(Job::SUCCEEDED);
  scheduler_.PutJob(job);
  EXPECT_THAT(from("evaluation"),
              ElementsAre(Says("model.from", "name another")));
  job.mutable_spec()->clear_model();
  scheduler_.PutJob(job);
  EXPECT_THAT(from("evaluation"),
              ElementsAre(Says("model.from", "has a model of its own")));
  // A bad form is told when the spec is resolved.
  EXPECT_THAT(from("jobs/a/b"), IsEmpty());
}

TEST_F(CheckpointModelsTest, AnEvaluationHasToFitTheModel) {
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/llama");
  spec_.add_checkpoints("jobs/llama/checkpoints/7-0");
  spec_.add_checkpoints("jobs/unknown");
  spec_.add_evaluations()->set_task("addition_grid");
  EXPECT_THAT(Check(), IsEmpty());
  spec_.mutable_encoding()->set_name("yarn");
  EXPECT_THAT(Check(), IsEmpty());
  spec_.mutable_encoding()->set_name("rope_2d");
  ASSERT_EQ(Check().size(), 1u);
  EXPECT_THAT(Check()[0].field, ::testing::StartsWith("encoding"));
  EXPECT_THAT(Check()[0].description, ::testing::EndsWith("(for jobs/llama)"));
  spec_.clear_encoding();
  Job job = *scheduler_.GetJob("llama");
  job.mutable_spec()->mutable_model()->set_causal(false);
  scheduler_.PutJob(job);
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].task",
                                        "a model with causal: false cannot")));
  job.mutable_spec()->mutable_model()->set_causal(true);
  job.mutable_spec()->mutable_model()->set_vocabulary_size(7);
  scheduler_.PutJob(job);
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].task",
                                        "has 19 tokens, the model 7; it needs "
                                        "one with a larger vocabulary_size "
                                        "(for jobs/llama)")));
}

TEST_F(CheckpointModelsTest, AGatesEvaluationsHaveToFitBothModels) {
  spec_.Clear();
  spec_.set_kind(JobSpec::GATE);
  spec_.mutable_gate()->set_candidate("jobs/llama");
  spec_.mutable_gate()->set_baseline("jobs/small/checkpoints/7-0");
  spec_.mutable_gate()->set_anchor("jobs/unknown");
  spec_.add_evaluations()->set_task("addition_grid");
  EXPECT_THAT(Check(), IsEmpty());
  Job small = *scheduler_.GetJob("llama");
  small.set_name("jobs/small");
  small.mutable_spec()->mutable_model()->set_vocabulary_size(7);
  scheduler_.PutJob(small);
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].task",
                                        "with a larger vocabulary_size (for "
                                        "jobs/small/checkpoints/7-0)")));
}

TEST_F(CheckpointModelsTest, AReportThatAGateComparesWithIsOfItsEvaluation) {
  spec_.Clear();
  spec_.set_kind(JobSpec::GATE);
  spec_.mutable_gate()->set_candidate("jobs/llama");
  spec_.mutable_gate()->set_baseline("jobs/llama/reports/x-7");
  spec_.add_evaluations()->set_task("addition_grid");
  // What is not there is for the scheduler to refuse.
  EXPECT_THAT(Check(), IsEmpty());
  Report report;
  report.set_name("jobs/llama/reports/x-7");
  report.set_kind(Report::EVALUATION);
  report.set_task("counting");
  scheduler_.PutReport(report);
  EXPECT_THAT(Check(), ElementsAre(Says("gate.baseline",
                                        "is of counting, the gate asks "
                                        "addition_grid; name another")));
  report.set_name("jobs/llama/reports/attention");
  report.set_kind(Report::BENCHMARK);
  scheduler_.PutReport(report);
  spec_.mutable_gate()->set_baseline(report.name());
  EXPECT_THAT(Check(),
              ElementsAre(Says("gate.baseline", "is no evaluation; name one")));
  report.set_name("jobs/llama/reports/grid-7");
  report.set_kind(Report::EVALUATION);
  report.set_task("addition_grid");
  scheduler_.PutReport(report);
  spec_.mutable_gate()->set_baseline(report.name());
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, AReportOfAnotherVersionOfTheTaskIsRefused) {
  const int version =
      model::catalog::Find(model::catalog::Kind::kEvaluationTask,
                           "addition_grid")
          ->evaluation.version;
  spec_.Clear();
  spec_.set_kind(JobSpec::GATE);
  spec_.mutable_gate()->set_candidate("jobs/llama");
  spec_.mutable_gate()->set_baseline("jobs/llama");
  spec_.add_evaluations()->set_task("addition_grid");
  const auto put = [this](const std::string& name, int of_report) {
    Report report;
    report.set_name("jobs/llama/reports/" + name);
    report.set_kind(Report::EVALUATION);
    report.set_task("addition_grid");
    report.set_task_version(of_report);
    report.set_checkpoint("jobs/llama/checkpoints/7-1");
    scheduler_.PutReport(report);
  };
  put("same-7", version);
  put("other-7", version + 1);
  put("unknown-7", 0);
  spec_.mutable_gate()->set_anchor("jobs/llama/reports/same-7");
  EXPECT_THAT(Check(), IsEmpty());
  spec_.mutable_gate()->set_anchor("jobs/llama/reports/other-7");
  EXPECT_THAT(Check(),
              ElementsAre(Says("gate.anchor",
                               "which has other questions or scores; name the "
                               "checkpoint jobs/llama/checkpoints/7-1")));
  // One of a release that did not say is compared by the gate.
  spec_.mutable_gate()->set_anchor("jobs/llama/reports/unknown-7");
  EXPECT_THAT(Check(), IsEmpty());
  spec_.mutable_gate()->set_baseline("jobs/llama/reports/other-7");
  EXPECT_THAT(Check(),
              ElementsAre(Says("gate.baseline", "the gate asks version ")));
}

TEST_F(CheckpointModelsTest, MultiplesNeedAModelWhoseTrainingIsKnown) {
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/llama");
  auto& evaluation = *spec_.add_evaluations();
  evaluation.set_task("flip_flop");
  auto& lengths =
      *(*evaluation.mutable_params())["lengths"].mutable_list_value();
  lengths.add_values()->set_number_value(8);
  EXPECT_THAT(Check(), IsEmpty());
  lengths.add_values()->set_string_value("2x");
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].params.lengths[1]",
                                        "'2x' is of the trained length")));
  Job job = *scheduler_.GetJob("llama");
  job.mutable_spec()->mutable_data()->set_task("flip_flop");
  (*job.mutable_spec()->mutable_data()->mutable_params())["pairs"]
      .set_number_value(8);
  scheduler_.PutJob(job);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, AGateOfACheckpointAgainstItselfSaysSo) {
  Checkpoint newest = checkpoint_;
  newest.set_name("jobs/llama/checkpoints/9-0");
  newest.set_step(9);
  scheduler_.PutCheckpoint(newest);
  spec_.Clear();
  spec_.set_kind(JobSpec::GATE);
  spec_.mutable_resources()->set_device("cpu");
  spec_.add_evaluations()->set_task("addition_grid");
  spec_.mutable_gate()->set_candidate("jobs/llama");
  spec_.mutable_gate()->set_baseline(checkpoint_.name());
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, IsEmpty());
  spec_.mutable_gate()->set_baseline(newest.name());
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_,
              ElementsAre("gate.candidate and gate.baseline are both "
                          "jobs/llama/checkpoints/9-0: the gate compares it "
                          "with itself"));
  spec_.mutable_gate()->set_baseline(checkpoint_.name());
  spec_.mutable_gate()->set_anchor("jobs/llama");
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, ElementsAre(::testing::HasSubstr(
                            "gate.candidate and gate.anchor are both")));
}

TEST_F(CheckpointModelsTest, AModelIsAskedInTheTokensOfItsTraining) {
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/llama");
  auto& evaluation = *spec_.add_evaluations();
  evaluation.set_task("questions");
  auto& params = *evaluation.mutable_params();
  params["path"].set_string_value("own.jsonl");
  params["tokenizer"].set_string_value("t.json");
  // Of a model from elsewhere it is not known.
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, IsEmpty());
  Job job = *scheduler_.GetJob("llama");
  auto& data = *job.mutable_spec()->mutable_data();
  data.set_task("text");
  (*data.mutable_params())["tokenizer"].set_string_value("t.model");
  scheduler_.PutJob(job);
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, ::testing::Contains(::testing::HasSubstr(
                            "evaluations[0].params.tokenizer is t.json")));
  params["tokenizer"].set_string_value("t.model");
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, IsEmpty());
  job.mutable_spec()->mutable_model()->set_vocabulary_size(260);
  scheduler_.PutJob(job);
  params["tokenizer"].set_string_value("bytes");
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].params.tokenizer",
                                        "leave it out, which takes that of "
                                        "the training (for jobs/llama)")));
}

TEST_F(CheckpointModelsTest, AGateOverTwoTokenizersIsRefused) {
  const auto put = [this](const std::string& id, const char* tokenizer) {
    Job job = *scheduler_.GetJob("llama");
    job.set_name("jobs/" + id);
    job.mutable_spec()->mutable_model()->set_vocabulary_size(260);
    auto& data = *job.mutable_spec()->mutable_data();
    data.set_task("text");
    (*data.mutable_params())["tokenizer"].set_string_value(tokenizer);
    scheduler_.PutJob(job);
  };
  put("new", "bytes");
  put("old", "mine/t.model");
  spec_.Clear();
  spec_.set_kind(JobSpec::GATE);
  spec_.mutable_gate()->set_candidate("jobs/new");
  spec_.mutable_gate()->set_baseline("jobs/old/checkpoints/7-0");
  auto& evaluation = *spec_.add_evaluations();
  evaluation.set_task("questions");
  auto& params = *evaluation.mutable_params();
  params["path"].set_string_value("own.jsonl");
  EXPECT_THAT(Check(),
              ElementsAre(Says("gate.baseline",
                               "was trained with tokenizer mine/t.model, the "
                               "candidate with bytes: ")));
  put("old", "bytes");
  EXPECT_THAT(Check(), IsEmpty());
  // Two files may hold the same.
  put("new", "yours/t.model");
  put("old", "mine/t.model");
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, AnEvaluationsEncodingNeedsNoNewParameters) {
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/llama");
  spec_.add_evaluations()->set_task("addition_grid");
  spec_.mutable_encoding()->set_name("tape");
  EXPECT_THAT(Check(), ElementsAre(Says("encoding.name",
                                        "which the checkpoint has not; train "
                                        "it first: model: {from: ...} (for ")));
  // The checkpoint's own, in another size and in the same.
  Job job = *scheduler_.GetJob("llama");
  auto* own = job.mutable_spec()->mutable_encoding();
  own->set_name("learned");
  Violations violations;
  model::catalog::ResolveEncoding("encoding", job.spec().model(), own,
                                  &violations);
  ASSERT_THAT(violations, IsEmpty());
  scheduler_.PutJob(job);
  *spec_.mutable_encoding() = *own;
  EXPECT_THAT(Check(), IsEmpty());
  (*spec_.mutable_encoding()->mutable_params())["max_length"].set_number_value(
      4000);
  EXPECT_THAT(Check(), ElementsAre(Says("encoding.name", "train it first")));
  // One that would leave them out.
  spec_.mutable_encoding()->Clear();
  spec_.mutable_encoding()->set_name("yarn");
  EXPECT_THAT(Check(), ElementsAre(Says("encoding.name",
                                        "parameters of learned, which yarn has "
                                        "not; train it first")));
  // What has none may be another beside what has some.
  own->Clear();
  own->set_name("rope");
  own->add_with()->set_name("cope");
  model::catalog::ResolveEncoding("encoding", job.spec().model(), own,
                                  &violations);
  ASSERT_THAT(violations, IsEmpty());
  scheduler_.PutJob(job);
  *spec_.mutable_encoding() = *own;
  spec_.mutable_encoding()->set_name("ntk");
  spec_.mutable_encoding()->clear_params();
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, AnEvaluationsKernelIsThatOfTheModel) {
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/llama");
  spec_.mutable_resources()->set_device("cpu");
  auto* evaluation = spec_.add_evaluations();
  evaluation->set_task("addition_grid");
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, IsEmpty());
  evaluation->set_kernel("cpu_counted");
  EXPECT_THAT(Check(), ElementsAre(Says("evaluations[0].kernel",
                                        "cpu_counted cannot be taken: it does "
                                        "not do rope")));
  evaluation->set_kernel("reference");
  EXPECT_THAT(Check(), IsEmpty());
  EXPECT_THAT(notices_, ElementsAre(::testing::HasSubstr(
                            "evaluation under rope takes plain operations")));
}

TEST_F(CheckpointModelsTest, AModelThatIsStillTrainedIsThatOfItsJob) {
  ASSERT_EQ(scheduler_.SetState("llama", Job::RUNNING).state(), Job::RUNNING);
  spec_.add_needs()->set_job("llama");
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.model().from(), "jobs/llama");
  EXPECT_EQ(spec_.model().from_sha256(), "");
  EXPECT_EQ(spec_.model().width(), 16);
  EXPECT_EQ(spec_.encoding().name(), "rope");
}

TEST_F(CheckpointModelsTest, TheBestOfAModelThatIsStillTrainedStays) {
  const std::string best = "jobs/llama/checkpoints/best";
  spec_.mutable_model()->set_from(best);
  // Where it is not needed FillBest has told that there is none.
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.model().width(), 0);
  Job job = *scheduler_.GetJob("llama");
  job.set_state(Job::RUNNING);
  scheduler_.PutJob(job);
  spec_.add_needs()->set_job("llama");
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.model().from(), best);
  EXPECT_EQ(spec_.model().from_sha256(), "");
  EXPECT_EQ(spec_.model().width(), 16);
  // It is best by evaluations of its own.
  EXPECT_THAT(Check(),
              ElementsAre(Says("model.from", "has no evaluations of its own")));
  job.mutable_spec()->add_evaluations()->set_task("addition_grid");
  scheduler_.PutJob(job);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, AModelMayBeThatOfAJobOfTheSameCall) {
  const JobSpec trained = scheduler_.GetJob("llama")->spec();
  known_.made["fresh"] = &trained;
  spec_.mutable_model()->set_from("fresh");
  EXPECT_THAT(Fill(), ElementsAre(Says("model.from", "name it in needs")));
  spec_.add_needs()->set_job("jobs/fresh");
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.model().from(), "jobs/fresh");
  EXPECT_EQ(spec_.model().layers(), 2);
}

TEST_F(CheckpointModelsTest, ARunGoesOnWithTheModelOfItsStart) {
  *spec_.mutable_model() = scheduler_.GetJob("llama")->spec().model();
  spec_.mutable_model()->set_dropout(0);
  spec_.mutable_model()->set_mlp_width(64);
  spec_.set_start_from("jobs/llama");
  EXPECT_THAT(Check(), IsEmpty());
  spec_.mutable_model()->set_width(32);
  EXPECT_THAT(Check(),
              ElementsAre(Says("model.width", "is 32, and 16 in jobs/llama")));
  JobSpec benchmark;
  benchmark.set_kind(JobSpec::BENCHMARK);
  known_.made["kernels"] = &benchmark;
  spec_.set_start_from("jobs/kernels");
  EXPECT_THAT(Check(),
              ElementsAre(Says("start_from", "name a job of kind: train")));
  // For the scheduler to refuse.
  spec_.set_start_from("jobs/gone");
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(CheckpointModelsTest, EvaluationsAreCheckedAgainstJobsOfTheSameCall) {
  JobSpec trained = scheduler_.GetJob("llama")->spec();
  trained.mutable_model()->set_causal(false);
  known_.made["fresh"] = &trained;
  spec_.Clear();
  spec_.set_kind(JobSpec::EVALUATE);
  spec_.add_checkpoints("jobs/fresh");
  spec_.add_evaluations()->set_task("addition_grid");
  EXPECT_FALSE(Check().empty());
}

}  // namespace
}  // namespace ordo::services::jobs
