// Gates with the command line, the service and the real trainer: a candidate
// that is worse does not get through, an equal one does, and a set that is too
// small says so.
#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kMiB = 1 << 20;

// "early" has hardly begun to learn sums of two digits, "late" has seen each of
// them many times.
class GateTest : public Scenario {
 protected:
  void SetUp() override {
    harness::DeploymentOptions options = Options("");
    options.worker.set_trainer(ProgramPath("ordo-trainer"));
    Start(options);
    Submit(Training("early", 5));
    Submit(Training("late", 800));
    ASSERT_TRUE(WaitForState("early", Job::SUCCEEDED).has_value());
    ASSERT_TRUE(WaitForState("late", Job::SUCCEEDED).has_value());
  }

  static JobSpec Training(const std::string& name, int steps) {
    JobSpec spec = Spec(name);
    spec.mutable_model()->set_width(64);
    spec.mutable_model()->set_heads(4);
    (*spec.mutable_data()->mutable_params())["max_digits"].set_number_value(1);
    spec.mutable_training()->set_steps(steps);
    spec.mutable_training()->set_batch_size(64);
    spec.mutable_training()->set_learning_rate(3e-3);
    spec.mutable_training()->set_log_every_steps(50);
    spec.mutable_checkpoint()->set_every_steps(800);
    return spec;
  }

  // The exit code of `ordo <arguments>`; what it printed is in out_ and err_.
  int Ordo(const std::vector<std::string>& arguments) {
    base::SpawnOptions spawn;
    spawn.argv = {ProgramPath("ordo"), "--server", deployment_->api_address()};
    spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
    spawn.stdout_file = folder_.Path("output");
    spawn.stderr_file = folder_.Path("errors");
    files_.RemoveFile(spawn.stdout_file).IgnoreError();
    files_.RemoveFile(spawn.stderr_file).IgnoreError();
    const auto process = base::Spawn(spawn);
    if (!process.ok()) {
      ADD_FAILURE() << process.status();
      return -1;
    }
    const auto status = base::WaitForExit(process->pid, kDeadline);
    if (!status.ok()) {
      ADD_FAILURE() << status.status();
      return -1;
    }
    out_ = Read("output");
    err_ = Read("errors");
    return status->exit_code;
  }

  // The exit code of a gate called `name` on so many items.
  int Gate(const std::string& name, int samples,
           const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"gate",
                                          "--margin",
                                          "0.02",
                                          "--task",
                                          "addition_grid",
                                          "--param",
                                          "max_digits=1",
                                          "--param",
                                          "samples=" + std::to_string(samples),
                                          "--set",
                                          "name=" + name,
                                          "--set",
                                          "resources.threads=1",
                                          "--out",
                                          folder_.Path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Ordo(arguments);
  }

  std::string Read(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 16 * kMiB).value_or("");
  }

  std::string out_;
  std::string err_;
};

TEST_F(GateTest, AWorseCandidateFailsAnEqualOnePassesFewItemsSayNeither) {
  EXPECT_EQ(Gate("worse", 2000, {"--candidate", "early", "--baseline", "late"}),
            6)
      << out_ << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("Verdict: fail."),
                          HasSubstr("Items that got worse"),
                          HasSubstr("jobs/worse/reports/gate")));
  EXPECT_THAT(Read("worse/junit.xml"), HasSubstr("<failure"));
  EXPECT_THAT(Read("worse/gate.md"), HasSubstr("gate worse: fail"));
  EXPECT_THAT(Read("worse/report.html"), HasSubstr("<svg"));
  EXPECT_THAT(Read("worse/result.json"),
              AllOf(HasSubstr("\"outcome\":\"fail\""), HasSubstr("\"prompt\":"),
                    HasSubstr("jobs/early/checkpoints/5-1")));

  EXPECT_EQ(Gate("equal", 2000,
                 {"--candidate", "late", "--baseline",
                  "jobs/late/checkpoints/800-1"}),
            0)
      << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("Verdict: pass."));
  EXPECT_THAT(Read("equal/junit.xml"), Not(HasSubstr("<failure")));

  EXPECT_EQ(Gate("few", 50, {"--candidate", "late", "--baseline", "late"}), 7)
      << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("Verdict: inconclusive."));
  // It is the outcome that counts, and it may be said what that is.
  EXPECT_EQ(Gate("few-pass", 50,
                 {"--candidate", "late", "--baseline", "late",
                  "--on-inconclusive", "pass"}),
            0)
      << out_ << err_;
  // A verdict is no failure of its job.
  EXPECT_EQ(Ordo({"wait", "worse", "equal", "few"}), 0) << out_ << err_;
  EXPECT_EQ(Ordo({"gate", "worse"}), 6) << out_ << err_;
}

TEST_F(GateTest, SetsGrowUntilTheyDecideAndReportsAreComparedWith) {
  // 100 items do not tell, and 2 000 are far more than it takes.
  EXPECT_EQ(Gate("grows", 1,
                 {"--candidate", "late", "--baseline", "late", "--max-items",
                  "2000"}),
            0)
      << out_ << err_;
  EXPECT_EQ(Ordo({"list", "reports", "grows"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("addition_grid-candidate-0"),
                          HasSubstr("addition_grid-baseline-100"),
                          HasSubstr("jobs/grows/reports/gate")));

  EXPECT_EQ(Ordo({"evaluate", "late", "--task", "addition_grid", "--param",
                  "max_digits=1", "--param", "samples=500", "--set",
                  "name=scores", "--set", "resources.threads=1", "--wait"}),
            0)
      << out_ << err_;
  EXPECT_EQ(Gate("of-report", 500,
                 {"--candidate", "early", "--baseline",
                  "jobs/scores/reports/addition_grid-800", "--anchor", "late"}),
            6)
      << out_ << err_;
  EXPECT_EQ(Ordo({"list", "reports", "of-report"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("addition_grid-candidate"),
                          HasSubstr("addition_grid-anchor"),
                          Not(HasSubstr("addition_grid-baseline"))));
  // It asks other questions.
  EXPECT_EQ(Gate("unlike", 400,
                 {"--candidate", "early", "--baseline",
                  "jobs/scores/reports/addition_grid-800"}),
            1);
  EXPECT_THAT(out_, AllOf(HasSubstr("FAILED"), HasSubstr("params")));
}

TEST_F(GateTest, WhatCannotBeDecidedIsRefused) {
  EXPECT_EQ(
      Gate("tight", 1,
           {"--candidate", "late", "--baseline", "late", "--max-items", "100"}),
      2);
  EXPECT_THAT(err_, AllOf(HasSubstr("--max-items"), HasSubstr("at least")));
  EXPECT_EQ(Gate("nobody", 1, {"--candidate", "late", "--baseline", "nobody"}),
            2);
  EXPECT_THAT(err_, HasSubstr("no job nobody"));
  EXPECT_EQ(
      Gate("neither", 1,
           {"--candidate", "late", "--baseline", "jobs/late/reports/none"}),
      2);
  EXPECT_THAT(err_, HasSubstr("no report jobs/late/reports/none"));
}

}  // namespace
}  // namespace ordo::tests::e2e
