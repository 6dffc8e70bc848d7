#include "services/spec/resolve_job_spec.h"

#include <functional>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "services/spec/single_job.h"
#include "services/spec/spec_size.h"

namespace ordo::services::spec {
namespace {

using base::testing::StatusIs;
using ordo::jobs::v1::JobSpec;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

JobSpec Train() {
  JobSpec spec;
  spec.set_kind(JobSpec::TRAIN);
  spec.set_name("addition-rope");
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_data()->set_task("addition");
  spec.mutable_training()->set_steps(10);
  spec.add_evaluations()->set_task("addition_grid");
  return spec;
}

JobSpec Evaluate() {
  JobSpec spec;
  spec.set_kind(JobSpec::EVALUATE);
  spec.set_name("again");
  spec.add_checkpoints("jobs/addition-rope");
  spec.add_evaluations()->set_task("addition_grid");
  return spec;
}

std::vector<std::string> FieldsOf(JobSpec spec,
                                  const std::function<void(JobSpec*)>& change) {
  change(&spec);
  std::vector<std::string> fields;
  const auto resolved = ResolveJobSpec(spec);
  for (const auto& violation : base::FieldViolations(resolved.status())) {
    fields.push_back(violation.field);
  }
  return fields;
}

TEST(ResolveJobSpecTest, TrainGetsEveryDefault) {
  const auto spec = ResolveJobSpec(Train());
  ORDO_ASSERT_OK(spec);
  EXPECT_EQ(spec->queue(), "default");
  EXPECT_EQ(spec->retry().max_attempts(), 3);
  EXPECT_EQ(spec->retry().step_timeout().seconds(), 600);
  EXPECT_EQ(spec->model().preset(), "tiny");
  EXPECT_EQ(spec->model().vocabulary_size(), 19);
  EXPECT_EQ(spec->checkpoint().keep(), 3);
  EXPECT_EQ(spec->resources().device(), "cpu");
  EXPECT_EQ(spec->evaluations(0).at(), "end");
}

TEST(ResolveJobSpecTest, EvaluateGetsNoTrainingFields) {
  const auto spec = ResolveJobSpec(Evaluate());
  ORDO_ASSERT_OK(spec);
  EXPECT_FALSE(spec->has_model());
  EXPECT_FALSE(spec->has_training());
  EXPECT_FALSE(spec->has_checkpoint());
  EXPECT_EQ(spec->evaluations(0).at(), "");
  EXPECT_EQ(spec->evaluations(0).name(), "addition_grid");
  EXPECT_EQ(spec->resources().threads(), 2);
}

TEST(ResolveJobSpecTest, OnlyEvaluationsAreMadeAgain) {
  JobSpec spec = Evaluate();
  spec.set_again(true);
  const auto resolved = ResolveJobSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_TRUE(resolved->again());
  spec = Train();
  spec.set_again(false);
  const auto violations = base::FieldViolations(ResolveJobSpec(spec).status());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "again");
}

TEST(ResolveJobSpecTest, ResolvingTwiceChangesNothing) {
  JobSpec continued = Train();
  continued.set_start_from("jobs/other/checkpoints/latest");
  (*continued.mutable_labels())["team"] = "a b";
  continued.mutable_retry()->mutable_step_timeout()->set_seconds(5);
  for (const JobSpec& spec : {Train(), Evaluate(), continued}) {
    const auto once = ResolveJobSpec(spec);
    ORDO_ASSERT_OK(once);
    const auto twice = ResolveJobSpec(*once);
    ORDO_ASSERT_OK(twice);
    EXPECT_TRUE(
        google::protobuf::util::MessageDifferencer::Equals(*once, *twice));
  }
}

// An encoding, what else the job says, and how it is refused: the field and
// what is in its message.
struct Refusal {
  std::string encoding;
  std::string job;
  std::string field;
  std::string message;
  std::string data = "{task: addition}";
};

const std::vector<Refusal>& Refusals() {
  static const auto* const refusals = new std::vector<Refusal>{
      // Names, with the nearest.
      {"{name: rop}", "", "encoding.name", "did you mean 'rope'?"},
      {"{name: kerple}", "", "encoding.name", "did you mean 'kerple_log'?"},
      {"{name: spherical}", "", "encoding.name", "valid: abacus, alibi"},
      {"{name: rope, params: {bse: 5}}", "", "encoding.params.bse",
       "did you mean 'base'?"},
      {"{name: alibi, params: {slope: 1}}", "", "encoding.params.slope",
       "no such parameter of encoding alibi, which takes none"},
      {"{name: rope, params: {layout: split}}", "", "encoding.params.layout",
       "'split' is not one of half_split, interleaved"},
      {"{name: rope, with: [{name: alibbi}]}", "", "encoding.with[0].name",
       "rope cannot be combined with 'alibbi'; did you mean 'alibi'?"},
      {"{name: rope}", "", "data.task",
       "no training task is called 'additon'; did you mean 'addition'?",
       "{task: additon}"},
      {"{name: rope}", "", "data.params.max_digts",
       "no such parameter of training task addition; did you mean "
       "'max_digits'?",
       "{task: addition, params: {max_digts: 5}}"},
      {"{name: rope}", "evaluations: [{task: addition_gird}]",
       "evaluations[0].task",
       "no evaluation task is called 'addition_gird'; did you mean "
       "'addition_grid'?"},
      {"{name: rope}",
       "evaluations: [{task: addition_grid, params: {sample: 5}}]",
       "evaluations[0].params.sample",
       "no such parameter of evaluation task addition_grid; did you mean "
       "'samples'?"},
      // Values.
      {"{name: yarn, params: {factor: 0.5}}", "", "encoding.params.factor",
       "must be 1..1000000, is 0.5"},
      {"{name: rope, params: {base: big}}", "", "encoding.params.base",
       "must be of type number, is a string"},
      {"{name: shaw, params: {max_distance: 1.5}}", "",
       "encoding.params.max_distance", "must be an integer, is 1.5"},
      {"{name: rope, with: [{name: t5, params: {buckets: 2}}]}", "",
       "encoding.with[0].params.buckets", "must be 4..4096, is 2"},
      // Heads.
      {"{name: rope}", "model: {width: 60, heads: 4}", "model.heads",
       "width / heads must be even, is 60 / 4 = 15"},
      {"{name: rope}", "model: {heads: 4, head_width: 9}", "model.head_width",
       "must be even, is 9"},
      {"{name: rope, params: {partial: 0.3}}", "", "encoding.params.partial",
       "gives 9 of 32 channels to turn; the number must be even"},
      {"{name: rope_2d}", "model: {width: 24, heads: 4}",
       "encoding.params.partial",
       "gives 6 of 6 channels to turn; the number must be a multiple of 4"},
      {"{name: rope}", "model: {heads: 3}", "model.width",
       "must be a multiple of heads, is 128 with 3 heads; or set head_width"},
      {"{name: rope}", "model: {heads: 4, key_value_heads: 3}",
       "model.key_value_heads", "must divide heads, is 3 with 4 heads"},
      {"{name: tape, params: {reading: released}}",
       "model: {heads: 4, key_value_heads: 2}", "encoding.params.reading",
       "has 2 for 4; leave out model.key_value_heads"},
      {"{name: tener}", "model: {width: 128, heads: 64}", "encoding.name",
       "lower model.heads"},
      // Lengths.
      {"{name: learned, params: {max_length: 17}}", "",
       "data.params.max_digits",
       "rows have up to 18 tokens, the encoding has room for 17; raise the "
       "encoding's limit or make the rows shorter"},
      {"{name: learned, params: {max_length: 32}}",
       "evaluations: [{task: addition_grid, params: {max_digits: 10}}]",
       "evaluations[0].params.max_digits",
       "up to 33 tokens, the encoding has room for 32"},
      {"{name: random_positions, params: {max_position: 99}, with: [{name: "
       "learned, params: {max_length: 50}}]}",
       "", "encoding.params.max_position", "learned has room for 50 positions"},
      // Lists.
      {"{name: longrope, params: {long_factors: [1, 2]}}", "",
       "encoding.params.long_factors", "has 2 numbers; needs 16"},
      {"{name: longrope, params: {short_factors: [1, x]}}", "",
       "encoding.params.short_factors", "element 1 must be a number"},
      {"{name: rope_mixed_base, params: {lambdas: [1]}}", "",
       "encoding.params.lambdas", "has 1 numbers; needs 16"},
      // Pairs.
      {"{name: rope, with: [{name: shaw}]}", "", "encoding.with[0].name",
       "rope cannot be combined with 'shaw'"},
      {"{name: rope, with: [{name: alibi}, {name: t5}]}", "", "encoding.with",
       "rope takes at most 1, not 'alibi' and 't5'; possible: alibi, cope"},
      {"{name: rope, with: [{name: cope, with: [{name: shaw}]}]}", "",
       "encoding.with[0].with[0].name",
       "shaw cannot be combined with 'rope' and 'cope'"},
      {"{name: tape, with: [{name: rope, with: [{name: rope_bias}]}]}", "",
       "encoding.with[0].with[0].name",
       "rope_bias cannot be combined with 'tape' and 'rope'"},
      {"{name: tape, with: [{name: xpos}]}", "", "encoding.with[0].name",
       "tape cannot be combined with 'xpos'; possible: linear, ntk, rope, "
       "yarn"},
      {"{name: abacus, with: [{name: rope}]}", "", "encoding.with",
       "abacus cannot be combined with 'rope'; it takes no others"},
      {"{name: rope, with: [{name: abacus}]}", "", "encoding.with[0].name",
       "rope cannot be combined with 'abacus'"},
      {"{name: per_layer, with: [{name: rope}, {name: tape}]}", "",
       "encoding.with[1].name", "per_layer cannot be combined with 'tape'"},
      {"{name: random_positions, with: [{name: none}]}", "",
       "encoding.with[0].name",
       "random_positions cannot be combined with "
       "'none'"},
      {"{name: cope}", "model: {causal: false}", "encoding.name",
       "is defined under a causal mask only; leave out model.causal",
       "{task: ruoss}"},
      {"{name: rope}",
       "model: {causal: false, vocabulary_size: 19}, "
       "evaluations: [{task: addition_grid}]",
       "evaluations[0].task",
       "cannot; leave out model.causal or the evaluation", "{task: ruoss}"},
      {"{name: rope}", "model: {causal: false}", "data.task",
       "addition is learned from next tokens, which a model with causal: false "
       "sees before it says them; leave out model.causal, or take a task whose "
       "answers are read in place"},
      // Devices, by their other name.
      {"{name: rope}", "resources: {device: gpu}", "resources.device",
       "must be one of cpu, cuda, is 'gpu'; did you mean 'cuda'?"},
      // Memories.
      {"{name: rope, params: {memory_length: 64}}", "",
       "encoding.params.memory_length",
       "no such parameter of encoding rope; it is one of transformer_xl: leave "
       "it out or take that encoding"},
      {"{name: transformer_xl, params: {memory_length: 64}}", "",
       "encoding.params.memory_length", "needs segments; give segment_length"},
      {"{name: per_layer, with: [{name: rope}, {name: transformer_xl, params: "
       "{segment_length: 8, memory_length: 8}}]}",
       "", "encoding.with[1].name", "leave out segment_length"},
  };
  return *refusals;
}

TEST(ResolveJobSpecTest, EncodingsThatCannotBeAreRefusedByFieldWithAFix) {
  for (const Refusal& refusal : Refusals()) {
    JobSpec spec;
    ORDO_ASSERT_OK(base::ReadMessage(
        "{kind: train, name: a, training: {steps: 1}, data: " + refusal.data +
            ", encoding: " + refusal.encoding + ", " + refusal.job + "}",
        base::TextForm::kYaml, &spec));
    const auto violations =
        base::FieldViolations(ResolveJobSpec(spec).status());
    ASSERT_EQ(violations.size(), 1u) << refusal.encoding;
    EXPECT_EQ(violations[0].field, refusal.field) << refusal.encoding;
    EXPECT_THAT(violations[0].description, HasSubstr(refusal.message))
        << refusal.encoding;
  }
}

TEST(ResolveJobSpecTest, EncodingsCombineAsTheirDefinitionsAllow) {
  for (const char* encoding : {
           "{name: rope, with: [{name: none}]}",
           "{name: rope, params: {partial: 0.5}, with: [{name: cope}]}",
           "{name: yarn, with: [{name: rope_bias}]}",
           "{name: rope_bias, with: [{name: yarn}]}",
           "{name: theta, with: [{name: alibi}]}",
           "{name: rope_bias, with: [{name: cope}]}",
           "{name: cope, with: [{name: rope}]}",
           "{name: cope, with: [{name: shaw}]}",
           "{name: tape, with: [{name: yarn}]}",
           "{name: tape, params: {start: random_fourier}}",
           "{name: random_positions, with: [{name: tape}]}",
           "{name: random_positions, with: [{name: rope, with: [{name: "
           "cope}]}]}",
           "{name: per_layer, with: [{name: rope}, {name: rope}, {name: rope}, "
           "{name: none}]}",
       }) {
    JobSpec spec = Train();
    spec.clear_evaluations();
    ORDO_ASSERT_OK(base::ReadMessage(encoding, base::TextForm::kYaml,
                                     spec.mutable_encoding()));
    ORDO_EXPECT_OK(ResolveJobSpec(spec)) << encoding;
  }
}

TEST(ResolveJobSpecTest, EmptySpecMissesNameAndKind) {
  EXPECT_THAT(FieldsOf({}, [](JobSpec*) {}), ElementsAre("name", "kind"));
}

TEST(ResolveJobSpecTest, UnknownKindIsRefused) {
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->set_kind(static_cast<JobSpec::Kind>(77));
                       }),
              ElementsAre("kind"));
}

