#include <algorithm>
#include <thread>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;
using SubmitTest = testing::CliTest;

constexpr char kTrain[] =
    "kind: train\nname: a\nencoding: {name: rope}\n"
    "data: {task: addition}\ntraining: {steps: 10}\n";

TEST_F(SubmitTest, PrintsTheNamesOfAllDocumentsOfAllFiles) {
  const std::string two = WriteFile(
      "two.yaml", "{kind: train, name: a}\n---\n{kind: train, name: b}");
  const std::string json =
      WriteFile("one.json", R"({"kind": "TRAIN", "name": "c"})");
  EXPECT_EQ(Run({"submit", two, json}), 0);
  EXPECT_EQ(out(), "a\nb\nc\n");
  EXPECT_EQ(scheduler_.GetJob("a").owner().user(), "ada");
}

TEST_F(SubmitTest, WhatIsWorthKnowingGoesBesideTheNames) {
  const std::string file = WriteFile("a.yaml", kTrain);
  EXPECT_EQ(
      Run({"submit", file, "--dry-run", "--set", "training.kernel=reference"}),
      0);
  EXPECT_THAT(err(), HasSubstr("training under rope takes plain operations"));
  EXPECT_THAT(out(), Not(HasSubstr("plain operations")));
  scheduler_.NoticeSubmitted("it is slow");
  EXPECT_EQ(Run({"submit", file}), 0);
  EXPECT_EQ(out(), "a\n");
  EXPECT_THAT(err(), HasSubstr("a: it is slow\n"));
}

TEST_F(SubmitTest, DashIsYamlOnStandardInput) {
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 0);
  EXPECT_EQ(out(), "a\n");
}

TEST_F(SubmitTest, WhatIsSubmittedIsPartOfTheTraceOfItsCaller) {
  const std::string parent =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  environment_["TRACEPARENT"] = parent;
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 0);
  EXPECT_EQ(scheduler_.GetJob("a").traceparent(), parent);
}

TEST_F(SubmitTest, WithoutATraceThatCanBeReadThereIsANewOne) {
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 0);
  environment_["TRACEPARENT"] = "00-4BF92F35-1-01";
  input_ = "{kind: train, name: b}";
  EXPECT_EQ(Run({"submit", "-"}), 0);
  const std::string a = scheduler_.GetJob("a").traceparent();
  const std::string b = scheduler_.GetJob("b").traceparent();
  EXPECT_EQ(a.size(), 55u);
  EXPECT_EQ(b.size(), 55u);
  EXPECT_NE(a, b);
}

TEST_F(SubmitTest, LostAnswersCreateNothingTwice) {
  client_.retry_for = absl::Seconds(20);
  scheduler_.LoseAnswers(2);
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 0);
  EXPECT_EQ(out(), "a\n");
  const auto requests = scheduler_.create_requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_FALSE(requests[0].request_id().empty());
  EXPECT_EQ(requests[0].request_id(), requests[2].request_id());
}

TEST_F(SubmitTest, InterruptBeforeTheAnswerNamesWhatMayExist) {
  scheduler_.StallAnswers(1);
  std::thread other([this] {
    ASSERT_TRUE(scheduler_.WaitForCreateRequests(1));
    interrupt_.Trigger();
  });
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-", "--wait"}), 5);
  other.join();
  EXPECT_THAT(err(), HasSubstr("a may have been created"));
  EXPECT_THAT(err(), HasSubstr("ordo show a"));
  EXPECT_EQ(scheduler_.GetJob("a").state(), Job::QUEUED);
}

TEST_F(SubmitTest, SlowAnswerIsAskedForAgainUnderTheSameRequestId) {
  client_.call_timeout = absl::Seconds(1);
  scheduler_.StallAnswers(1);
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 0) << err();
  EXPECT_EQ(out(), "a\n");
  const auto requests = scheduler_.create_requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].request_id(), requests[1].request_id());
}

TEST_F(SubmitTest, NoAnswerNamesTheJobAndHowToRepeat) {
  client_.call_timeout = absl::Milliseconds(200);
  scheduler_.StallAnswers(1000);
  input_ = "{kind: train, name: a}\n---\n{kind: train, name: b}";
  EXPECT_EQ(Run({"submit", "-", "--request-id", "r"}), 4);
  EXPECT_THAT(err(), HasSubstr("a and b may have been created"));
  EXPECT_THAT(err(), HasSubstr("--request-id r"));
  EXPECT_THAT(err(), Not(HasSubstr("cannot reach")));
}

