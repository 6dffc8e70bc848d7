#include "services/spec/expand.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "services/spec/resolve_job_spec.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using Violations = std::vector<base::FieldViolation>;
using testing::Compare;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kTrainStage;
using testing::kTwoArms;
using testing::OnlyWrong;
using testing::Pipeline;
using testing::Sweep;
using testing::Wrong;

TEST(ExpandTest, PartsHaveWhatTheTemplateLeavesOutFromTheirParent) {
  JobSpec spec = Compare(kTwoArms);
  spec.set_queue("night");
  spec.set_priority(7);
  spec.set_hold(true);
  (*spec.mutable_labels())["team"] = "a";
  (*spec.mutable_labels())["own"] = "parent";
  (*spec.mutable_compare()->mutable_run()->mutable_labels())["own"] = "part";
  spec.mutable_resources()->set_threads(4);
  spec.add_needs()->set_job("data");
  const auto made = Expand(spec);
  ORDO_ASSERT_OK(made);
  for (const Part& part : made->parts) {
    EXPECT_EQ(part.spec.queue(), "night");
    EXPECT_EQ(part.spec.priority(), 7);
    EXPECT_TRUE(part.spec.hold());
    EXPECT_EQ(part.spec.labels().at("team"), "a");
    EXPECT_EQ(part.spec.labels().at("own"), "part");
    EXPECT_EQ(part.spec.resources().threads(), 4);
    ASSERT_EQ(part.spec.needs_size(), 1);
    EXPECT_EQ(part.spec.needs(0).job(), "jobs/data");
  }
  spec.mutable_compare()->mutable_run()->mutable_resources()->set_threads(1);
  EXPECT_EQ(Expand(spec)->parts[0].spec.resources().threads(), 1);
}

TEST(ExpandTest, DeviceOfTheParentIsThatOfTheTemplate) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_resources()->set_device(
      "cuda");
  const auto made = Expand(spec);
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->spec.resources().device(), "cuda");
}

TEST(ExpandTest, DeviceOfTheParentIsThatOfOverrides) {
  const auto device_of = [](const std::string& values) {
    const auto made =
        Expand(Sweep("  seeds: [1]\n  matrix: {resources.device: {values: [" +
                     values + "]}}"));
    ORDO_EXPECT_OK(made);
    return made.ok() ? made->spec.resources().device() : "";
  };
  EXPECT_EQ(device_of("cuda"), "cuda");
  EXPECT_EQ(device_of("cuda, cpu"), "cpu");
}

TEST(ExpandTest, ResolvingWhatIsResolvedChangesNothing) {
  for (const JobSpec& spec :
       {Compare(kTwoArms), Sweep("  seeds: [1, 2]"), Pipeline(kTrainStage)}) {
    const auto once = Expand(spec);
    ORDO_ASSERT_OK(once);
    const auto twice = Expand(once->spec);
    ORDO_ASSERT_OK(twice);
    using google::protobuf::util::MessageDifferencer;
    EXPECT_TRUE(MessageDifferencer::Equals(once->spec, twice->spec));
    ASSERT_EQ(once->parts.size(), twice->parts.size());
    for (size_t i = 0; i < once->parts.size(); ++i) {
      const JobSpec& part = once->parts[i].spec;
      EXPECT_TRUE(MessageDifferencer::Equals(part, twice->parts[i].spec));
      const auto alone = ResolveJobSpec(part);
      ORDO_ASSERT_OK(alone);
      EXPECT_TRUE(MessageDifferencer::Equals(part, *alone));
    }
  }
}

TEST(ExpandTest, WhatTheTemplateHasWrongIsToldOnce) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_training()->set_steps(0);
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.training.steps: "));
  spec.mutable_compare()->mutable_run()->mutable_training()->set_steps(1);
  spec.mutable_compare()->mutable_run()->mutable_data()->set_task("adition");
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.data.task: "));
}

TEST(ExpandTest, FieldsWithoutMeaningAreRefused) {
  JobSpec spec = Compare(kTwoArms);
  spec.mutable_training()->set_steps(5);
  EXPECT_THAT(OnlyWrong(spec),
              HasSubstr("training: has no meaning with kind: compare; put it "
                        "into compare.run"));
  spec = Compare(kTwoArms);
  spec.mutable_sweep();
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("sweep: is for kind: sweep"));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->set_name("x");
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.name: "));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->set_kind(JobSpec::EVALUATE);
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.kind: must be train"));
  spec = Compare(kTwoArms);
  spec.mutable_compare()->mutable_run()->mutable_compare();
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("compare.run.compare: "));
}

