#include "model/catalog/resolve.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::Minimal;

TEST(ResolveTest, MinimalSpecGetsEveryDefault) {
  const auto spec = ResolveTrainSpec(Minimal());
  ORDO_ASSERT_OK(spec);
  const v1::Model& model = spec->model();
  EXPECT_EQ(model.preset(), "tiny");
  EXPECT_EQ(model.layers(), 4);
  EXPECT_EQ(model.width(), 128);
  EXPECT_EQ(model.heads(), 4);
  EXPECT_EQ(model.mlp_width(), 352);
  EXPECT_EQ(model.mlp(), "swiglu");
  EXPECT_EQ(model.norm(), "rmsnorm");
  EXPECT_EQ(model.norm_epsilon(), 1e-5);
  EXPECT_TRUE(model.has_tie_embeddings());
  EXPECT_TRUE(model.has_qk_norm());
  EXPECT_EQ(model.head_width(), 32);
  EXPECT_EQ(model.attention_bias(), "none");
  EXPECT_TRUE(model.has_mlp_bias());
  EXPECT_TRUE(model.has_norm_bias());
  EXPECT_TRUE(model.has_embedding_norm());
  EXPECT_TRUE(model.has_parallel_residual());
  EXPECT_TRUE(model.has_sliding_window());
  EXPECT_EQ(model.init_std(), 0.02);
  EXPECT_TRUE(model.has_dropout());
  EXPECT_EQ(model.vocabulary_size(), 19);
  EXPECT_EQ(spec->encoding().params().at("base").number_value(), 10000);
  EXPECT_EQ(spec->data().params().at("max_digits").number_value(), 5);
  EXPECT_EQ(spec->data().seed(), 1u);
  const v1::Training& training = spec->training();
  EXPECT_EQ(training.batch_size(), 64);
  EXPECT_EQ(training.micro_batch_size(), 64);
  EXPECT_EQ(training.learning_rate(), 1e-3);
  EXPECT_EQ(training.schedule(), "trapezoid");
  EXPECT_EQ(training.warmup_fraction(), 0.1);
  EXPECT_EQ(training.cooldown_fraction(), 0.1);
  EXPECT_TRUE(training.has_final_fraction());
  EXPECT_EQ(training.beta1(), 0.9);
  EXPECT_EQ(training.beta2(), 0.98);
  EXPECT_EQ(training.epsilon(), 1e-8);
  EXPECT_EQ(training.weight_decay(), 0.01);
  EXPECT_EQ(training.clip_norm(), 1);
  EXPECT_EQ(training.precision(), "fp32");
  EXPECT_EQ(training.seed(), 1u);
  EXPECT_EQ(training.non_finite(), "fail");
  EXPECT_EQ(training.max_non_finite(), 10);
  EXPECT_EQ(training.log_every_steps(), 10);
  EXPECT_EQ(spec->checkpoint().every_steps(), 200);
  EXPECT_EQ(spec->checkpoint().keep(), 3);
  EXPECT_EQ(spec->resources().ranks(), 1);
  EXPECT_EQ(spec->resources().device(), "cpu");
  EXPECT_EQ(spec->resources().threads(), 2);
  EXPECT_EQ(spec->attempt(), 1);
}

// "In a resolved spec every field is set" (spec.proto), but for what a job may
// ask of machines and what a model has since post_norm: a field that is added
// there and forgotten here shows up in this test.
TEST(ResolveTest, NoOptionalFieldOfAResolvedSpecIsUnset) {
  const auto spec = ResolveTrainSpec(Minimal());
  ORDO_ASSERT_OK(spec);
  const std::vector<const google::protobuf::Message*> messages = {
      &spec->model(), &spec->training(), &spec->checkpoint(),
      &spec->resources(), &spec->data()};
  for (const auto* message : messages) {
    const auto* descriptor = message->GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const auto* field = descriptor->field(i);
      // A message that is left out means none of it, a checkpoint is a job's,
      // a kernel that is not named is chosen on the machine, a request for
      // nothing is none, and unset all checkpoints keep the optimizer's state.
      const bool requests =
          message == &spec->resources() &&
          field->number() >= v1::Resources::kDevicesFieldNumber;
      const bool variants = message == &spec->model() &&
                            field->number() >= v1::Model::kPostNormFieldNumber;
      if (requests || variants || field->is_repeated() ||
          field->message_type() != nullptr || field->name() == "from" ||
          field->name() == "from_sha256" || field->name() == "kernel" ||
          field->name() == "keep_optimizer") {
        continue;
      }
      EXPECT_TRUE(message->GetReflection()->HasField(*message, field))
          << field->full_name();
    }
  }
}