TEST(ResolveJobSpecTest, EveryViolationIsReportedAtOnce) {
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->set_name("Addition");
                         spec->set_queue("Fast");
                         spec->mutable_retry()->set_max_attempts(0);
                         spec->mutable_data()->set_task("division");
                         spec->mutable_encoding()->set_name("roap");
                         (*spec->mutable_encoding()->mutable_params())["x"]
                             .set_number_value(1);
                         spec->mutable_training()->set_batch_size(10);
                         spec->mutable_training()->set_micro_batch_size(3);
                         spec->mutable_resources()->set_ranks(5000);
                         spec->mutable_resources()->set_device("cuda0");
                         spec->set_start_from("somewhere");
                       }),
              ElementsAre("name", "queue", "retry.max_attempts", "data.task",
                          "encoding.name", "training.micro_batch_size",
                          "resources.ranks", "resources.device", "start_from"));
}

TEST(ResolveJobSpecTest, ATrainingMayHaveSeveralRanks) {
  JobSpec spec = Train();
  spec.mutable_training()->set_batch_size(64);
  spec.mutable_resources()->set_ranks(4);
  ORDO_ASSERT_OK_AND_ASSIGN(const JobSpec resolved, ResolveJobSpec(spec));
  EXPECT_EQ(resolved.resources().ranks(), 4);
  EXPECT_EQ(resolved.training().micro_batch_size(), 16);
}

