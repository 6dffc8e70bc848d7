#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "services/cli/commands/commands.h"
#include "services/cli/help.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/cli/testing/loopback_cli_test.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using training::v1::Gate;

// A trained job a, and one b; whatever is submitted succeeds at once.
class GateTest : public testing::CliTest {
 protected:
  GateTest() {
    scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
      auto* evaluation = job->mutable_spec()->add_evaluations();
      evaluation->set_task("addition_grid");
      evaluation->set_every_steps(10);
      job->mutable_spec()->mutable_resources()->set_threads(3);
      job->mutable_spec()->mutable_resources()->set_ranks(2);
      job->mutable_spec()->set_queue("night");
    });
    scheduler_.EndSubmittedIn(Job::SUCCEEDED);
  }

  // The report of a gate, after that of what it evaluated.
  void Decided(const std::string& job, const std::string& outcome) {
    reports::v1::Report verdict;
    verdict.set_name("jobs/" + job + "/reports/gate");
    verdict.set_kind(reports::v1::Report::GATE);
    scheduler_.AddReport(
        verdict,
        {{"report.html", "<p>page</p>"},
         {"gate.md", "# gate " + job + "\n"},
         {"junit.xml", "<testsuites/>"},
         {"result.json", "{\"verdict\": \"inconclusive\", \"outcome\": \"" +
                             outcome + "\"}"}});
    reports::v1::Report evaluation;
    evaluation.set_name("jobs/" + job + "/reports/addition_grid-candidate");
    evaluation.set_kind(reports::v1::Report::EVALUATION);
    scheduler_.AddReport(evaluation, {{"result.json", "{}"}});
  }

  int RunGate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {
        "gate",     "--candidate", "a", "--baseline", "jobs/b/checkpoints/20-1",
        "--margin", "0.01"};
    args.insert(args.end(), more.begin(), more.end());
    return Run(args);
  }
};

TEST_F(GateTest, WhatIsWrongIsToldInTheWordsOfTheOptions) {
  scheduler_.RefuseCreate(base::InvalidFields(
      {{"job.spec.gate.max_items", "is too few"},
       {"job.spec.gate.level", "must be below 1"},
       {"job.spec.evaluations[0].params.lengths", "is no list"}}));
  EXPECT_EQ(RunGate({"--max-items", "9", "--param", "lengths=2x"}), 2);
  EXPECT_THAT(err(), HasSubstr("\n  --max-items: is too few\n"));
  EXPECT_THAT(err(), HasSubstr("\n  gate.level: must be below 1\n"));
  EXPECT_THAT(err(), HasSubstr("\n  --param lengths: is no list\n"));
}

TEST_F(GateTest, MakesAJobOfWhatIsComparedWithTheCandidatesEvaluations) {
  Decided("a-gate", "pass");
  EXPECT_EQ(RunGate(), 0) << err();
  const JobSpec spec = scheduler_.GetJob("a-gate").spec();
  EXPECT_EQ(spec.kind(), JobSpec::GATE);
  EXPECT_EQ(spec.gate().candidate(), "jobs/a");
  EXPECT_EQ(spec.gate().baseline(), "jobs/b/checkpoints/20-1");
  EXPECT_EQ(spec.gate().anchor(), "");
  EXPECT_EQ(spec.gate().margin(), 0.01);
  EXPECT_FALSE(spec.gate().has_max_items());
  ASSERT_EQ(spec.evaluations_size(), 1);
  EXPECT_EQ(spec.evaluations(0).task(), "addition_grid");
  EXPECT_FALSE(spec.evaluations(0).has_every_steps());
  EXPECT_EQ(spec.resources().threads(), 3);
  EXPECT_FALSE(spec.resources().has_ranks());
  EXPECT_EQ(spec.queue(), "night");
}

TEST_F(GateTest, EveryFlagIsAFieldOfIt) {
  Decided("g", "pass");
  EXPECT_EQ(RunGate({"--anchor",
                     "jobs/c/reports/grid-1",
                     "--anchor-margin",
                     "0.05",
                     "--level",
                     "0.9",
                     "--fail-below",
                     "margin",
                     "--on-inconclusive",
                     "pass",
                     "--max-items",
                     "5000",
                     "--task",
                     "counting",
                     "--task",
                     "flip_flop",
                     "--param",
                     "samples=7",
                     "--set",
                     "name=g"}),
            0)
      << err();
  const JobSpec spec = scheduler_.GetJob("g").spec();
  const Gate& gate = spec.gate();
  EXPECT_EQ(gate.anchor(), "jobs/c/reports/grid-1");
  EXPECT_EQ(gate.anchor_margin(), 0.05);
  EXPECT_EQ(gate.level(), 0.9);
  EXPECT_EQ(gate.fail_below(), Gate::MARGIN);
  EXPECT_EQ(gate.on_inconclusive(), Gate::PASS);
  EXPECT_EQ(gate.max_items(), 5000);
  ASSERT_EQ(spec.evaluations_size(), 2);
  EXPECT_EQ(spec.evaluations(1).task(), "flip_flop");
  EXPECT_EQ(spec.evaluations(1).params().at("samples").number_value(), 7);
}

