// A model of another program, from a folder to a fine-tuned checkpoint, text
// that is trained on and asked about, and a benchmark, with the command line
// and the real trainer.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/testing/model_folders.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr size_t kMiB = 1 << 20;

class PushTest : public Scenario {
 protected:
  // What `ordo <arguments>` prints; a failure unless it succeeds.
  std::string Ordo(const std::vector<std::string>& arguments) {
    const Said said = RunOrdo(arguments);
    EXPECT_EQ(said.exit_code, 0) << arguments[0] << ": " << said.err;
    return said.out;
  }
  std::string Read(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), kMiB).value_or("");
  }

  // What the only report of a job counted.
  std::string Cells(const std::string& job) {
    Ordo({"get", "jobs/" + job + "/reports/addition_grid-0:result.json",
          "--out", folder_.Path(job + ".json")});
    const std::string result = Read(job + ".json");
    const size_t begin = result.find("\"cells\"");
    EXPECT_NE(begin, std::string::npos) << result;
    return begin == std::string::npos ? job : result.substr(begin);
  }

  // The name of the only report of an evaluation of `checkpoint`.
  std::string Evaluate(const std::string& job,
                       const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "evaluate", "llama",        "--task",  "addition_grid",
        "--param",  "max_digits=2", "--param", "samples=2",
        "--set",    "name=" + job,  "--set",   "resources.threads=1",
        "--wait"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Ordo(arguments);
    const std::string prefix = "jobs/" + job + "/reports/";
    const std::string list = Ordo({"list", "reports", job});
    const size_t begin = list.find(prefix);
    if (begin == std::string::npos) return "(none)";
    return list.substr(begin + prefix.size(),
                       list.find(' ', begin) - begin - prefix.size());
  }
};

TEST_F(PushTest, APushedModelIsEvaluatedFineTunedAndFetched) {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  Start(options);
  const auto llama = services::testing::TinyLlama();
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("model")));
  services::testing::WriteTo(files_, folder_.Path("model"), llama);
  EXPECT_EQ(
      Ordo({"push", "checkpoint", folder_.Path("model"), "--name", "llama"}),
      "jobs/llama/checkpoints/0-0\n");
  Ordo({"get", "jobs/llama/checkpoints/latest", "--out", folder_.Path("same")});
  EXPECT_EQ(Read("same/model.safetensors"), llama.at("model.safetensors"));

  EXPECT_EQ(Evaluate("as-it-is", {}), "addition_grid-0");
  Ordo({"get", "jobs/as-it-is/reports/addition_grid-0:items.jsonl", "--out",
        folder_.Path("items")});
  EXPECT_THAT(Read("items"), HasSubstr("{\"id\":\"1-7\",\"score\":"));
  // In several files it is the same model.
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("parts")));
  services::testing::WriteTo(files_, folder_.Path("parts"),
                             services::testing::ShardedLlama());
  Ordo({"push", "checkpoint", folder_.Path("parts")});
  Ordo({"evaluate", "parts", "--task", "addition_grid", "--param",
        "max_digits=2", "--param", "samples=2", "--set", "name=of-parts",
        "--set", "resources.threads=1", "--wait"});
  EXPECT_EQ(Cells("of-parts"), Cells("as-it-is"));
  const std::string four = "{name: yarn, params: {factor: 4}}";
  const std::string first = Evaluate("four", {"--encoding", four});
  EXPECT_THAT(first, MatchesRegex("addition_grid-0-yarn-[0-9a-f]{8}"));
  EXPECT_EQ(Evaluate("four-again", {"--encoding", four}), first);
  EXPECT_THAT(
      Evaluate("eight", {"--encoding", "{name: yarn, params: {factor: 8}}"}),
      Not(first));
  // A gate compares such models as it does others; of two that are equal none
  // is shown to be worse.
  EXPECT_THAT(
      Ordo({"gate", "--candidate", "llama", "--baseline", "parts", "--task",
            "addition_grid", "--param", "max_digits=2", "--param", "samples=2",
            "--margin", "0.1", "--on-inconclusive", "pass", "--set",
            "resources.threads=1"}),
      HasSubstr("jobs/llama-gate/reports/gate"));

  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("tune.yaml"), R"(