TEST(ResolveJobSpecTest, OtherJobsHaveOneRank) {
  JobSpec benchmark;
  benchmark.set_name("bench");
  benchmark.set_kind(JobSpec::BENCHMARK);
  for (const JobSpec& spec : {Evaluate(), benchmark}) {
    EXPECT_THAT(FieldsOf(spec,
                         [](JobSpec* changed) {
                           changed->mutable_resources()->set_ranks(2);
                         }),
                ElementsAre("resources.ranks"));
  }
}

TEST(ResolveJobSpecTest, JobsOfEveryKindAskForMachines) {
  JobSpec benchmark;
  benchmark.set_name("bench");
  benchmark.set_kind(JobSpec::BENCHMARK);
  for (JobSpec spec : {Train(), Evaluate(), benchmark}) {
    ORDO_ASSERT_OK(base::ReadMessage(
        "{devices: 2, device_memory_bytes: 1000, cpus: 3, memory_bytes: 4000, "
        "labels: {zone: north}, exclusive: true}",
        base::TextForm::kYaml, spec.mutable_resources()));
    ORDO_ASSERT_OK_AND_ASSIGN(const JobSpec resolved, ResolveJobSpec(spec));
    EXPECT_EQ(resolved.resources().devices(), 2);
    EXPECT_EQ(resolved.resources().labels().at("zone"), "north");
    EXPECT_TRUE(resolved.resources().exclusive());
    EXPECT_THAT(FieldsOf(spec,
                         [](JobSpec* changed) {
                           changed->mutable_resources()->set_cpus(1025);
                         }),
                ElementsAre("resources.cpus"));
  }
}