TEST_F(GateTest, TheOutcomeIsTheExitCode) {
  Decided("a-gate", "pass");
  EXPECT_EQ(RunGate(), 0);
  Decided("a-gate-2", "fail");
  EXPECT_EQ(RunGate(), 6);
  Decided("a-gate-3", "inconclusive");
  EXPECT_EQ(RunGate(), 7);
}

TEST_F(GateTest, TheVerdictIsPrintedAndItsFilesAreWrittenWhateverItIs) {
  Decided("a-gate", "fail");
  const std::string folder = folder_.Path("gate");
  EXPECT_EQ(RunGate({"--out", folder}), 6);
  EXPECT_THAT(out(),
              AllOf(HasSubstr("# gate a-gate"), HasSubstr("wrote " + folder),
                    HasSubstr("ordo get jobs/a-gate/reports/gate"),
                    Not(HasSubstr("SUCCEEDED"))));
  EXPECT_THAT(err(), HasSubstr("the gate is a-gate"));
  const auto text = [&](const char* name) {
    return base::ReadFile(files_, folder + "/" + name, 1 << 20).value();
  };
  EXPECT_EQ(text("junit.xml"), "<testsuites/>");
  EXPECT_EQ(text("gate.md"), "# gate a-gate\n");
  EXPECT_EQ(text("report.html"), "<p>page</p>");
  // A later gate takes its place.
  Decided("a-gate-2", "pass");
  EXPECT_EQ(RunGate({"--out", folder}), 0);
  EXPECT_EQ(text("gate.md"), "# gate a-gate-2\n");
}

TEST_F(GateTest, ProgramsGetTheResultAlone) {
  Decided("a-gate", "inconclusive");
  EXPECT_EQ(RunGate({"-o", "json"}), 7);
  EXPECT_EQ(out().find('\n'), out().size() - 1);
  EXPECT_THAT(out(), AllOf(HasSubstr("\"outcome\":\"inconclusive\""),
                           HasSubstr("jobs/a-gate/reports/gate")));
}

TEST_F(GateTest, AGateThatIsThereIsStayedWith) {
  scheduler_.SetJob("g", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::GATE);
  });
  Decided("g", "fail");
  EXPECT_EQ(Run({"gate", "g"}), 6) << err();
  EXPECT_EQ(Run({"gate", "g", "--margin", "0.1"}), 2);
  EXPECT_THAT(err(), HasSubstr("--margin is for a new gate"));
  EXPECT_EQ(Run({"gate", "a"}), 2);
  EXPECT_THAT(err(), HasSubstr("a is no gate"));
}

TEST_F(GateTest, AJobThatFailsOrTakesTooLongIsNoVerdict) {
  scheduler_.SetJob("g", Job::FAILED, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::GATE);
    job->set_message("baseline: has params");
  });
  EXPECT_EQ(Run({"gate", "g"}), 1);
  EXPECT_THAT(out(), HasSubstr("g FAILED  baseline: has params"));
  scheduler_.SetJob("h", Job::RUNNING, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::GATE);
  });
  EXPECT_EQ(Run({"gate", "h", "--timeout", "10ms"}), 5);
  EXPECT_THAT(err(), HasSubstr("still going: h (come back with: ordo gate h)"));
}

TEST_F(GateTest, WhatIsMissingOrIsNoCheckpointIsBadInput) {
  EXPECT_EQ(Run({"gate", "--candidate", "a", "--margin", "0.01"}), 2);
  EXPECT_THAT(err(), HasSubstr("a gate needs --baseline"));
  EXPECT_EQ(Run({"gate", "--candidate", "workers/w", "--baseline", "a",
                 "--margin", "0.01"}),
            2);
  EXPECT_THAT(err(), HasSubstr("--candidate: 'workers/w' is neither"));
  EXPECT_EQ(Run({"gate", "--candidate", "jobs/a/reports/grid-20", "--baseline",
                 "b", "--margin", "0.01"}),
            2);
  EXPECT_THAT(err(),
              HasSubstr("--candidate: 'jobs/a/reports/grid-20' is a report"));
  EXPECT_EQ(Run({"gate", "--candidate", "a", "--baseline", "b", "--margin",
                 "little"}),
            2);
  EXPECT_THAT(err(), HasSubstr("--margin: "));
  EXPECT_THAT(err(), Not(HasSubstr("gate.margin")));
  EXPECT_TRUE(scheduler_.create_requests().empty());
  scheduler_.RefuseCreate(
      absl::NotFoundError("gate.baseline: there is no job b"));
  EXPECT_EQ(RunGate(), 2);
  EXPECT_THAT(err(), HasSubstr("--baseline: there is no job b"));
  EXPECT_THAT(err(), Not(HasSubstr("gate.baseline")));
}

TEST_F(GateTest, AReportWithoutAnOutcomeIsDamage) {
  Decided("a-gate", "perhaps");
  EXPECT_EQ(RunGate(), 9);
  EXPECT_THAT(err(), HasSubstr("says no outcome"));
}

