#include "model/catalog/resolve.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The least that trains.
v1::TrainSpec Minimal() {
  v1::TrainSpec spec;
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(10);
  return spec;
}

// The fields that a change to the minimal spec makes invalid.
std::vector<std::string> FieldsOf(
    const std::function<void(v1::TrainSpec*)>& change) {
  v1::TrainSpec spec = Minimal();
  change(&spec);
  std::vector<std::string> fields;
  const auto resolved = ResolveTrainSpec(spec);
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

std::string MessageOf(const std::function<void(v1::TrainSpec*)>& change) {
  v1::TrainSpec spec = Minimal();
  change(&spec);
  return std::string(ResolveTrainSpec(spec).status().message());
}

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
// ask of machines: a field that is added there and forgotten here shows up in
// this test.
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
      // a kernel that is not named is chosen on the machine, and a request for
      // nothing is none.
      const bool requests =
          message == &spec->resources() &&
          field->number() >= v1::Resources::kDevicesFieldNumber;
      if (requests || field->is_repeated() ||
          field->message_type() != nullptr || field->name() == "from" ||
          field->name() == "from_sha256" || field->name() == "kernel") {
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

TEST(ResolveTest, PresetsAreThoseOfThePaper) {
  v1::Model model;
  Violations violations;
  model.set_preset("small");
  ResolveModel("model", 0, &model, &violations);
  EXPECT_THAT(violations, IsEmpty());
  EXPECT_EQ(model.layers(), 12);
  EXPECT_EQ(model.width(), 768);
  EXPECT_EQ(model.heads(), 12);
  EXPECT_EQ(model.mlp_width(), 3072);
  EXPECT_EQ(model.vocabulary_size(), 32000);

  v1::Model base;
  base.set_preset("base");
  ResolveModel("model", 19, &base, &violations);
  EXPECT_EQ(base.layers(), 16);
  EXPECT_EQ(base.width(), 1024);
  EXPECT_EQ(base.heads(), 16);
  EXPECT_EQ(base.mlp_width(), 2048);
  EXPECT_EQ(base.vocabulary_size(), 19);
}

TEST(ResolveTest, HeadsMayHaveAWidthOfTheirOwn) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_model()->set_width(100);
  spec.mutable_model()->set_heads(3);
  spec.mutable_model()->set_head_width(64);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->model().head_width(), 64);
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* wrong) {
                wrong->mutable_model()->set_head_width(7);
              }),
              ElementsAre("model.head_width"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* wrong) {
                wrong->mutable_model()->set_heads(3);
              }),
              HasSubstr("or set head_width"));
}

TEST(ResolveTest, SwitchesOfTheBlockAreChecked) {
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_norm_bias(true);
              }),
              ElementsAre("model.norm_bias"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_attention_bias("q");
                spec->mutable_model()->set_mlp("silu");
                spec->mutable_model()->set_sliding_window(-1);
              }),
              ::testing::UnorderedElementsAre(
                  "model.attention_bias", "model.mlp", "model.sliding_window"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_norm("layernorm");
                spec->mutable_model()->set_norm_bias(true);
                spec->mutable_model()->set_mlp("relu");
              }),
              IsEmpty());
}

TEST(ResolveTest, MlpOfAnotherWidthThanThePresetsFollowsTheWidth) {
  v1::Model model;
  Violations violations;
  model.set_preset("small");
  model.set_width(384);
  ResolveModel("model", 0, &model, &violations);
  EXPECT_EQ(model.mlp_width(), 1024);
  EXPECT_EQ(DefaultMlpWidth(128), 352);
  EXPECT_EQ(DefaultMlpWidth(12), 32);
  EXPECT_EQ(DefaultMlpWidth(13), 64);
  EXPECT_EQ(DefaultMlpWidth(65536), 174784);
}