TEST(ResolveJobSpecTest, WhatIsAskedOfMachinesChangesNothingElse) {
  JobSpec asks = Train();
  asks.mutable_resources()->set_devices(2);
  asks.mutable_resources()->set_cpus(3);
  asks.mutable_resources()->set_exclusive(true);
  ORDO_ASSERT_OK_AND_ASSIGN(JobSpec resolved, ResolveJobSpec(asks));
  ORDO_ASSERT_OK_AND_ASSIGN(JobSpec plain, ResolveJobSpec(Train()));
  resolved.clear_resources();
  plain.clear_resources();
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(resolved, plain));
}

TEST(ResolveJobSpecTest, AKernelThatCannotBeTakenIsRefused) {
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->clear_evaluations();
                         spec->mutable_training()->set_kernel("cuda_tiled");
                         spec->add_evaluations()->set_task("addition_grid");
                         spec->mutable_evaluations(0)->set_kernel("fast");
                       }),
              ElementsAre("training.kernel", "evaluations[0].kernel"));
}

TEST(ResolveJobSpecTest, WhatNoKernelComputesIsNoticed) {
  JobSpec spec = Train();
  spec.mutable_encoding()->Clear();
  spec.mutable_encoding()->set_name("cope");
  spec.clear_evaluations();
  EXPECT_THAT(NoticesOf(*ResolveJobSpec(spec)), IsEmpty());
  spec.mutable_training()->set_kernel("reference");
  const auto notices = NoticesOf(*ResolveJobSpec(spec));
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_THAT(notices[0], HasSubstr("training under cope takes plain "
                                    "operations"));
}

