#include "services/spec/resolve_job_spec.h"

#include <functional>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using base::testing::StatusIs;
using ordo::jobs::v1::JobSpec;
using ::testing::AllOf;
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
                         spec->set_queue("fast");
                         spec->mutable_retry()->set_max_attempts(0);
                         spec->mutable_data()->set_task("multiplication");
                         spec->mutable_encoding()->set_name("roap");
                         (*spec->mutable_encoding()->mutable_params())["x"]
                             .set_number_value(1);
                         spec->mutable_training()->set_batch_size(10);
                         spec->mutable_training()->set_micro_batch_size(3);
                         spec->mutable_resources()->set_ranks(4);
                         spec->mutable_resources()->set_device("cuda0");
                         spec->set_start_from("somewhere");
                       }),
              ElementsAre("name", "queue", "retry.max_attempts", "data.task",
                          "encoding.name", "training.micro_batch_size",
                          "start_from", "resources.ranks", "resources.device"));
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
                         spec->mutable_encoding();
                         spec->mutable_data();
                         spec->mutable_training();
                         spec->mutable_checkpoint();
                         spec->set_start_from("jobs/a");
                         spec->mutable_evaluations(0)->set_every_steps(3);
                       }),
              ElementsAre("model", "encoding", "data", "training", "checkpoint",
                          "start_from", "evaluations[0].every_steps"));
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
  spec.set_queue("fast");
  EXPECT_THAT(
      ResolveJobSpec(spec),
      StatusIs(absl::StatusCode::kInvalidArgument,
               ::testing::AllOf(HasSubstr("did you mean 'tape'?"),
                                HasSubstr("only 'default' exists today"))));
}

}  // namespace
}  // namespace ordo::services::spec