TEST_F(SubmitTest, RequestIdIsPassedOn) {
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-", "--request-id", "r"}), 0);
  EXPECT_EQ(scheduler_.create_requests()[0].request_id(), "r");
  input_ = "{kind: train, name: b}\n---\n{kind: train, name: c}";
  EXPECT_EQ(Run({"submit", "-", "--request-id", "s"}), 0);
  EXPECT_EQ(scheduler_.create_requests()[2].request_id(), "s/2");
}

TEST_F(SubmitTest, SetChangesEveryJob) {
  input_ = "{kind: train, name: b}\n---\n{kind: train, name: c}";
  EXPECT_EQ(Run({"submit", "-", "--set", "training.steps=7"}), 0);
  EXPECT_EQ(scheduler_.GetJob("b").spec().training().steps(), 7);
  EXPECT_EQ(scheduler_.GetJob("c").spec().training().steps(), 7);
  EXPECT_EQ(Run({"submit", "-", "--set", "training.stps=7"}), 2);
  EXPECT_THAT(err(), HasSubstr("--set: training.stps: "));
  EXPECT_THAT(err(), HasSubstr("did you mean 'steps'"));
}

TEST_F(SubmitTest, WaitGivesTheJobsExitCode) {
  input_ = "{kind: train, name: a}";
  scheduler_.EndSubmittedIn(Job::FAILED);
  EXPECT_EQ(Run({"submit", "-", "--wait"}), 1);
  EXPECT_EQ(out(), "a\na FAILED\n");
  input_ = "{kind: train, name: b}";
  scheduler_.EndSubmittedIn(Job::CANCELLED);
  EXPECT_EQ(Run({"submit", "-", "--watch"}), 3);
  input_ = "{kind: train, name: c}";
  scheduler_.EndSubmittedIn(Job::SUCCEEDED);
  EXPECT_EQ(Run({"submit", "-", "--wait", "-o", "json"}), 0);
  const std::string text = out();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(out(), HasSubstr("SUCCEEDED"));
}