TEST(ResolveJobSpecTest, ATokenizersFileAndTheDefaultVocabularyAreNoticed) {
  JobSpec spec = Train();
  spec.clear_evaluations();
  auto& data = *spec.mutable_data();
  data.set_task("text");
  auto& params = *data.mutable_params();
  params["data"].mutable_list_value()->add_values()->set_string_value("books");
  params["tokenizer"].set_string_value("mine/t.model");
  const auto resolved = ResolveJobSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_THAT(NoticesOf(*resolved),
              Contains(AllOf(HasSubstr("model.vocabulary_size is 32000"),
                             HasSubstr("mine/t.model"))));
  spec.mutable_model()->set_vocabulary_size(400);
  EXPECT_THAT(NoticesOf(*ResolveJobSpec(spec)), IsEmpty());
  spec.mutable_model()->clear_vocabulary_size();
  params["tokenizer"].set_string_value("bytes");
  EXPECT_THAT(NoticesOf(*ResolveJobSpec(spec)), IsEmpty());
}

TEST(ResolveJobSpecTest, ABenchmarkTakesNothingOfTheOtherKinds) {
  JobSpec spec;
  spec.set_name("bench");
  spec.set_kind(JobSpec::BENCHMARK);
  const auto resolved = ResolveJobSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->benchmark().shapes_size(), 5);
  EXPECT_EQ(resolved->resources().threads(), 2);
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_benchmark()->add_classes("rop");
  EXPECT_THAT(FieldsOf(spec, [](JobSpec*) {}),
              ElementsAre("encoding", "benchmark.classes[0]"));
  EXPECT_THAT(
      FieldsOf(Train(), [](JobSpec* train) { train->mutable_benchmark(); }),
      ElementsAre("benchmark"));
}

TEST(ResolveJobSpecTest, AnEncodingThatDoesNotFitTheHeadsIsRefused) {
  EXPECT_THAT(
      FieldsOf(Train(),
               [](JobSpec* spec) {
                 (*spec->mutable_encoding()->mutable_params())["partial"]
                     .set_number_value(0.3);
               }),
      ElementsAre("encoding.params.partial"));
}