// A dropout whose scale, or an epsilon that, is lost in fp32.
TEST(ResolveTest, NumbersThatATrainerCannotUseAreRefused) {
  EXPECT_THAT(
      FieldsOf([](v1::TrainSpec* spec) {
        spec->mutable_model()->set_norm_epsilon(1e-35);
        spec->mutable_model()->set_init_std(1e-35);
        spec->mutable_model()->set_dropout(0.9999999);
      }),
      ElementsAre("model.norm_epsilon", "model.init_std", "model.dropout"));
}

TEST(ResolveTest, AnEncodingMustFitTheHeads) {
  // Of the 32 channels of each head, 9.
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                (*spec->mutable_encoding()->mutable_params())["partial"]
                    .set_number_value(0.3);
              }),
              ElementsAre("encoding.params.partial"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                v1::Component rope = spec->encoding();
                (*rope.mutable_params())["partial"].set_number_value(0.3);
                spec->mutable_encoding()->set_name("tape");
                *spec->mutable_encoding()->add_with() = rope;
              }),
              ElementsAre("encoding.with[0].params.partial"));
  EXPECT_THAT(FieldsOf([](v1::TrainSpec* spec) {
                (*spec->mutable_encoding()->mutable_params())["partial"]
                    .set_number_value(0.25);
              }),
              IsEmpty());
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

TEST(ResolveTest, WidthAndHeadsMustFit) {
  EXPECT_THAT(FieldsOf([](auto* spec) { spec->mutable_model()->set_heads(3); }),
              ElementsAre("model.width"));
  EXPECT_THAT(
      FieldsOf([](auto* spec) { spec->mutable_model()->set_heads(128); }),
      ElementsAre("model.heads"));
}

TEST(ResolveTest, VocabularyMustHoldTheTask) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_model()->set_vocabulary_size(18);
              }),
              ElementsAre("model.vocabulary_size"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_model()->set_vocabulary_size(19);
              }),
              IsEmpty());
}

TEST(ResolveTest, MicroBatchDividesTheBatch) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_batch_size(64);
                spec->mutable_training()->set_micro_batch_size(48);
              }),
              ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_batch_size(64);
                spec->mutable_training()->set_micro_batch_size(128);
              }),
              ElementsAre("training.micro_batch_size"));
  // Not divided by zero, and one mistake is one violation.
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_micro_batch_size(0);
              }),
              ElementsAre("training.micro_batch_size"));
}

TEST(ResolveTest, TrapezoidHasRoomForBothEnds) {
  const auto fractions = [](const char* schedule) {
    return [schedule](v1::TrainSpec* spec) {
      spec->mutable_training()->set_warmup_fraction(0.6);
      spec->mutable_training()->set_cooldown_fraction(0.6);
      spec->mutable_training()->set_schedule(schedule);
    };
  };
  EXPECT_THAT(FieldsOf(fractions("trapezoid")),
              ElementsAre("training.cooldown_fraction"));
  EXPECT_THAT(FieldsOf(fractions("cosine")), IsEmpty());
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_training()->set_warmup_fraction(0.9);
              }),
              IsEmpty());
}

TEST(ResolveTest, RanksOfATrainingTaskShareABatchEvenly) {
  const auto ranks = [](int count, int micro_batch_size) {
    return [=](v1::TrainSpec* spec) {
      spec->mutable_resources()->set_ranks(count);
      if (micro_batch_size > 0) {
        spec->mutable_training()->set_micro_batch_size(micro_batch_size);
      }
    };
  };
  EXPECT_THAT(FieldsOf(ranks(4, 0)), IsEmpty());
  EXPECT_THAT(FieldsOf(ranks(4, 8)), IsEmpty());
  EXPECT_THAT(FieldsOf(ranks(4, 32)), ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf(ranks(3, 0)), ElementsAre("training.micro_batch_size"));
  EXPECT_THAT(FieldsOf(ranks(0, 0)), ElementsAre("resources.ranks"));
  EXPECT_THAT(FieldsOf(ranks(1025, 0)), ElementsAre("resources.ranks"));
}

