// What the programs log as JSON, and the trace of a job from the command line
// to its trainer.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/log/fields.h"
#include "base/status/testing/status_matchers.h"
#include "base/trace/trace.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using google::protobuf::Struct;
using jobs::v1::Job;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kTraceParent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kJob[] =
    "kind: train\nname: traced\nmodel: {layers: 1, width: 16, heads: 2}\n"
    "encoding: {name: rope}\ndata: {task: addition, params: {max_digits: 2}}\n"
    "training: {steps: 20, batch_size: 4}\nresources: {threads: 1}\n";

class LogsTest : public Scenario {
 protected:
  LogsTest() { unsetenv(base::kTraceParentVariable); }
  ~LogsTest() override { unsetenv(base::kTraceParentVariable); }

  void StartWithJson(const std::string& trainer) {
    harness::DeploymentOptions options = Options("");
    options.scheduler.set_log_format("json");
    options.worker.set_log_format("json");
    options.worker.set_worker("w");
    options.worker.set_trainer(ProgramPath(trainer));
    Start(options);
  }
  // Submits kJob by the command line and waits for its end.
  void RunTheJob() {
    const std::string file = folder_.Path("traced.yaml");
    ORDO_ASSERT_OK(base::AtomicWrite(files_, file, kJob));
    const Said said = RunOrdo({"submit", file, "--request-id", "request-7"});
    ASSERT_EQ(said.exit_code, 0) << said.err;
    const auto job = WaitForEnd("traced");
    ASSERT_TRUE(job.has_value());
    ASSERT_EQ(job->state(), Job::SUCCEEDED) << job->message();
  }
  // The lines of a program's log, each an object.
  std::vector<Struct> LinesOf(const std::string& part) {
    std::vector<Struct> lines;
    const auto names = files_.List(folder_.Path("log"));
    ORDO_EXPECT_OK(names);
    for (const std::string& name : *names) {
      if (!absl::StartsWith(name, part)) continue;
      const auto text =
          base::ReadFile(files_, folder_.Path("log/" + name), 16 << 20);
      ORDO_EXPECT_OK(text);
      for (const auto line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
        const absl::Status read = base::ReadMessage(
            std::string(line), base::TextForm::kJson, &lines.emplace_back());
        EXPECT_TRUE(read.ok()) << read << ": " << line;
      }
    }
    return lines;
  }
  // Those that say that this happened.
  static std::vector<Struct> Of(const std::vector<Struct>& lines,
                                const std::string& event) {
    std::vector<Struct> found;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
                 [&event](const Struct& line) {
                   return line.fields().at("event").string_value() == event;
                 });
    return found;
  }
};

std::vector<std::string> NamesIn(const Struct& line) {
  std::vector<std::string> names;
  for (const auto& [name, value] : line.fields()) names.push_back(name);
  return names;
}

std::string Text(const Struct& line, const std::string& name) {
  const auto field = line.fields().find(name);
  return field == line.fields().end() ? "" : field->second.string_value();
}

void ExpectNamesThatAreListed(const std::vector<Struct>& lines) {
  std::set<std::string> listed(std::begin(base::kLogLineNames),
                               std::end(base::kLogLineNames));
  for (const base::LogFieldName& field : base::kLogFieldNames) {
    listed.insert(field.name);
  }
  for (const Struct& line : lines) {
    EXPECT_THAT(NamesIn(line), IsSupersetOf(base::kLogLineNames));
    for (const std::string& name : NamesIn(line)) {
      EXPECT_EQ(listed.count(name), 1u) << name << ": " << Text(line, "event");
    }
  }
}

TEST_F(LogsTest, EachLineIsAnObjectWithNamesThatAreListed) {
  StartWithJson("tests/fake/fake_trainer");
  RunTheJob();
  const std::vector<Struct> scheduler = LinesOf("scheduler");
  const std::vector<Struct> worker = LinesOf("worker");
  ASSERT_FALSE(scheduler.empty());
  ASSERT_FALSE(worker.empty());
  ExpectNamesThatAreListed(scheduler);
  ExpectNamesThatAreListed(worker);
  for (const Struct& line : worker) EXPECT_EQ(Text(line, "worker"), "w");
}

TEST_F(LogsTest, EachLineOfAJobSaysWhoseItIs) {
  StartWithJson("tests/fake/fake_trainer");
  RunTheJob();
  const std::vector<Struct> changes = Of(LinesOf("scheduler"), "job");
  ASSERT_GE(changes.size(), 2u);
  for (const Struct& line : changes) {
    EXPECT_EQ(Text(line, "job"), "traced");
    EXPECT_EQ(Text(line, "request_id"), "request-7");
    EXPECT_THAT(Text(line, "trace_id"), SizeIs(32));
    EXPECT_EQ(line.fields().count("attempt"), 1u);
    const bool is_placed = line.fields().at("attempt").number_value() > 0;
    EXPECT_EQ(Text(line, "worker"), is_placed ? "w" : "");
  }
  const std::vector<Struct> worker = LinesOf("worker");
  for (const char* event : {"attempt started", "attempt ended"}) {
    const std::vector<Struct> lines = Of(worker, event);
    ASSERT_THAT(lines, SizeIs(1)) << event;
    EXPECT_THAT(NamesIn(lines[0]),
                IsSupersetOf({"job", "attempt", "rank", "worker", "trace_id"}));
    EXPECT_EQ(Text(lines[0], "trace_id"), Text(changes[0], "trace_id"));
  }
}

TEST_F(LogsTest, ATraceGoesFromTheCommandLineToTheTrainer) {
  StartWithJson("ordo-trainer");
  // Of the command line alone.
  setenv(base::kTraceParentVariable, kTraceParent, 1);
  RunTheJob();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, deployment_->Get("traced"));
  EXPECT_EQ(job.traceparent(), kTraceParent);
  for (const char* part : {"scheduler", "worker"}) {
    bool is_there = false;
    for (const Struct& line : LinesOf(part)) {
      is_there = is_there || Text(line, "trace_id") == kTraceId;
    }
    EXPECT_TRUE(is_there) << part;
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string log, Log("traced", 0));
  EXPECT_THAT(log, HasSubstr(std::string(" trace_id=") + kTraceId + "\n"));
  EXPECT_THAT(RunOrdo({"show", "traced"}).out, HasSubstr(kTraceId));
}

TEST_F(LogsTest, ATraceThatIsMalformedIsAsNone) {
  StartWithJson("tests/fake/fake_trainer");
  setenv(base::kTraceParentVariable, "00-4BF92F35-7-01", 1);
  RunTheJob();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job job, deployment_->Get("traced"));
  EXPECT_EQ(base::ParseTraceParent(job.traceparent()), job.traceparent());
  EXPECT_THAT(job.traceparent(), AllOf(SizeIs(55), Not(HasSubstr("4bf92f35"))));
}

}  // namespace
}  // namespace ordo::tests::e2e