TEST(ResolveJobSpecTest, NamesAreDnsLabels) {
  for (const char* name :
       {"Addition", "1a", "a_b", "a.b", "a/b", "a-", "..", "a b"}) {
    EXPECT_THAT(
        FieldsOf(Train(), [name](JobSpec* spec) { spec->set_name(name); }),
        ElementsAre("name"))
        << name;
  }
  EXPECT_THAT(
      FieldsOf(Train(),
               [](JobSpec* spec) { spec->set_name(std::string(64, 'a')); }),
      ElementsAre("name"));
  EXPECT_THAT(
      FieldsOf(Train(),
               [](JobSpec* spec) { spec->set_name(std::string(63, 'a')); }),
      IsEmpty());
}

TEST(ResolveJobSpecTest, LabelsAreLimited) {
  const auto with = [](const std::string& key, const std::string& value) {
    return FieldsOf(Train(), [&](JobSpec* spec) {
      (*spec->mutable_labels())[key] = value;
    });
  };
  EXPECT_THAT(with("team/unit.a_b-c", "Größe: 3"), IsEmpty());
  EXPECT_THAT(with(std::string(63, 'k'), std::string(63, 'v')), IsEmpty());
  EXPECT_THAT(with("", "v"), ElementsAre("labels"));
  EXPECT_THAT(with("a b", "v"), ElementsAre("labels"));
  EXPECT_THAT(with(std::string(64, 'k'), "v"), ElementsAre("labels"));
  EXPECT_THAT(with("k", std::string(64, 'v')), ElementsAre("labels.k"));
  EXPECT_THAT(with("k", "a\nb"), ElementsAre("labels.k"));

  const auto many = [](int count) {
    return FieldsOf(Train(), [count](JobSpec* spec) {
      for (int i = 0; i < count; ++i) {
        (*spec->mutable_labels())["k" + std::to_string(i)] = "v";
      }
    });
  };
  EXPECT_THAT(many(kMaxLabels), IsEmpty());
  EXPECT_THAT(many(kMaxLabels + 1), ElementsAre("labels"));
}