TEST_F(SubmitTest, SaysHowToReleaseWhatIsOnHold) {
  scheduler_.EndSubmittedIn(Job::SUCCEEDED);
  for (const auto& options : std::vector<std::vector<std::string>>{
           {}, {"--wait"}, {"--wait", "-o", "json"}}) {
    const std::string name = "a" + std::to_string(options.size());
    input_ = "{kind: train, hold: true, name: " + name + "}";
    std::vector<std::string> words = {"submit", "-"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(Run(words), 0) << err();
    EXPECT_EQ(err(), "ordo: " + name +
                         " is on hold; to let it start: ordo release " + name +
                         "\n");
  }
}

TEST_F(SubmitTest, DryRunNeedsNoSchedulerAndPrintsAllDefaults) {
  scheduler_.Leave();
  const std::string file = WriteFile("a.yaml", kTrain);
  EXPECT_EQ(Run({"submit", file, "--dry-run"}), 0);
  EXPECT_THAT(out(), HasSubstr("# " + file + ": valid"));
  EXPECT_THAT(out(), HasSubstr("batch_size: 64"));
  EXPECT_EQ(Run({"submit", file, "--dry-run", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"batch_size\":64"));
}

TEST_F(SubmitTest, DryRunSaysThatPartsAreAsTheFileHasThem) {
  scheduler_.Leave();
  const std::string file = WriteFile(
      "s.yaml",
      "kind: sweep\nname: s\nsweep:\n  run: {encoding: {name: rope}, data: "
      "{task: addition}, training: {steps: 10}}\n  seeds: [1, 2]\n");
  EXPECT_EQ(Run({"submit", file, "--dry-run"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("# 2 parts:\n"));
  EXPECT_THAT(out(), HasSubstr("# " + file +
                               ": valid; with the defaults filled in, but for "
                               "those of its parts:\n"));
  EXPECT_THAT(out(), Not(HasSubstr("batch_size")));
}

TEST_F(SubmitTest, DryRunSaysWhatOnlyASchedulerCanCheck) {
  scheduler_.Leave();
  const std::string file = WriteFile(
      "a.yaml",
      "{kind: train, name: a, model: {from: old}, data: {task: addition}, "
      "training: {steps: 5}}");
  EXPECT_EQ(Run({"submit", file, "--dry-run"}), 0);
  EXPECT_THAT(err(), HasSubstr(file + ": not checked: model.from: jobs/old is "
                                      "looked up when the job is created"));
  EXPECT_THAT(out(), HasSubstr("# " + file + ": valid as far as it was"));
  EXPECT_EQ(Run({"submit", file, "--dry-run", "-o", "json"}), 0);
  EXPECT_THAT(err(), HasSubstr("not checked: model.from"));
  EXPECT_EQ(Run({"submit", WriteFile("b.yaml", kTrain), "--dry-run"}), 0);
  EXPECT_THAT(err(), Not(HasSubstr("not checked")));
}

TEST_F(SubmitTest, DryRunNamesEverythingWrongInEveryFile) {
  const std::string a =
      WriteFile("a.yaml", std::string(kTrain) + "encodin: rope\n");
  EXPECT_EQ(Run({"submit", a, "--dry-run"}), 2);
  EXPECT_THAT(err(), HasSubstr(a + ": encodin: "));
  EXPECT_THAT(err(), HasSubstr("did you mean 'encoding'"));
  const std::string b = WriteFile(
      "b.yaml",
      "{kind: train, name: b, encoding: {name: rop}, data: {task: addition}, "
      "training: {steps: 0}}\n---\n" +
          std::string(kTrain) + "checkpoint: {keep: 0}\n");
  EXPECT_EQ(Run({"submit", b, "--dry-run"}), 2);
  EXPECT_THAT(err(), HasSubstr("3 things are wrong"));
  EXPECT_THAT(err(), HasSubstr(b + " document 1: encoding.name: "));
  EXPECT_THAT(err(), HasSubstr(b + " document 1: training.steps: "));
  EXPECT_THAT(err(), HasSubstr(b + " document 2: checkpoint.keep: "));
}

TEST_F(SubmitTest, NamesEverythingWrongInFilesAndSettingsAtOnce) {
  const std::string a =
      WriteFile("a.yaml",
                "{kind: train, name: a, encodin: {name: rope}, "
                "encoding: {name: rop}, data: {task: addition}, "
                "training: {steps: 0, batch_size: x}}\n---\n" +
                    std::string(kTrain) + "checkpoint: {keep: 0}\n");
  const std::string b = WriteFile("b.json", R"({"kind": 3, "name": "b",
      "encoding": {"name": "rope"}, "data": {"task": "addition"}})");
  const std::string c = WriteFile("c.yaml", "kind: [");
  const std::vector<std::string> command = {"submit",
                                            a,
                                            b,
                                            c,
                                            "missing.yaml",
                                            "--set",
                                            "resources.treads=2",
                                            "--set",
                                            "training.seed=one",
                                            "--set",
                                            "queue"};
  std::vector<std::string> dry_run = command;
  dry_run.push_back("--dry-run");
  for (const auto& arguments : {command, dry_run}) {
    EXPECT_EQ(Run(arguments), 2);
    EXPECT_THAT(err(), HasSubstr("12 things are wrong"));
    for (const std::string& wrong :
         {a + " document 1: encodin: is no field",
          a + " document 1: encoding.name: no encoding is called",
          a + " document 1: training.steps: must be",
          a + " document 1: training.batch_size: must be a whole number",
          a + " document 2: checkpoint.keep: ", b + ": kind: has no value '3'",
          b + ": training.steps: required", c + ": bad syntax",
          std::string("open missing.yaml: No such file"),
          std::string("--set: resources.treads: is no field"),
          std::string("--set: training.seed: must be"),
          std::string("--set takes name=value; not 'queue'")}) {
      EXPECT_THAT(err(), HasSubstr("\n  " + wrong));
    }
    // One thing, one line.
    EXPECT_THAT(err(), Not(HasSubstr("kind: required")));
  }
  EXPECT_TRUE(scheduler_.create_requests().empty());
}

TEST_F(SubmitTest, WhatCannotBeSetHidesNothingOfTheFile) {
  const std::string file =
      WriteFile("a.yaml", "{kind: train, name: a, data: {task: additoin}}");
  EXPECT_EQ(
      Run({"submit", file, "--set", "data=5", "--set", "training.steps=many"}),
      2);
  EXPECT_THAT(err(), HasSubstr("\n  --set: data: "));
  EXPECT_THAT(err(), HasSubstr("\n  " + file + ": data.task: "));
  // That they are missing is no news.
  EXPECT_THAT(err(), HasSubstr("\n  --set: training.steps: "));
  EXPECT_THAT(err(), Not(HasSubstr(file + ": training.steps")));
}

TEST_F(SubmitTest, SettingsAreCheckedAlsoWithoutAJob) {
  const std::string file = WriteFile("a.yaml", "kind: [");
  EXPECT_EQ(Run({"submit", file, "--set", "training.stps=1", "--set",
                 "evaluations[1].task=x"}),
            2);
  EXPECT_THAT(err(), HasSubstr("2 things are wrong"));
  EXPECT_THAT(err(), HasSubstr("did you mean 'steps'"));
}

TEST_F(SubmitTest, TakenNameIsBadInput) {
  scheduler_.SetJob("a", Job::RUNNING);
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(Run({"submit", "-"}), 2);
  EXPECT_EQ(err(),
            "ordo: jobs/a exists already; to submit it under another name: "
            "--set name=NAME\n");
  EXPECT_EQ(Run({"submit", "-", "--set", "name=b"}), 0) << err();
}

TEST_F(SubmitTest, ViolationsOfABatchNameTheFile) {
  scheduler_.RefuseCreate(base::InvalidFields(
      {{"requests[1].job.spec.name", "must be lower case"}}));
  const std::string file = WriteFile(
      "two.yaml", "{kind: train, name: a}\n---\n{kind: train, name: B}");
  EXPECT_EQ(Run({"submit", file}), 2);
  EXPECT_THAT(err(), HasSubstr(file + " document 2: name: must be lower case"));
}

TEST_F(SubmitTest, WhatARequestOfABatchIsRefusedForNamesTheFileToo) {
  const std::string file = WriteFile(
      "two.yaml", "{kind: train, name: a}\n---\n{kind: train, name: b}");
  scheduler_.RefuseCreate(
      absl::AlreadyExistsError("requests[1]: there is a job b already"));
  EXPECT_EQ(Run({"submit", file}), 2);
  EXPECT_THAT(err(), HasSubstr(file + " document 2: there is a job b already"));
  scheduler_.RefuseCreate(
      base::InvalidFields({{"requests[1].job.spec.name",
                            "'a' is that of requests[0].job.spec.name too"}}));
  EXPECT_EQ(Run({"submit", file}), 2);
  EXPECT_THAT(err(), HasSubstr("is that of " + file + " document 1: name too"));
  scheduler_.RefuseCreate(
      absl::NotFoundError("jobs/a: needs[0].job: there is no job c"));
  EXPECT_EQ(Run({"submit", file}), 2);
  EXPECT_THAT(err(), HasSubstr(file + " document 1: needs[0].job: there is"));
}

TEST_F(SubmitTest, FilesThatAreNoJobsAreRefused) {
  EXPECT_EQ(Run({"submit", folder_.Path("missing.yaml")}), 2);
  EXPECT_THAT(err(), HasSubstr("missing.yaml"));
  EXPECT_EQ(Run({"submit", WriteFile("job.txt", "x")}), 2);
  EXPECT_EQ(Run({"submit", WriteFile("empty.yaml", "")}), 2);
  EXPECT_THAT(err(), HasSubstr("there is no job in it"));
}

TEST_F(SubmitTest, FileAboveTheLimitIsNamedWithTheFix) {
  const std::string big = WriteFile("big.yaml", std::string(2 << 20, '#'));
  EXPECT_EQ(Run({"submit", big}), 2);
  const std::string why =
      ": it has more than 1048576 bytes; divide its jobs among several files";
  EXPECT_THAT(err(), HasSubstr(big + why));
  input_ = std::string(2 << 20, '#');
  EXPECT_EQ(Run({"submit", "-"}), 2);
  EXPECT_THAT(err(), HasSubstr("standard input" + why));
}

// A job of about `num_bytes`.
std::string LongJob(const std::string& name, size_t num_bytes) {
  return "{kind: train, name: " + name +
         ", labels: {a: " + std::string(num_bytes, 'x') + "}}";
}

TEST_F(SubmitTest, JobsThatNoRequestCanHoldAreRefusedByName) {
  std::vector<std::string> command = {"submit"};
  for (char name = 'a'; name <= 't'; ++name) {
    const std::string text(1, name);
    command.push_back(WriteFile(text + ".yaml", LongJob(text, 900'000)));
  }
  command[2] = WriteFile("b.yaml", LongJob("b", 1'000'000));
  EXPECT_EQ(Run(command), 2);
  EXPECT_THAT(err(), HasSubstr("bytes; at most 16777216 are accepted at once: "
                               "submit them in several commands"));
  EXPECT_THAT(err(), HasSubstr("the longest: " + command[2] + " with 10000"));
  EXPECT_TRUE(scheduler_.create_requests().empty());
}

TEST_F(SubmitTest, JobThatNoRequestCanHoldNamesItsLongestField) {
  // Two characters of a list are a dozen bytes of a message.
  std::string list = "1";
  while (list.size() < 900'000) list += ",1";
  input_ = "{kind: train, name: a, encoding: {params: {x: [" + list + "]}}}";
  EXPECT_EQ(Run({"submit", "-"}), 2);
  EXPECT_THAT(err(), HasSubstr("standard input: encoding: the spec has "));
  EXPECT_THAT(err(), HasSubstr("shorten this field"));
}

}  // namespace
}  // namespace ordo::services::cli