TEST(ResolveTest, ResolvingTwiceChangesNothing) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_model()->set_preset("small");
  spec.mutable_model()->set_width(384);
  spec.add_evaluations()->set_task("addition_grid");
  spec.add_evaluations()->set_task("addition_grid");
  spec.mutable_evaluations(1)->set_name("often");
  spec.mutable_evaluations(1)->set_every_steps(5);
  const auto once = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(once);
  const auto twice = ResolveTrainSpec(*once);
  ORDO_ASSERT_OK(twice);
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(*once, *twice));
}

TEST(ResolveTest, EveryViolationIsReportedAtOnce) {
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_data()->set_task("additon");
                spec->mutable_model()->set_layers(0);
                spec->mutable_encoding()->set_name("ropee");
                spec->mutable_training()->set_learning_rate(-1);
                spec->mutable_training()->set_schedule("cosin");
                spec->mutable_checkpoint()->set_keep(0);
                spec->mutable_resources()->set_device("gpu");
              }),
              ElementsAre("data.task", "model.layers", "encoding.name",
                          "training.learning_rate", "training.schedule",
                          "checkpoint.keep", "resources.device"));
}

TEST(ResolveTest, OptimizersOfAllCheckpointsAreKeptUnlessItSaysHowMany) {
  const auto all = ResolveTrainSpec(Minimal());
  ORDO_ASSERT_OK(all);
  EXPECT_FALSE(all->checkpoint().has_keep_optimizer());
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_checkpoint()->set_keep_optimizer(0);
              }),
              ElementsAre("checkpoint.keep_optimizer"));
}

TEST(ResolveTest, UnknownNamesAreToldTheNearest) {
  EXPECT_THAT(
      MessageOf([](auto* spec) { spec->mutable_encoding()->set_name("taep"); }),
      HasSubstr("did you mean 'tape'?"));
  EXPECT_THAT(
      MessageOf([](auto* spec) { spec->mutable_model()->set_preset("smal"); }),
      HasSubstr("did you mean 'small'?"));
  EXPECT_THAT(MessageOf([](auto* spec) {
                spec->mutable_training()->set_precision("bf61");
              }),
              HasSubstr("did you mean 'bf16'?"));
}

TEST(ResolveTest, EmptySpecMissesWhatHasNoDefault) {
  const auto resolved = ResolveTrainSpec({});
  EXPECT_THAT(resolved, StatusIs(absl::StatusCode::kInvalidArgument));
  std::vector<std::string> fields;
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  EXPECT_THAT(fields,
              ElementsAre("data.task", "encoding.name", "training.steps"));
}

TEST(ResolveTest, ARankIsOneOfTheTasks) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->set_rank(1);
                spec->set_host("here");
              }),
              ElementsAre("rank", "host"));
  const auto rank_of_two = [](int rank) {
    return [=](v1::TrainSpec* spec) {
      spec->mutable_resources()->set_ranks(2);
      spec->set_rank(rank);
      spec->set_host("here");
    };
  };
  EXPECT_THAT(FieldsOf(rank_of_two(1)), IsEmpty());
  EXPECT_THAT(FieldsOf(rank_of_two(2)), ElementsAre("rank"));
  EXPECT_THAT(FieldsOf(rank_of_two(-1)), ElementsAre("rank"));
}

TEST(ResolveTest, CheckpointSourcesAreChecked) {
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->set_job("Not an id");
                spec->set_attempt(-1);
                spec->add_resume()->set_step(-1);
                spec->mutable_start()->set_path("p");
                spec->mutable_start()->set_manifest_sha256("xyz");
              }),
              ElementsAre("job", "attempt", "resume[0].path", "resume[0].step",
                          "start.manifest_sha256"));
}