TEST(ExpandTest, PartsThatAreTooLargeTogetherAreNotMade) {
  // Each spec is small enough for itself.
  const std::string large(200'000, 'x');
  JobSpec sweep = Sweep("  seeds: []");
  for (uint64_t seed = 0; seed < 500; ++seed) {
    sweep.mutable_sweep()->add_seeds(seed);
  }
  JobSpec of_run = sweep;
  (*of_run.mutable_sweep()->mutable_run()->mutable_labels())["a"] = large;
  EXPECT_THAT(OnlyWrong(of_run), HasSubstr("sweep.run: 500 runs have "));
  JobSpec of_parent = sweep;
  (*of_parent.mutable_labels())["a"] = large;
  EXPECT_THAT(Wrong(of_parent), Contains(HasSubstr("labels: 500 runs have ")));
  JobSpec of_needs = sweep;
  for (int i = 0; i < 5'000; ++i) {
    of_needs.add_needs()->set_job("jobs/a-job-with-a-name-" +
                                  std::to_string(i));
  }
  EXPECT_THAT(Wrong(of_needs), Contains(HasSubstr("needs: 500 runs have ")));
  auto& values = (*sweep.mutable_sweep()->mutable_matrix())["training.kernel"];
  values.add_values()->set_string_value(large);
  EXPECT_THAT(OnlyWrong(sweep), HasSubstr("sweep: 500 runs have "));
  JobSpec compare = Compare(kTwoArms);
  compare.mutable_compare()->clear_seeds();
  for (uint64_t seed = 0; seed < 100; ++seed) {
    compare.mutable_compare()->add_seeds(seed);
  }
  auto& set = *compare.mutable_compare()->mutable_arms(1)->mutable_set();
  set["training.kernel"].set_string_value(std::string(900'000, 'x'));
  EXPECT_THAT(OnlyWrong(compare), HasSubstr("compare: 200 runs have "));
}

TEST(ExpandTest, NamesOfPartsThatAreTooLongAreToldOnce) {
  JobSpec spec = Compare(kTwoArms);
  spec.set_name(std::string(60, 'c'));
  EXPECT_THAT(OnlyWrong(spec), HasSubstr("name: a part would be called"));
}

TEST(ExpandTest, WhatOnlySomeArmsGetWrongNamesThem) {
  // A learned table of positions is too short for what is asked.
  EXPECT_THAT(
      Wrong(Compare("  arms: [{name: a}, {name: b, set: {encoding: {name: "
                    "learned, params: {max_length: 8}}}}]")),
      Contains(
          ::testing::AllOf(HasSubstr("compare.run."), HasSubstr("(in b)"))));
}

TEST(ExpandTest, WhoKnowsMoreFillsInModelsOfCheckpoints) {
  JobSpec spec = Compare(
      "  arms: [{name: a, set: {training.steps: 7}}, {name: "
      "b}]\n  differs: [training.steps]");
  spec.mutable_compare()->mutable_run()->mutable_model()->set_from("jobs/gone");
  PartFillers fillers;
  fillers.model = [](JobSpec* part, Violations* violations) {
    violations->push_back({"model.from", "no " + part->model().from()});
  };
  const auto made = Expand(spec, fillers);
  EXPECT_THAT(base::FieldViolations(made.status()),
              ElementsAre(base::FieldViolation{"compare.run.model.from",
                                               "no jobs/gone"}));
}

TEST(ExpandTest, ReferencesAreFilledInFirst) {
  JobSpec spec = Compare(
      "  arms: [{name: a, set: {training.steps: 7}}, {name: "
      "b}]\n  differs: [training.steps]");
  PartFillers fillers;
  std::string asked;
  fillers.references = [&asked](JobSpec*, Violations*) { asked += "r"; };
  fillers.data = [&asked](JobSpec*, Violations*) { asked += "d"; };
  ORDO_EXPECT_OK(Expand(spec, fillers));
  // Two arms of three seeds.
  EXPECT_EQ(asked, "rdrdrdrdrdrd");
}

TEST(ExpandTest, WhatIsFilledInOfDataIsOfEachPartAndStaysInIt) {
  JobSpec spec = Compare(
      "  arms: [{name: a, set: {training.steps: 7}}, {name: "
      "b}]\n  differs: [training.steps]");
  PartFillers fillers;
  fillers.data = [](JobSpec* part, Violations*) {
    (*part->mutable_data()->mutable_params())["max_digits"].set_number_value(7);
  };
  const auto made = Expand(spec, fillers);
  ORDO_ASSERT_OK(made);
  ASSERT_EQ(made->parts.size(), 6u);
  for (const Part& part : made->parts) {
    EXPECT_EQ(part.spec.data().params().at("max_digits").number_value(), 7);
  }
  fillers.data = [](JobSpec*, Violations* violations) {
    violations->push_back({"data.params", "not there"});
  };
  EXPECT_THAT(base::FieldViolations(Expand(spec, fillers).status()),
              ElementsAre(base::FieldViolation{"compare.run.data.params",
                                               "not there"}));
}

TEST(NoticesTest, SeedsThatAreTooFewForTheSignFlipTestAreSaid) {
  const auto three = ResolveJobSpec(Compare(kTwoArms));
  ORDO_ASSERT_OK(three);
  EXPECT_THAT(
      NoticesOf(*three),
      ElementsAre(
          "compare.seeds: with 3 seeds and 1 arm beside the baseline p "
          "of the sign-flip test cannot fall below 0.25, so at "
          "confidence 0.95 only Student's t, which takes differences to "
          "be about normal, can tell arms apart over seeds; 6 seeds "
          "suffice for both"));
  const auto one =
      ResolveJobSpec(Compare(std::string(kTwoArms) + "  seeds: [1]\n"));
  ORDO_ASSERT_OK(one);
  EXPECT_THAT(NoticesOf(*one),
              ElementsAre(HasSubstr("nothing over seeds can be shown")));
  const auto six = ResolveJobSpec(
      Compare(std::string(kTwoArms) + "  seeds: [1, 2, 3, 4, 5, 6]\n"));
  ORDO_ASSERT_OK(six);
  EXPECT_THAT(NoticesOf(*six), IsEmpty());
}

}  // namespace
}  // namespace ordo::services::spec
