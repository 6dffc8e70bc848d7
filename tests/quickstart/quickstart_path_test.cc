// The path of tools/quickstart at small size, through the command line only:
// up, submit, watch, list, report, get, down, and up again.

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::quickstart {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr char kJob[] = R"(
kind: train
name: addition-ENCODING
model: {preset: tiny, layers: 2, width: 32, heads: 2}
encoding: {name: ENCODING}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 12, batch_size: 8, learning_rate: 1e-3, log_every_steps: 2}
checkpoint: {every_steps: 5, keep: 2}
evaluations: [{task: addition_grid, params: {max_digits: 3, samples: 2}}]
)";

struct Output {
  int exit_code = -1;
  std::string text;
};

class QuickstartPathTest : public testing::Test {
 protected:
  ~QuickstartPathTest() override {
    for (const auto& process : base::FindProcesses(folder_.path())) {
      base::SignalProcess(process.id, SIGKILL).IgnoreError();
    }
  }

  // Runs `ordo` and gives back what it printed, both streams together.
  Output Ordo(std::vector<std::string> arguments) {
    const std::string log = folder_.Path("output");
    files_.RemoveTree(log).IgnoreError();
    base::SpawnOptions spawn;
    spawn.argv = {harness::Program("ordo")};
    if (!server_.empty() && arguments[0] != "up" && arguments[0] != "down") {
      arguments.insert(arguments.end(), {"--server", server_});
    }
    spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
    spawn.stdout_file = log;
    spawn.stderr_file = log;
    const auto child = base::Spawn(spawn);
    EXPECT_TRUE(child.ok()) << child.status();
    if (!child.ok()) return {};
    const auto status = base::WaitForExit(child->pid, absl::Minutes(3));
    EXPECT_TRUE(status.ok()) << status.status();
    Output output;
    output.text = base::ReadFile(files_, log, 16 << 20).value_or("");
    if (status.ok()) output.exit_code = status->exit_code;
    return output;
  }

  void Up() {
    const Output up = Ordo(
        {"up", "--dir", Deployment(), "--listen", "127.0.0.1:0", "--detach"});
    ASSERT_EQ(up.exit_code, 0) << up.text;
    const auto text =
        base::ReadFile(files_, Deployment() + "/endpoints.json", 1 << 20);
    ASSERT_TRUE(text.ok()) << text.status();
    google::protobuf::Struct endpoints;
    ASSERT_TRUE(
        base::ReadMessage(*text, base::TextForm::kJson, &endpoints).ok());
    server_ = endpoints.fields().at("api").string_value();
  }

  std::string WriteJob(const std::string& encoding) {
    std::string text = kJob;
    for (size_t at; (at = text.find("ENCODING")) != std::string::npos;) {
      text.replace(at, 8, encoding);
    }
    const std::string path = folder_.Path(encoding + ".yaml");
    EXPECT_TRUE(base::AtomicWrite(files_, path, text).ok());
    return path;
  }

  // A row for each model, with the interval of each of its four shares.
  static void ExpectTable(const std::string& text) {
    int num_rows = 0;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::StartsWith(line, "addition-tape") &&
          !absl::StartsWith(line, "addition-rope")) {
        continue;
      }
      ++num_rows;
      EXPECT_EQ(Count(line, " % ["), 4) << line;
    }
    EXPECT_EQ(num_rows, 2) << text;
  }

  // Three were written; keep: 2 leaves the last two, and of the first a line.
  void ExpectNewestCheckpoints() {
    for (const std::string job : {"addition-tape", "addition-rope"}) {
      const Output list = Ordo({"list", "checkpoints", job});
      EXPECT_EQ(list.exit_code, 0) << list.text;
      std::vector<std::string> states;
      for (const absl::string_view line : absl::StrSplit(list.text, '\n')) {
        if (!absl::StartsWith(line, absl::StrCat("jobs/", job, "/"))) continue;
        states.push_back(absl::StrContains(line, "AVAILABLE") ? "AVAILABLE"
                         : absl::StrContains(line, "DELETED") ? "DELETED"
                                                              : "");
      }
      EXPECT_THAT(states, ElementsAre("AVAILABLE", "AVAILABLE", "DELETED"))
          << list.text;
      const auto folders = files_.List(
          absl::StrCat(Deployment(), "/storage/jobs/", job, "/checkpoints"));
      ASSERT_TRUE(folders.ok()) << folders.status();
      EXPECT_THAT(*folders, UnorderedElementsAre("10-1", "12-1"));
    }
  }

  void ExpectBegins(const std::string& path, const std::string& with) {
    const auto text = base::ReadFile(files_, path, 64 << 20);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_TRUE(absl::StartsWith(*text, with)) << path;
  }

  static int Count(absl::string_view text, absl::string_view part) {
    int count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != absl::string_view::npos;
         at += part.size()) {
      ++count;
    }
    return count;
  }

  std::string Deployment() const { return folder_.path() + "/deployment"; }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::string server_;
};