TEST(ResolveTest, PassesThatRanksCannotShareAreCounted) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_resources()->set_ranks(2);
  spec.mutable_training()->set_micro_batch_size(64);
  EXPECT_THAT(std::string(ResolveTrainSpec(spec).status().message()),
              HasSubstr("makes 1 pass of a batch of 64, which 2 ranks"));
}

TEST(ResolveTest, ARanksPassIsItsShareOfTheBatchByDefault) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_resources()->set_ranks(4);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->training().micro_batch_size(), 16);
}

TEST(ResolveTest, RanksAreOnGpusAsOnCpus) {
  for (const char* device : {"cpu", "cuda"}) {
    EXPECT_THAT(FieldsOf([&](auto* spec) {
                  spec->mutable_resources()->set_ranks(2);
                  spec->mutable_resources()->set_device(device);
                }),
                IsEmpty())
        << device;
  }
}

TEST(ResolveTest, WhatIsAskedOfAMachineIsKept) {
  v1::TrainSpec spec = Minimal();
  v1::Resources& asked = *spec.mutable_resources();
  asked.set_devices(64);
  asked.set_device_memory_bytes(int64_t{1} << 50);
  asked.set_cpus(1024);
  asked.set_memory_bytes(int64_t{1} << 50);
  (*asked.mutable_labels())["zone"] = "north";
  asked.set_exclusive(true);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->resources().devices(), 64);
  EXPECT_EQ(resolved->resources().device_memory_bytes(), int64_t{1} << 50);
  EXPECT_EQ(resolved->resources().cpus(), 1024);
  EXPECT_EQ(resolved->resources().memory_bytes(), int64_t{1} << 50);
  EXPECT_EQ(resolved->resources().labels().at("zone"), "north");
  EXPECT_TRUE(resolved->resources().exclusive());
}

TEST(ResolveTest, WhatAsksNothingOfAMachineSaysNothingOfIt) {
  v1::TrainSpec says = Minimal();
  v1::Resources& asked = *says.mutable_resources();
  asked.set_devices(1);
  asked.set_device_memory_bytes(0);
  asked.set_cpus(0);
  asked.set_memory_bytes(0);
  asked.set_exclusive(false);
  for (const v1::TrainSpec& spec : {Minimal(), says}) {
    const auto resolved = ResolveTrainSpec(spec);
    ORDO_ASSERT_OK(resolved);
    EXPECT_EQ(resolved->resources().ShortDebugString(),
              "ranks: 1 device: \"cpu\" threads: 2");
  }
}

TEST(ResolveTest, WhatIsAskedOfAMachineHasBounds) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                v1::Resources& resources = *spec->mutable_resources();
                resources.set_devices(0);
                resources.set_device_memory_bytes(-1);
                resources.set_cpus(-1);
                resources.set_memory_bytes(-1);
              }),
              ElementsAre("resources.devices", "resources.device_memory_bytes",
                          "resources.cpus", "resources.memory_bytes"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                v1::Resources& resources = *spec->mutable_resources();
                resources.set_devices(65);
                resources.set_device_memory_bytes((int64_t{1} << 50) + 1);
                resources.set_cpus(1025);
                resources.set_memory_bytes((int64_t{1} << 50) + 1);
              }),
              ElementsAre("resources.devices", "resources.device_memory_bytes",
                          "resources.cpus", "resources.memory_bytes"));
  EXPECT_THAT(
      MessageOf([](auto* spec) { spec->mutable_resources()->set_devices(65); }),
      HasSubstr("resources.devices: must be 1..64, is 65"));
}

TEST(ResolveTest, LabelsThatNoWorkerCanHaveAreNamed) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                auto& labels = *spec->mutable_resources()->mutable_labels();
                labels["zone"] = std::string(64, 'v');
                labels["a b"] = "v";
              }),
              ElementsAre("resources.labels", "resources.labels.zone"));
  EXPECT_THAT(FieldsOf([](auto* spec) {
                auto& labels = *spec->mutable_resources()->mutable_labels();
                for (int i = 0; i < 65; ++i) labels["k" + std::to_string(i)];
              }),
              ElementsAre("resources.labels"));
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