TEST(ResolveJobSpecTest, StepTimeoutIsOneSecondToOneDay) {
  const auto with = [](int64_t seconds, int32_t nanos) {
    return FieldsOf(Train(), [&](JobSpec* spec) {
      auto* timeout = spec->mutable_retry()->mutable_step_timeout();
      timeout->set_seconds(seconds);
      timeout->set_nanos(nanos);
    });
  };
  EXPECT_THAT(with(1, 0), IsEmpty());
  EXPECT_THAT(with(1, 500'000'000), IsEmpty());
  EXPECT_THAT(with(86400, 0), IsEmpty());
  for (const auto& [seconds, nanos] :
       std::vector<std::pair<int64_t, int32_t>>{{0, 0},
                                                {0, 999'999'999},
                                                {-1, 0},
                                                {86400, 1},
                                                {5, -1},
                                                {5, 1'000'000'000}}) {
    EXPECT_THAT(with(seconds, nanos), ElementsAre("retry.step_timeout"))
        << seconds << " " << nanos;
  }
}

TEST(ResolveJobSpecTest, TrainRefusesFieldsOfEvaluate) {
  EXPECT_THAT(
      FieldsOf(Train(), [](JobSpec* spec) { spec->add_checkpoints("jobs/a"); }),
      ElementsAre("checkpoints"));
}

TEST(ResolveJobSpecTest, EvaluateRefusesFieldsOfTrain) {
  EXPECT_THAT(FieldsOf(Evaluate(),
                       [](JobSpec* spec) {
                         spec->mutable_model();
                         spec->mutable_data();
                         spec->mutable_training();
                         spec->mutable_checkpoint();
                         spec->set_start_from("jobs/a");
                         spec->mutable_evaluations(0)->set_every_steps(3);
                       }),
              ElementsAre("model", "data", "training", "checkpoint",
                          "start_from", "evaluations[0].every_steps"));
}

TEST(ResolveJobSpecTest, EveryCheckpointOfAJobStandsAlone) {
  JobSpec spec = Evaluate();
  spec.clear_checkpoints();
  spec.add_checkpoints("jobs/a/checkpoints/every");
  ORDO_EXPECT_OK(ResolveJobSpec(spec));
  EXPECT_THAT(FieldsOf(spec,
                       [](JobSpec* changed) {
                         changed->add_checkpoints("jobs/b");
                         changed->mutable_queue_time_limit()->set_seconds(5);
                       }),
              ElementsAre("checkpoints[0]", "queue_time_limit"));
}

TEST(ResolveJobSpecTest, EvaluateNeedsCheckpointsAndEvaluations) {
  EXPECT_THAT(FieldsOf(Evaluate(),
                       [](JobSpec* spec) {
                         spec->clear_checkpoints();
                         spec->clear_evaluations();
                       }),
              ElementsAre("checkpoints", "evaluations"));
}

TEST(ResolveJobSpecTest, LatestCheckpointIsTheJobAlone) {
  JobSpec spec = Evaluate();
  spec.set_checkpoints(0, "jobs/a/checkpoints/latest");
  spec.add_checkpoints("jobs/b/checkpoints/200-1");
  const auto resolved = ResolveJobSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_THAT(resolved->checkpoints(),
              ElementsAre("jobs/a", "jobs/b/checkpoints/200-1"));
}

TEST(ResolveJobSpecTest, CheckpointReferencesAreChecked) {
  EXPECT_THAT(FieldsOf(Evaluate(),
                       [](JobSpec* spec) {
                         spec->clear_checkpoints();
                         for (const char* reference :
                              {"jobs/a/checkpoints/200-1", "a", "jobs/A",
                               "jobs/a/checkpoints/200", "jobs/a/reports/200-1",
                               "jobs/a/checkpoints/../../b", "",
                               "jobs/a/checkpoints/200-1"}) {
                           spec->add_checkpoints(reference);
                         }
                       }),
              ElementsAre("checkpoints[1]", "checkpoints[2]", "checkpoints[3]",
                          "checkpoints[4]", "checkpoints[5]", "checkpoints[6]",
                          "checkpoints[7]"));
}

TEST(ResolveJobSpecTest, NumberOfCheckpointsIsLimited) {
  const auto with = [](int count) {
    return FieldsOf(Evaluate(), [count](JobSpec* spec) {
      spec->clear_checkpoints();
      for (int i = 0; i < count; ++i) {
        spec->add_checkpoints("jobs/a/checkpoints/" + std::to_string(i) + "-1");
      }
    });
  };
  EXPECT_THAT(with(kMaxCheckpoints), IsEmpty());
  EXPECT_THAT(with(kMaxCheckpoints + 1), ElementsAre("checkpoints"));
}

TEST(ResolveJobSpecTest, LargeSpecIsRefusedBeforeItIsRead) {
  JobSpec spec = Train();
  (*spec.mutable_labels())["a"] = std::string(100, 'x');
  (*spec.mutable_encoding()->mutable_params())["x"].set_string_value(
      std::string(kMaxSpecBytes, 'x'));
  EXPECT_THAT(ResolveJobSpec(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("encoding: the spec has "),
                             HasSubstr("at most 1048576 are accepted: shorten "
                                       "this field"))));
}

TEST(ResolveJobSpecTest, WithoutAKindTheRestIsCheckedAsWhatItLooksLike) {
  const auto without_kind = [](JobSpec* spec) { spec->clear_kind(); };
  EXPECT_THAT(FieldsOf(Train(), without_kind), ElementsAre("kind"));
  EXPECT_THAT(FieldsOf(Evaluate(), without_kind), ElementsAre("kind"));
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->clear_kind();
                         spec->mutable_training()->set_steps(0);
                       }),
              ElementsAre("kind", "training.steps"));
  EXPECT_THAT(FieldsOf(Evaluate(),
                       [](JobSpec* spec) {
                         spec->clear_kind();
                         spec->set_checkpoints(0, "x");
                       }),
              ElementsAre("kind", "checkpoints[0]"));
}

TEST(ResolveJobSpecTest, MessagesSayWhatToDo) {
  JobSpec spec = Train();
  spec.mutable_encoding()->set_name("tpae");
  spec.set_queue("Fast");
  EXPECT_THAT(ResolveJobSpec(spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::AllOf(HasSubstr("did you mean 'tape'?"),
                                        HasSubstr("is 'Fast'"))));
}