TEST_F(GateTest, ReportOfAGateIsItsVerdict) {
  scheduler_.SetJob("g", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::GATE);
  });
  Decided("g", "fail");
  const std::string page = folder_.Path("page.html");
  EXPECT_EQ(Run({"report", "g", "--html", page}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("# gate g"));
  EXPECT_EQ(base::ReadFile(files_, page, 1 << 20).value(), "<p>page</p>");
  scheduler_.SetJob("h", Job::RUNNING, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::GATE);
  });
  EXPECT_NE(Run({"report", "h"}), 0);
  EXPECT_THAT(err(), HasSubstr("so wait for it: ordo gate h"));
}

// All texts in a value, each with a line's end behind.
std::string TextsIn(const google::protobuf::Value& value) {
  std::string text;
  if (value.has_string_value()) text = value.string_value() + "\n";
  for (const auto& each : value.list_value().values()) text += TextsIn(each);
  for (const auto& [name, each] : value.struct_value().fields()) {
    text += TextsIn(each);
  }
  return text;
}

TEST(CiFilesTest, EachIsYamlAndAsksForAGateWithOptionsThatThereAre) {
  base::PosixFilesystem files;
  std::set<std::string> options;
  for (const Option& option : AllOptions(*FindCommand("gate"))) {
    options.insert("--" + option.name);
  }
  for (const char* file :
       {"docs/ci/github-gate.yaml", "docs/ci/gitlab-gate.yaml"}) {
    const auto text = base::ReadFile(files, file, 1 << 16);
    ASSERT_TRUE(text.ok()) << text.status();
    google::protobuf::Value yaml;
    const absl::Status read = base::ReadMessage(*text, base::TextForm::kYaml,
                                                yaml.mutable_struct_value());
    ASSERT_TRUE(read.ok()) << file << ": " << read;
    std::string script = TextsIn(yaml);
    for (size_t at = 0; (at = script.find("\\\n")) != std::string::npos;) {
      script.replace(at, 2, " ");
    }
    const size_t begin = script.find("ordo gate ");
    ASSERT_NE(begin, std::string::npos) << file;
    std::istringstream command(
        script.substr(begin, script.find('\n', begin) - begin));
    int num_options = 0;
    for (std::string word; command >> word;) {
      if (word.rfind("--", 0) != 0) continue;
      ++num_options;
      EXPECT_EQ(options.count(word), 1u) << file << ": " << word;
    }
    EXPECT_EQ(num_options, 5) << file;
  }
}

// Job a, which has aliases for its checkpoints; and one that is called as one
// of these, to be told from it.
class GateNamedTest : public testing::LoopbackCliTest {
 protected:
  GateNamedTest() {
    for (const char* name : {"a", "main"}) {
      Job job;
      job.set_name(std::string("jobs/") + name);
      job.set_state(Job::SUCCEEDED);
      JobSpec& spec = *job.mutable_spec();
      spec.add_evaluations()->set_task(job.name() == "jobs/a" ? "addition_grid"
                                                              : "counting");
      spec.mutable_resources()->set_threads(3);
      loopback_.scheduler().PutJob(job);
    }
    for (const char* id : {"10-1", "20-1"}) {
      PutCheckpoint(std::string("jobs/a/checkpoints/") + id);
    }
    EXPECT_EQ(Run({"alias", "set", "main", "a"}), 0) << err();
    EXPECT_EQ(Run({"alias", "set", "release", "jobs/a/checkpoints/10-1"}), 0)
        << err();
  }
};

TEST_F(GateNamedTest, AnAliasIsTheCheckpointThatItNames) {
  // Nobody decides it here: the job is made, and not ended.
  EXPECT_EQ(Run({"gate", "--candidate", "aliases/main", "--baseline",
                 "aliases/release", "--anchor", "aliases/release", "--margin",
                 "0.1", "--timeout", "10ms"}),
            5)
      << err();
  const JobSpec spec = GetJob("a-gate").spec();
  EXPECT_EQ(spec.gate().candidate(), "jobs/a/checkpoints/20-1");
  EXPECT_EQ(spec.gate().baseline(), "jobs/a/checkpoints/10-1");
  EXPECT_EQ(spec.gate().anchor(), "jobs/a/checkpoints/10-1");
  ASSERT_EQ(spec.bound_size(), 3);
  EXPECT_EQ(spec.bound(0).field(), "gate.candidate");
  EXPECT_EQ(spec.bound(0).alias(), "aliases/main");
  // Of the checkpoint's job, not of the one called as the alias is.
  ASSERT_EQ(spec.evaluations_size(), 1);
  EXPECT_EQ(spec.evaluations(0).task(), "addition_grid");
  EXPECT_EQ(spec.resources().threads(), 3);
}

TEST_F(GateNamedTest, AnUnknownAliasIsBadInput) {
  EXPECT_EQ(Run({"gate", "--candidate", "aliases/mian", "--baseline", "a",
                 "--margin", "0.1"}),
            2);
  EXPECT_THAT(err(), HasSubstr("mian"));
}

}  // namespace
}  // namespace ordo::services::cli
