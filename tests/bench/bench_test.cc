// The program that tools/bench runs, with a few samples of each figure.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using ::google::protobuf::Struct;
using ::google::protobuf::Value;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr absl::Duration kDeadline = absl::Minutes(2);

class BenchTest : public ::testing::Test {
 protected:
  // All programs in one folder, as tools/bench lays them.
  BenchTest() {
    const std::filesystem::path programs = folder_.Path("programs");
    ORDO_EXPECT_OK(files_.MakeFolders(programs));
    for (const char* program :
         {"ordo", "ordo-scheduler", "ordo-supervisor", "ordo-worker",
          "tests/fake/fake_trainer", "tests/fake/noop_trainer"}) {
      const std::filesystem::path path = std::filesystem::absolute(program);
      std::filesystem::create_symlink(path, programs / path.filename());
    }
    setenv("ORDO_BIN", programs.c_str(), 1);
  }

  int Run(std::vector<std::string> argv) {
    argv.insert(argv.begin(), "tests/bench/bench");
    base::SpawnOptions spawn;
    spawn.argv = argv;
    spawn.stdout_file = folder_.Path("output");
    spawn.stderr_file = spawn.stdout_file;
    const auto process = base::Spawn(spawn);
    ORDO_EXPECT_OK(process);
    if (!process.ok()) return -1;
    const auto status = base::WaitForExit(process->pid, kDeadline);
    ORDO_EXPECT_OK(status);
    return status.ok() ? status->exit_code : -1;
  }
  std::string Output() { return Text("output"); }
  std::string Text(const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 1 << 20).value_or("");
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
};

void ExpectFigure(const Struct& line) {
  const auto& fields = line.fields();
  for (const char* text : {"benchmark", "metric", "unit"}) {
    ASSERT_EQ(fields.count(text), 1u) << line.ShortDebugString();
    EXPECT_EQ(fields.at(text).kind_case(), Value::kStringValue) << text;
  }
  for (const char* number : {"value", "min", "max"}) {
    ASSERT_EQ(fields.count(number), 1u) << line.ShortDebugString();
    EXPECT_EQ(fields.at(number).kind_case(), Value::kNumberValue) << number;
  }
  // The median of rounds.
  if (fields.at("metric").string_value() == "noop_rate") {
    EXPECT_LT(fields.at("min").number_value(), fields.at("max").number_value());
  }
  // An idle scheduler may use less than the clock's tick.
  if (fields.at("metric").string_value() != "idle_cpu_share") {
    EXPECT_GT(fields.at("value").number_value(), 0);
  }
  EXPECT_LE(fields.at("min").number_value(), fields.at("value").number_value());
  EXPECT_GE(fields.at("max").number_value(), fields.at("value").number_value());
  const auto& params = fields.at("params").struct_value().fields();
  EXPECT_EQ(params.at("quick").string_value(), "true");
}

// Its benchmark and metric, and the specs that it is of, if it says so.
std::string NameOf(const Struct& line) {
  std::string name = line.fields().at("benchmark").string_value() + " " +
                     line.fields().at("metric").string_value();
  const auto& params = line.fields().at("params").struct_value().fields();
  const auto specs = params.find("specs");
  if (specs != params.end()) name += " " + specs->second.string_value();
  return name;
}

TEST_F(BenchTest, WritesALineOfJsonForEachFigure) {
  ASSERT_EQ(Run({"control", "tls", "tokens", "cli_start", "--quick", "--dir",
                 folder_.Path("new"), "--json", folder_.Path("json")}),
            0)
      << Output();
  const std::string text = Text("json");
  std::map<std::string, int> figures;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    Struct object;
    ORDO_ASSERT_OK(
        base::ReadMessage(std::string(line), base::TextForm::kJson, &object));
    ExpectFigure(object);
    ++figures[NameOf(object)];
  }
  EXPECT_EQ(figures,
            (std::map<std::string, int>{{"submit submit_ack_p50", 2},
                                        {"submit submit_ack_p99", 2},
                                        {"submit submit_rate shared", 1},
                                        {"submit submit_rate own", 1},
                                        {"submit batch_submit_rate shared", 1},
                                        {"submit batch_submit_rate own", 1},
                                        {"start start_latency_p50", 1},
                                        {"start start_latency_p99", 1},
                                        {"noop noop_rate", 1},
                                        {"cancel cancel_to_gone", 2},
                                        {"cancel cancel_to_free", 2},
                                        {"restart restart_100k shared", 1},
                                        {"restart restart_100k own", 1},
                                        {"list list_page_p50 shared", 1},
                                        {"list list_page_p50 own", 1},
                                        {"list list_page_p99 shared", 1},
                                        {"list list_page_p99 own", 1},
                                        {"idle idle_cpu_share", 1},
                                        {"scrape scrape_latency_p50", 1},
                                        {"scrape scrape_latency_p99", 1},
                                        {"core sim_decisions_rate", 1},
                                        {"core bytes_per_queued_job", 1},
                                        {"tls submit_ack_p50", 2},
                                        {"tls submit_ack_p99", 2},
                                        {"tls submit_rate", 2},
                                        {"tls submit_rate_share", 1},
                                        {"tokens token_check", 1},
                                        {"cli_start wall", 3}}));
  EXPECT_THAT(text, HasSubstr("\"clients\":\"16\""));
  EXPECT_THAT(text, HasSubstr("\"filesystem\":"));
  // A line of the table for each, below its head.
  const std::vector<std::string> rows =
      absl::StrSplit(Output(), '\n', absl::SkipEmpty());
  EXPECT_THAT(rows, SizeIs(1 + std::count(text.begin(), text.end(), '\n')));
  // What was measured is gone.
  EXPECT_THAT(files_.List(folder_.Path("new")).value(), SizeIs(0));
}

TEST_F(BenchTest, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(Run({"submitt"}), 2);
  EXPECT_THAT(Output(), HasSubstr("unknown benchmark 'submitt'; --list"));
  EXPECT_EQ(Run({"--json"}), 2);
  EXPECT_THAT(Output(), HasSubstr("--json needs a path"));
}

TEST_F(BenchTest, WhatCannotBeWrittenIsRefusedBeforeItMeasures) {
  EXPECT_EQ(Run({"core", "--quick", "--dir", folder_.Path("new"), "--json",
                 folder_.Path("none/json")}),
            2);
  EXPECT_THAT(Output(), HasSubstr("--json: no file can be written there"));
}

TEST_F(BenchTest, HelpNamesEachFlag) {
  EXPECT_EQ(Run({"--help"}), 0);
  for (const char* flag : {"--json FILE", "--dir DIR", "--quick", "--list"}) {
    EXPECT_THAT(Output(), HasSubstr(flag));
  }
}

// What tools/bench --list prints, which builds nothing for it.
TEST_F(BenchTest, TheirListIsKept) {
  EXPECT_EQ(Run({"--list"}), 0);
  EXPECT_EQ(Output(),
            base::ReadFile(files_, "tests/bench/benchmarks.txt", 1 << 20)
                .value_or(""));
}

}  // namespace
}  // namespace ordo::tests::bench