TEST(ResolveTest, EncodingsCombineAsTheCatalogueSays) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_encoding()->set_name("tape");
                spec->mutable_encoding()->add_with()->set_name("rope");
              }),
              IsEmpty());
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_encoding()->set_name("tape");
                spec->mutable_encoding()->add_with()->set_name("none");
              }),
              ElementsAre("encoding.with[0].name"));
}

TEST(ResolveTest, EvaluationIsAtTheEndUnlessEveryStepsSaysMore) {
  v1::TrainSpec spec = Minimal();
  spec.add_evaluations()->set_task("addition_grid");
  v1::Evaluation* often = spec.add_evaluations();
  often->set_task("addition_grid");
  often->set_name("often");
  often->set_every_steps(5);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->evaluations(0).at(), "end");
  EXPECT_EQ(resolved->evaluations(0).name(), "addition_grid");
  EXPECT_EQ(resolved->evaluations(0).seed(), 1u);
  EXPECT_EQ(resolved->evaluations(1).at(), "");
}

TEST(ResolveTest, EvaluationsAreRefusedByField) {
  EXPECT_THAT(
      FieldsOf([](v1::TrainSpec* spec) {
        v1::Evaluation* both = spec->add_evaluations();
        both->set_task("addition_grid");
        both->set_at("end");
        both->set_every_steps(5);
        v1::Evaluation* never = spec->add_evaluations();
        never->set_task("addition_grid");
        never->set_name("never");
        never->set_every_steps(0);
        v1::Evaluation* same = spec->add_evaluations();
        same->set_task("addition_grid");
        v1::Evaluation* path = spec->add_evaluations();
        path->set_task("addition_grid");
        path->set_name("../x");
        v1::Evaluation* unknown = spec->add_evaluations();
        unknown->set_task("Addition grid");
        v1::Evaluation* samples = spec->add_evaluations();
        samples->set_task("addition_grid");
        samples->set_name("samples");
        (*samples->mutable_params())["samples"].set_number_value(0);
        (*samples->mutable_params())["sampels"].set_number_value(1);
      }),
      ElementsAre("evaluations[0].at", "evaluations[1].every_steps",
                  "evaluations[2].name", "evaluations[3].name",
                  "evaluations[4].task", "evaluations[5].params.sampels",
                  "evaluations[5].params.samples"));
}

TEST(ResolveTest, NumberOfEvaluationsIsLimited) {
  const auto add = [](int count) {
    return [count](v1::TrainSpec* spec) {
      for (int i = 0; i < count; ++i) {
        v1::Evaluation* evaluation = spec->add_evaluations();
        evaluation->set_task("addition_grid");
        evaluation->set_name("e" + std::to_string(i));
      }
    };
  };
  EXPECT_THAT(FieldsOf(add(kMaxEvaluations)), IsEmpty());
  EXPECT_THAT(FieldsOf(add(kMaxEvaluations + 1)), ElementsAre("evaluations"));
}

TEST(ResolveTest, TaskOfTheWrongKindIsRefused) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_data()->set_task("addition_grid");
                spec->add_evaluations()->set_task("addition");
              }),
              ElementsAre("data.task", "evaluations[0].task"));
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

TEST(ResolveTest, TrainSpecNamesNoCheckpointOfAJob) {
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_from("jobs/a");
              }),
              HasSubstr("model.from: is for jobs"));
}

// Of an evaluation with these parameters.
std::vector<base::FieldViolation> ViolationsOfItems(
    const std::string& task,
    const std::vector<std::pair<std::string, double>>& params) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_model()->set_vocabulary_size(300);
  v1::Evaluation* evaluation = spec.add_evaluations();
  evaluation->set_task(task);
  for (const auto& [name, value] : params) {
    (*evaluation->mutable_params())[name].set_number_value(value);
  }
  return base::FieldViolations(ResolveTrainSpec(spec).status());
}