TEST(ResolveJobSpecTest, AModelFromACheckpointStaysUntilItIsFilledIn) {
  JobSpec spec = Train();
  spec.clear_encoding();
  spec.mutable_model()->set_from("llama");
  const auto resolved = ResolveJobSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->model().from(), "jobs/llama");
  EXPECT_FALSE(resolved->model().has_layers());
  EXPECT_FALSE(resolved->has_encoding());
  EXPECT_EQ(resolved->training().batch_size(), 64);

  spec.mutable_encoding()->set_name("yarn");
  EXPECT_EQ(ResolveJobSpec(spec)->encoding().params().count("factor"), 1u);
  spec.mutable_model()->set_from("jobs/llama/checkpoints/7-0");
  spec.mutable_model()->set_from_sha256("aa");
  spec.mutable_model()->set_layers(2);
  EXPECT_EQ(ResolveJobSpec(spec)->model().vocabulary_size(), 19);
}

TEST(ResolveJobSpecTest, WhatASpecRefersToIsNotCheckedHere) {
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(Train())), IsEmpty());
  JobSpec from = Train();
  from.clear_model();
  from.mutable_model()->set_from("llama");
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(from)),
              ElementsAre(HasSubstr("model.from: jobs/llama is looked up")));
  JobSpec start = Train();
  start.set_start_from("jobs/b");
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(start)),
              ElementsAre(HasSubstr("start_from: jobs/b is looked up")));
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(Evaluate())),
              ElementsAre(HasSubstr("checkpoints[0]: jobs/addition")));
  JobSpec elsewhere = Train();
  elsewhere.set_queue("night");
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(elsewhere)),
              ElementsAre(HasSubstr("queue: night is looked up")));
  JobSpec needing = Train();
  needing.add_needs()->set_job("c");
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(needing)),
              ElementsAre(HasSubstr("needs[0]: jobs/c is looked up")));
  JobSpec reading = Train();
  reading.clear_evaluations();
  reading.add_evaluations()->set_task("text");
  reading.mutable_data()->set_task("text");
  auto& params = *reading.mutable_data()->mutable_params();
  params.clear();
  for (const char* path : {"books", "/srv/text"}) {
    params["data"].mutable_list_value()->add_values()->set_string_value(path);
  }
  EXPECT_THAT(UncheckedOf(*ResolveJobSpec(reading)),
              ElementsAre(HasSubstr("data.params.data[0]: books is looked up "
                                    "when the job is created"),
                          HasSubstr("data.params.data[1]: /srv/text is looked "
                                    "up by the worker")));
}

TEST(ResolveJobSpecTest, AModelFromACheckpointIsChecked) {
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->mutable_model()->set_from("jobs/a/b");
                       }),
              ElementsAre("model.from"));
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->mutable_model()->set_from_sha256("aa");
                       }),
              ElementsAre("model.from_sha256"));
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         spec->mutable_model()->set_from("a");
                         spec->set_start_from("jobs/b");
                       }),
              ElementsAre("start_from"));
  EXPECT_THAT(FieldsOf(Train(),
                       [](JobSpec* spec) {
                         auto* model = spec->mutable_model();
                         model->set_from("a");
                         model->set_from_sha256("aa");
                         model->set_layers(2);
                         model->set_vocabulary_size(7);
                       }),
              ElementsAre("model.vocabulary_size", "evaluations[0].task"));
}

TEST(ResolveJobSpecTest, AnEvaluationMayNameAnotherEncoding) {
  JobSpec spec = Evaluate();
  spec.mutable_encoding()->set_name("yarn");
  EXPECT_EQ(ResolveJobSpec(spec)->encoding().params().count("factor"), 1u);
  EXPECT_THAT(FieldsOf(spec,
                       [](JobSpec* each) {
                         each->mutable_encoding()->set_name("yan");
                       }),
              ElementsAre("encoding.name"));
}

TEST(ResolveJobSpecTest, ImportsAreMadeByUploadsOnly) {
  EXPECT_THAT(
      FieldsOf(Train(), [](JobSpec* spec) { spec->set_kind(JobSpec::IMPORT); }),
      ElementsAre("kind"));
}

}  // namespace
}  // namespace ordo::services::spec