TEST(ResolveTest, EvaluateSpecNeedsCheckpointsAndEvaluations) {
  const auto resolved = ResolveEvaluateSpec({});
  EXPECT_THAT(resolved,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "checkpoints: name at least one; evaluations: name at "
                       "least one"));
}

TEST(ResolveTest, EvaluateSpecTakesNoMoments) {
  v1::EvaluateSpec spec;
  spec.add_checkpoints()->set_path("jobs/a/checkpoints/10-1");
  spec.add_evaluations()->set_task("addition_grid");
  const auto resolved = ResolveEvaluateSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->evaluations(0).at(), "");
  EXPECT_EQ(resolved->evaluations(0).name(), "addition_grid");
  EXPECT_EQ(resolved->resources().device(), "cpu");

  spec.mutable_evaluations(0)->set_at("end");
  EXPECT_THAT(ResolveEvaluateSpec(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("evaluations[0].at")));
}

TEST(ResolveTest, EvaluateSpecMayNameAnotherEncoding) {
  v1::EvaluateSpec spec;
  spec.add_checkpoints()->set_path("jobs/a/checkpoints/10-1");
  spec.add_evaluations()->set_task("addition_grid");
  EXPECT_FALSE(ResolveEvaluateSpec(spec)->has_encoding());
  spec.mutable_encoding()->set_name("yarn");
  const auto resolved = ResolveEvaluateSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->encoding().params().count("factor"), 1u);
  spec.mutable_encoding()->set_name("yan");
  EXPECT_THAT(ResolveEvaluateSpec(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("encoding.name: ")));
}

TEST(ResolveTest, GateSpecComparesACandidateWithABaselineAndPerhapsMore) {
  EXPECT_THAT(
      ResolveGateSpec({}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "subjects: must be candidate, baseline and perhaps anchor; "
               "evaluations: name at least one"));
  v1::GateSpec spec;
  for (const char* role : {"candidate", "baseline", "anchor"}) {
    spec.add_subjects()->set_role(role);
    spec.mutable_subjects(spec.subjects_size() - 1)
        ->mutable_checkpoint()
        ->set_path("/a");
  }
  spec.add_evaluations()->set_task("addition_grid");
  spec.mutable_gate()->set_margin(0.1);
  const auto resolved = ResolveGateSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->attempt(), 1);
  EXPECT_EQ(resolved->gate().level(), 0.95);
  EXPECT_EQ(resolved->evaluations(0).name(), "addition_grid");
  EXPECT_EQ(resolved->resources().threads(), 2);

  spec.mutable_subjects(0)->set_report("jobs/a/results/x");
  spec.mutable_subjects(1)->clear_checkpoint();
  EXPECT_THAT(
      ResolveGateSpec(spec),
      StatusIs(absl::StatusCode::kInvalidArgument,
               ::testing::AllOf(HasSubstr("subjects[0].report: "),
                                HasSubstr("subjects[1].checkpoint.path: "))));
}

TEST(ResolveTest, TrainSpecNamesNoCheckpointOfAJob) {
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_from("jobs/a");
              }),
              HasSubstr("model.from: is for jobs"));
}

TEST(ResolveTest, FineTuningIsCheckedAgainstTheModel) {
  EXPECT_THAT(
      MessageOf([](v1::TrainSpec* spec) {
        spec->mutable_training()->mutable_shifted_sparse()->set_group(8);
        spec->mutable_model()->set_causal(false);
      }),
      HasSubstr("training.shifted_sparse: is for causal models"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_training()->mutable_lora()->set_rank(-1);
              }),
              HasSubstr("training.lora.rank"));
}

TEST(ResolveTest, ABaseStandsAloneAndHasAPath) {
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) { spec->mutable_base(); }),
              HasSubstr("base.path"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_base()->set_path("a");
                spec->mutable_start()->set_path("b");
              }),
              HasSubstr("base: not beside start"));
}

}  // namespace
}  // namespace ordo::model::catalog
