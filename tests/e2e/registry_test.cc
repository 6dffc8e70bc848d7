// What keeps checkpoints, and what they are called, with the command line and
// the real trainer.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using base::testing::StatusIs;
using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kFirst[] = "jobs/a/checkpoints/20-1";
constexpr char kSecond[] = "jobs/a/checkpoints/40-1";
constexpr char kLast[] = "jobs/a/checkpoints/60-1";

// Job a has left three checkpoints, of which the last alone is whole.
class RegistryTest : public Scenario {
 protected:
  void TrainA() {
    harness::DeploymentOptions options = Options("");
    options.worker.set_trainer(ProgramPath("ordo-trainer"));
    Start(options);
    JobSpec spec = Spec("a");
    spec.mutable_checkpoint()->set_keep_optimizer(1);
    Submit(spec);
    ASSERT_TRUE(WaitForState("a", Job::SUCCEEDED).has_value());
  }
  // What it prints; a failure unless it succeeds.
  std::string Ordo(const std::vector<std::string>& arguments) {
    const Said said = RunOrdo(arguments);
    EXPECT_EQ(said.exit_code, 0) << arguments[0] << ": " << said.err;
    return said.out;
  }
  // What is said against it; a failure unless it is refused.
  std::string Refused(const std::vector<std::string>& arguments) {
    const Said said = RunOrdo(arguments);
    EXPECT_EQ(said.exit_code, 2) << arguments[0] << ": " << said.out;
    return said.err;
  }
  bool IsThere(const std::string& path) {
    return base::Exists(files_,
                        base::JoinPath(deployment_->storage_root(), path));
  }
  // The digest of what an alias names.
  std::string DigestOf(const std::string& alias) {
    const std::string json = Ordo({"alias", "get", alias, "-o", "json"});
    const std::string key = "\"manifest_sha256\":\"";
    const size_t begin = json.find(key);
    EXPECT_NE(begin, std::string::npos) << json;
    return begin == std::string::npos ? ""
                                      : json.substr(begin + key.size(), 64);
  }
  // An evaluation of `main`, on hold.
  void SubmitEvaluation() {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("e.yaml"), R"(
kind: evaluate
name: e
hold: true
checkpoints: [aliases/main]
evaluations: [{task: addition_grid, params: {max_digits: 2, samples: 2}}]
resources: {threads: 1}
)"));
    Ordo({"submit", folder_.Path("e.yaml")});
  }
};

TEST_F(RegistryTest, AJobKeepsWhatItsAliasNamedWhenItWasMade) {
  TrainA();
  Ordo({"alias", "set", "main", kFirst, "--if-digest", "none"});
  SubmitEvaluation();
  const std::string digest = DigestOf("main");
  Ordo({"alias", "set", "main", kLast, "--if-digest", digest, "--reason",
        "better"});
  // Who comes second with what was there before is told.
  EXPECT_EQ(RunOrdo({"alias", "set", "main", kSecond, "--if-digest", digest})
                .exit_code,
            8);
  EXPECT_THAT(Refused({"delete", kFirst}), HasSubstr("job e has not ended"));
  KillScheduler();
  EXPECT_THAT(Ordo({"alias", "get", "main"}),
              HasSubstr(absl::StrCat("set: ", kFirst, " -> ", kLast)));
  EXPECT_THAT(Refused({"delete", kFirst}), HasSubstr("job e has not ended"));
  const std::string spec = Ordo({"show", "e", "-o", "json"});
  EXPECT_THAT(spec, HasSubstr("\"alias\":\"aliases/main\""));
  EXPECT_THAT(spec, HasSubstr(digest));
  Ordo({"release", "e"});
  ASSERT_TRUE(WaitForState("e", Job::SUCCEEDED).has_value());
  EXPECT_THAT(Ordo({"list", "reports", "e", "-o", "json"}), HasSubstr(kFirst));
  Ordo({"delete", kFirst});
  EXPECT_TRUE(WaitFor([this] { return !IsThere(kFirst); }));
}

TEST_F(RegistryTest, AThinnedCheckpointLendsItsWeightsOnly) {
  TrainA();
  const std::string file = "/optimizer.safetensors";
  EXPECT_TRUE(WaitFor(
      [&] { return !IsThere(kFirst + file) && !IsThere(kSecond + file); }));
  EXPECT_TRUE(IsThere(kLast + file));
  EXPECT_THAT(Ordo({"list", "checkpoints", "a"}),
              ContainsRegex("40-1 [^\n]*thinned\n"));
  JobSpec again = Spec("b");
  again.set_start_from(kSecond);
  EXPECT_THAT(deployment_->Create(again),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("was thinned")));
  Ordo({"alias", "set", "old", kSecond});
  JobSpec from = Spec("c");
  from.clear_model();
  from.mutable_model()->set_from("aliases/old");
  from.mutable_training()->set_steps(2);
  Submit(from);
  const auto job = WaitForState("c", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->spec().model().from(), kSecond);
  EXPECT_EQ(job->spec().bound(0).field(), "model.from");
}

TEST_F(RegistryTest, WhatIsNamedOrPinnedIsNotDeleted) {
  TrainA();
  Ordo({"alias", "set", "main", kLast});
  EXPECT_THAT(Refused({"delete", kLast}), HasSubstr("the alias main names it"));
  Ordo({"pin", "aliases/main", "--reason", "figure 3"});
  Ordo({"alias", "delete", "main"});
  EXPECT_THAT(Refused({"thin", kLast}), HasSubstr("figure 3"));
  KillScheduler();
  EXPECT_THAT(Refused({"delete", kLast}), HasSubstr("figure 3"));
  Ordo({"unpin", kLast});
  Ordo({"thin", kLast});
  Ordo({"delete", kLast});
  EXPECT_TRUE(WaitFor([this] { return !IsThere(kLast); }));
  EXPECT_THAT(Ordo({"show", kLast}), HasSubstr("delete"));
}

}  // namespace
}  // namespace ordo::tests::e2e