kind: train
name: tuned
model: {from: llama}
encoding: {name: yarn, params: {factor: 4}}
data: {task: addition, params: {max_digits: 2}}
training: {steps: 2, batch_size: 4, lora: {rank: 2}}
resources: {threads: 1}
)"));
  Ordo({"submit", folder_.Path("tune.yaml"), "--wait"});
  Ordo({"get", "jobs/tuned/checkpoints/latest", "--out", folder_.Path("got")});
  EXPECT_THAT(Read("got/config.json"), HasSubstr("\"lora\""));
  EXPECT_THAT(Read("got/model.safetensors"), HasSubstr("lora"));
  // The weights below the adapters are those that were pushed.
  EXPECT_THAT(Ordo({"show", "tuned"}),
              HasSubstr("from: jobs/llama/checkpoints/0-0"));
  EXPECT_EQ(Ordo({"push", "checkpoint", folder_.Path("got"), "--name", "back"}),
            "jobs/back/checkpoints/2-0\n");
}

// Lines of text, of which each job holds half out.
std::string Lines(const std::string& of) {
  std::string lines;
  for (int i = 10; i < 50; ++i) absl::StrAppend(&lines, "line ", i, of, "\n");
  return lines;
}

constexpr char kReader[] = R"(
kind: train
name: reader
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data:
  task: text
  params: {data: [my-text], format: lines, length: 16, held_out: 0.5}
training: {steps: 2, batch_size: 4}
evaluations:
- {task: text, params: {max_tokens: 200}, at: end}
- {task: questions, params: {path: asked/q.jsonl, max_tokens: 64}, at: end}
resources: {threads: 1}
)";

TEST_F(PushTest, PushedTextIsTrainedOnAskedAboutAndKeepsItsVersion) {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  Start(options);
  const std::string text = folder_.Path("My_Text");
  ORDO_ASSERT_OK(files_.MakeFolders(text + "/deep"));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, text + "/deep/a.txt", Lines(" of the first")));
  std::string questions =
      "{\"prompt\": \"line {id} of\", \"choices\": [\"the\", \"a\"], "
      "\"answer\": \"the\", \"metric\": \"acc\"}\n";
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&questions, "{\"id\": ", i, "}\n");
  }
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("q.jsonl"), questions));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("reader.yaml"), kReader));

  // Nothing of it is there.
  const Said refused = RunOrdo({"submit", folder_.Path("reader.yaml")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("there is no data/my-text"),
                                 HasSubstr("there is no data/asked/q.jsonl"),
                                 HasSubstr("each line of which is an item, and "
                                           "the first {\"prompt\""),
                                 HasSubstr("ordo push data PATH")));

  const std::string first = Ordo({"push", "data", text});
  ASSERT_THAT(first, ::testing::ContainsRegex("^my-text@[0-9a-f]{16}\n$"));
  Ordo({"push", "data", folder_.Path("q.jsonl"), "--name", "asked"});
  Ordo({"submit", folder_.Path("reader.yaml"), "--wait"});
  EXPECT_THAT(Ordo({"list", "reports", "reader"}),
              AllOf(HasSubstr("perplexity="), HasSubstr("acc=")));
  // It says what it has read, and goes on with that.
  EXPECT_THAT(Ordo({"show", "reader"}),
              HasSubstr(first.substr(0, first.size() - 1)));

  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, text + "/deep/a.txt", Lines(" of another")));
  const std::string second = Ordo({"push", "data", text});
  EXPECT_NE(second, first);
  Ordo(
      {"submit", folder_.Path("reader.yaml"), "--set", "name=again", "--wait"});
  EXPECT_THAT(Ordo({"show", "again"}),
              HasSubstr(second.substr(0, second.size() - 1)));
  const std::string list = Ordo({"list", "data"});
  EXPECT_THAT(list, HasSubstr(first.substr(0, first.size() - 1)));
  EXPECT_THAT(list, HasSubstr("asked@"));

  Ordo({"delete", "data/my-text"});
  EXPECT_THAT(Ordo({"list", "data"}), Not(HasSubstr("my-text")));
  EXPECT_EQ(
      RunOrdo({"submit", folder_.Path("reader.yaml"), "--set", "name=late"})
          .exit_code,
      2);
}

