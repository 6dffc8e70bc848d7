// Comparisons from what is submitted to what the report calls them, with the
// real trainer: controlled when the runs prove it, and otherwise why not.
#include <string>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kControlled[] = R"("controlled":true)";

class ComparisonTest : public Scenario {
 protected:
  harness::DeploymentOptions Trainers() const {
    harness::DeploymentOptions options = Options("");
    options.worker.set_trainer(ProgramPath("ordo-trainer"));
    return options;
  }

  // There is room for both runs at once.
  void StartWithTwoDevices() {
    harness::DeploymentOptions options = Trainers();
    options.worker.add_devices("cpu:0");
    options.worker.add_devices("cpu:1");
    Start(options);
    WaitForDevices(2);
  }

  // What the runs recorded of themselves, once all of "c" has succeeded.
  struct Runs {
    Job rope;
    Job alibi;
  };
  Runs WaitForRuns() {
    Runs runs;
    runs.rope = WaitForState("c-rope-s1", Job::SUCCEEDED).value_or(Job());
    runs.alibi = WaitForState("c-alibi-s1", Job::SUCCEEDED).value_or(Job());
    EXPECT_TRUE(WaitForState("c", Job::SUCCEEDED).has_value());
    return runs;
  }

  // The numbers of its report, one line of JSON.
  std::string Report() {
    const Said said = RunOrdo(
        {"report", "c", "-o", "json", "--html", folder_.Path("c.html")});
    EXPECT_EQ(said.exit_code, 0) << said.err;
    return said.out;
  }
};

TEST_F(ComparisonTest, ArmsThatDifferInTheEncodingAloneAreControlled) {
  StartWithTwoDevices();
  Submit(RopeAndAlibi("c"));
  const Runs runs = WaitForRuns();
  ASSERT_EQ(runs.rope.attempts_size(), 1);
  ASSERT_EQ(runs.alibi.attempts_size(), 1);
  const auto& rope = runs.rope.attempts(0).control();
  const auto& alibi = runs.alibi.attempts(0).control();
  EXPECT_FALSE(rope.initial_digest().empty());
  EXPECT_EQ(alibi.initial_digest(), rope.initial_digest());
  EXPECT_TRUE(rope.deterministic());
  EXPECT_THAT(Report(), AllOf(HasSubstr(kControlled),
                              HasSubstr(R"("why_not_controlled":[])"),
                              HasSubstr(R"("differs_as_asked":[])"),
                              // Of the items that each run left.
                              HasSubstr(R"("item_differences":[{)")));
}

TEST_F(ComparisonTest, ArmsThatDifferInMoreAreRefusedUnlessThatIsListed) {
  StartWithTwoDevices();
  JobSpec spec = RopeAndAlibi("c");
  (*spec.mutable_compare()->mutable_arms(1)->mutable_set())["resources.threads"]
      .set_number_value(2);
  EXPECT_THAT(
      deployment_->Create(spec),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("compare.arms[1].set.resources.threads"),
                     HasSubstr("resources.threads is 2 in the arm alibi and 1 "
                               "in rope; arms may differ in encoding alone"))));
  for (const char* field : {"encoding", "resources.threads"}) {
    spec.mutable_compare()->add_differs(field);
  }
  Submit(spec);
  WaitForRuns();
  EXPECT_THAT(
      Report(),
      AllOf(HasSubstr(kControlled),
            HasSubstr("\"differs_as_asked\":[\"threads: 1 (c-rope-s1), 2 "
                      "(c-alibi-s1)\"]")));
}

// Its libraries choose other code there, which nobody asked for.
TEST_F(ComparisonTest, MachinesThatComputeOtherwiseAreNamedAsTheReason) {
  harness::DeploymentOptions options = Trainers();
  options.num_workers = 2;
  options.each_worker = [](int number, config::v1::WorkerConfig* config) {
    if (number == 1) return;
    (*config->mutable_trainer_environment())["MKL_CBWR"] = "COMPATIBLE";
  };
  Start(options);
  WaitForDevices(2);
  Submit(RopeAndAlibi("c"));
  const Runs runs = WaitForRuns();
  ASSERT_EQ(runs.rope.attempts_size(), 1);
  ASSERT_EQ(runs.alibi.attempts_size(), 1);
  ASSERT_NE(runs.rope.attempts(0).worker(), runs.alibi.attempts(0).worker());
  EXPECT_THAT(Report(),
              AllOf(HasSubstr(R"("controlled":false)"),
                    ContainsRegex("\"why_not_controlled\":\\[\"settings: "
                                  "MKL_CBWR=COMPATIBLE \\(c-[a-z]+-s1\\), none "
                                  "\\(c-[a-z]+-s1\\)\"\\]")));
  EXPECT_THAT(RunOrdo({"report", "c", "--html", folder_.Path("c.html")}).out,
              HasSubstr("Not controlled:"));
}

}  // namespace
}  // namespace ordo::tests::e2e