TEST(ResolveTest, AnEvaluationHasNoMoreItemsThanMemoryHolds) {
  // The largest of the published ones.
  EXPECT_THAT(ViolationsOfItems("addition_grid",
                                {{"max_digits", 80}, {"samples", 100}}),
              IsEmpty());
  EXPECT_THAT(ViolationsOfItems("addition_grid",
                                {{"max_digits", 100}, {"samples", 100}}),
              IsEmpty());
  const auto violations = ViolationsOfItems(
      "addition_grid", {{"max_digits", 100}, {"samples", 101}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.samples");
  EXPECT_EQ(
      violations[0].description,
      "of 101 makes 1010000 items of up to 303 tokens; at most 1000000 of "
      "such are possible: give at most 100");
}

TEST(ResolveTest, NorMoreOrLongerRows) {
  EXPECT_THAT(ViolationsOfItems("selective_copy", {{"samples", 1000000}}),
              IsEmpty());
  auto violations = ViolationsOfItems(
      "selective_copy", {{"symbols", 65536}, {"samples", 1000000}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.samples");
  EXPECT_THAT(violations[0].description, HasSubstr("give at most 7614"));
  violations = ViolationsOfItems("addition_grid",
                                 {{"max_digits", 1000}, {"samples", 1}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_THAT(violations[0].description,
              HasSubstr("possible: make the grid smaller"));
}

// Trains a model that sees what comes later on a task whose answers it can read
// in place.
void MakeBidirectional(v1::TrainSpec* spec) {
  spec->mutable_model()->set_causal(false);
  spec->mutable_data()->set_task("ruoss");
  spec->mutable_data()->clear_params();
  spec->clear_evaluations();
}

// Of a model that sees what comes later.
std::vector<std::string> FieldsWithoutCausal(const std::string& task,
                                             const std::string& layout = "") {
  return FieldsOf([&](v1::TrainSpec* spec) {
    MakeBidirectional(spec);
    spec->mutable_model()->set_vocabulary_size(200);
    v1::Evaluation* evaluation = spec->add_evaluations();
    evaluation->set_task(task);
    if (layout.empty()) return;
    (*evaluation->mutable_params())["layout"].set_string_value(layout);
  });
}

TEST(ResolveTest, AModelThatIsNotCausalAnswersInPlaceOnly) {
  EXPECT_THAT(FieldsWithoutCausal("addition_grid"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("flip_flop"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("selective_copy"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("selective_copy", "markers"), IsEmpty());
  EXPECT_THAT(FieldsWithoutCausal("ruoss"), IsEmpty());
}

// Fields of a spec that trains such a model on the task.
std::vector<std::string> FieldsOfTraining(const std::string& task,
                                          const std::string& layout = "") {
  return FieldsOf([&](v1::TrainSpec* spec) {
    MakeBidirectional(spec);
    spec->mutable_data()->set_task(task);
    if (layout.empty()) return;
    (*spec->mutable_data()->mutable_params())["layout"].set_string_value(
        layout);
  });
}

TEST(ResolveTest, NorDoesItLearnFromNextTokens) {
  EXPECT_THAT(FieldsOfTraining("addition"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("flip_flop"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("selective_copy"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("selective_copy", "markers"), IsEmpty());
  EXPECT_THAT(FieldsOfTraining("ruoss"), IsEmpty());
  EXPECT_THAT(FieldsOfTraining("selective_copy", "backwards"),
              ElementsAre("data.params.layout"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_causal(false);
              }),
              HasSubstr("leave out model.causal, or take a task whose answers "
                        "are read in place, such as ruoss"));
}

TEST(ResolveTest, AWrongParameterIsNotTakenForAnAnswerTokenByToken) {
  EXPECT_THAT(FieldsWithoutCausal("selective_copy", "backwards"),
              ElementsAre("evaluations[0].params.layout"));
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