TEST_F(QuickstartPathTest, TrainsEvaluatesReportsAndLeavesNothingBehind) {
  Up();
  const std::string tape = WriteJob("tape");
  const std::string rope = WriteJob("rope");
  const Output submit = Ordo({"submit", tape, rope, "--watch"});
  EXPECT_EQ(submit.exit_code, 0) << submit.text;
  // Written to a file, the view is a line for each change.
  for (const char* name : {"addition-tape", "addition-rope"}) {
    EXPECT_TRUE(absl::StrContains(submit.text,
                                  absl::StrCat("\n", name, " SUCCEEDED  in ")))
        << submit.text;
  }

  const Output list = Ordo({"list", "-o", "json"});
  EXPECT_EQ(list.exit_code, 0) << list.text;
  EXPECT_TRUE(absl::StrContains(list.text, "SUCCEEDED")) << list.text;
  EXPECT_TRUE(absl::StrContains(list.text, "addition-tape"));
  EXPECT_TRUE(absl::StrContains(list.text, "addition-rope"));

  const std::string html = folder_.Path("report.html");
  const Output report =
      Ordo({"report", "addition-tape", "addition-rope", "--html", html});
  EXPECT_EQ(report.exit_code, 0) << report.text;
  ExpectTable(report.text);
  EXPECT_TRUE(absl::StrContains(report.text, "wrote " + html)) << report.text;
  for (const char* figure :
       {"addition-tape", "addition-rope", "equal-lengths", "learning-curves"}) {
    const std::string stem = folder_.Path(absl::StrCat("report-", figure));
    ExpectBegins(stem + ".png", "\x89PNG\r\n");
    ExpectBegins(stem + ".svg", "<?xml");
  }
  const std::string page = base::ReadFile(files_, html, 16 << 20).value_or("");
  // Two heat maps, the curves of equal lengths and the training losses.
  EXPECT_EQ(Count(page, "<svg"), 4);
  EXPECT_TRUE(absl::StrContains(page, "addition-rope"));
  EXPECT_FALSE(absl::StrContains(page, "src=\"http")) << "not self-contained";

  ExpectNewestCheckpoints();

  const std::string weights = folder_.Path("model.safetensors");
  const Output get =
      Ordo({"get", "jobs/addition-tape/checkpoints/latest:model.safetensors",
            "--out", weights});
  EXPECT_EQ(get.exit_code, 0) << get.text;
  EXPECT_TRUE(base::Exists(files_, weights)) << get.text;

  const Output down = Ordo({"down", "--dir", Deployment()});
  EXPECT_EQ(down.exit_code, 0) << down.text;
  for (const auto& process : base::FindProcesses(Deployment())) {
    ADD_FAILURE() << "still running: " << process.command_line;
  }

  Up();
  EXPECT_TRUE(
      absl::StrContains(Ordo({"show", "addition-tape"}).text, "SUCCEEDED"));
  EXPECT_EQ(Ordo({"down", "--dir", Deployment()}).exit_code, 0);
}

}  // namespace
}  // namespace ordo::tests::quickstart