// A job that trains on the file at a whole path.
std::string ReaderOf(const std::string& name, const std::string& path) {
  return absl::StrCat(R"(
kind: train
model: {preset: tiny, layers: 1, width: 16, heads: 2}
encoding: {name: rope}
training: {steps: 1, batch_size: 4}
resources: {threads: 1}
name: )",
                      name, "\ndata: {task: text, params: {data: [", path,
                      "], format: lines, length: 16}}\n");
}

TEST_F(PushTest, DataBelowARootIsReadInPlaceAndNoneOutside) {
  const std::string root = folder_.Path("root");
  const std::string outside = folder_.Path("outside/a.txt");
  for (const std::string& file : {root + "/a.txt", outside}) {
    ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(file)));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, file, Lines(" in place")));
  }
  ORDO_ASSERT_OK(files_.ReplaceLink(outside, root + "/link.txt"));
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  options.worker.add_data_roots(root);
  Start(options);
  const auto submit = [this](const std::string& name, const std::string& path) {
    const std::string file = folder_.Path(name + ".yaml");
    ORDO_EXPECT_OK(base::AtomicWrite(files_, file, ReaderOf(name, path)));
    return RunOrdo({"submit", file, "--wait"});
  };
  const Said inside = submit("inside", root + "/a.txt");
  EXPECT_EQ(inside.exit_code, 0) << inside.err;
  // Where a link leads shows where it is read.
  EXPECT_EQ(submit("linked", root + "/link.txt").exit_code, 1);
  const auto linked = WaitForState("linked", jobs::v1::Job::FAILED);
  ASSERT_TRUE(linked.has_value());
  EXPECT_THAT(linked->message(),
              AllOf(HasSubstr("data.params.data[0]"),
                    HasSubstr("is outside of what this worker may read")));
  // The worker has said what its roots are.
  const Said refused = submit("refused", outside);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("data.params.data[0]"),
                    HasSubstr("is outside of what any worker may read"),
                    HasSubstr("--data-root FOLDER")));
}

using BenchmarkTest = PushTest;

TEST_F(BenchmarkTest, AJobMeasuresKernelsOnAWorkerAndKeepsAReport) {
  harness::DeploymentOptions options = Options("");
  options.worker.set_trainer(ProgramPath("ordo-trainer"));
  Start(options);
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("bench.yaml"), R"(
kind: benchmark
name: bench
benchmark:
  classes: [rope, t5]
  types: [fp32]
  shapes: [{batch: 1, heads: 2, length: 24, width: 16}]
  rounds: 2
resources: {threads: 1}
)"));
  Ordo({"submit", folder_.Path("bench.yaml"), "--wait"});
  EXPECT_THAT(Ordo({"show", "bench"}), HasSubstr("benchmark"));
  const std::string report = "jobs/bench/reports/attention";
  EXPECT_THAT(Ordo({"list", "reports", "bench"}),
              AllOf(HasSubstr(report), HasSubstr("fwd_bwd_ratio_t5_fp32=")));
  Ordo({"get", report + ":figures.jsonl", "--out", folder_.Path("figures")});
  EXPECT_THAT(Read("figures"), HasSubstr("\"metric\":\"fwd_bwd_ratio\""));
  Ordo({"get", report + ":table.md", "--out", folder_.Path("table")});
  EXPECT_THAT(Read("table"), HasSubstr("t5: a learned bias of the distance"));
}

}  // namespace
}  // namespace ordo::tests::e2e
