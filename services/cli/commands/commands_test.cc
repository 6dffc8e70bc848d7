#include "services/cli/commands/commands.h"

#include <map>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "services/cli/help.h"
#include "services/cli/testing/cli_test_base.h"
#include "services/testing/loopback.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using CommandsTest = testing::CliTest;

TEST(CommandTableTest, NamesAreUniqueAndEverythingIsExplained) {
  std::set<std::string> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_NE(command.run, nullptr) << command.name;
    EXPECT_EQ(FindCommand(command.name), &command);
    std::set<std::string> options;
    for (const Option& option : AllOptions(command)) {
      EXPECT_TRUE(options.insert(option.name).second)
          << command.name << " --" << option.name;
    }
  }
  EXPECT_EQ(FindCommand("nothing"), nullptr);
}

// The contract with scripts and people.
TEST(CommandTableTest, HasTheCommandsOfTheManual) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  EXPECT_THAT(
      names,
      ::testing::IsSupersetOf(
          {"up",         "down",    "submit",  "list",    "show",  "watch",
           "logs",       "explain", "cancel",  "wait",    "rerun", "continue",
           "evaluate",   "report",  "get",     "push",    "help",  "version",
           "completion", "hold",    "release", "workers", "usage", "priority",
           "queues",     "alias",   "pin",     "unpin",   "thin",  "delete",
           "gate",       "admin",   "whoami",  "health",  "doctor"}));
}

// How to ask each command for something that it can give.
class JsonTest : public testing::CliTest {
 protected:
  JsonTest() {
    Job queued;
    queued.set_name("jobs/q");
    queued.set_state(Job::QUEUED);
    loopback_.scheduler().PutJob(queued);
    workers::v1::Worker worker;
    worker.set_name("workers/w");
    loopback_.scheduler().PutWorker(worker);
    Job ended;
    ended.set_name("jobs/e");
    ended.set_state(Job::SUCCEEDED);
    loopback_.scheduler().PutJob(ended);
    checkpoints::v1::Checkpoint held;
    held.set_name("jobs/e/checkpoints/20-1");
    held.set_state(checkpoints::v1::Checkpoint::AVAILABLE);
    loopback_.scheduler().PutCheckpoint(held);
    scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
      job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
      job->mutable_spec()->mutable_training()->set_steps(20);
    });
    scheduler_.SetJob("b", Job::RUNNING);
    scheduler_.SetJob("g", Job::SUCCEEDED, [](Job* job) {
      job->mutable_spec()->set_kind(jobs::v1::JobSpec::GATE);
    });
    scheduler_.AppendLog("a", "some text\n");
    checkpoints::v1::Checkpoint checkpoint;
    checkpoint.set_name("jobs/a/checkpoints/20-1");
    checkpoint.set_step(20);
    scheduler_.AddCheckpoint(checkpoint);
    reports::v1::Report report;
    report.set_name("jobs/a/reports/grid-20");
    report.set_task("addition_grid");
    scheduler_.AddReport(
        report, {{"result.json",
                  R"({"task": "addition_grid", "job": "a", "max_digits": 1,
                      "trained_digits": 1, "samples": 1, "cells": [[1]]})"}});
    reports::v1::Report verdict;
    verdict.set_name("jobs/g/reports/gate");
    verdict.set_kind(reports::v1::Report::GATE);
    scheduler_.AddReport(verdict, {{"result.json", R"({"outcome": "pass"})"}});
  }

  std::map<std::string, std::vector<std::string>> Calls() {
    const std::string services = "--server=" + loopback_.server().address();
    return {
        {"hold", {"q", services}},
        {"release", {"q", services}},
        {"priority", {"q", "7", services}},
        {"queues", {"list", services}},
        {"alias", {"list", services}},
        {"pin", {"e", services}},
        {"unpin", {"e", services}},
        {"thin", {"e", services}},
        {"delete", {"jobs/e/checkpoints/20-1", services}},
        {"workers", {"cordon", "w", services}},
        {"usage", {services}},
        {"whoami", {services}},
        {"admin", {"certs", "init", folder_.Path("tls")}},
        {"health", {services}},
        {"down", {"--dir", folder_.path()}},
        {"submit", {WriteFile("c.yaml", "{kind: train, name: c}")}},
        {"list", {}},
        {"show", {"a"}},
        {"watch", {"a"}},
        {"logs", {"a"}},
        {"explain", {"a"}},
        {"cancel", {"b"}},
        {"wait", {"a"}},
        {"rerun", {"a"}},
        {"continue", {"a", "--steps", "5"}},
        {"evaluate", {"a", "--task", "addition_grid"}},
        {"gate", {"g"}},
        {"report", {"a", "--html", folder_.Path("report.html")}},
        {"get", {"jobs/a/reports/grid-20", "--out", folder_.Path("x")}},
        {"help", {}},
        {"version", {}},
        {"completion", {"bash"}},
    };
  }

  services::testing::Loopback loopback_;
};

TEST_F(JsonTest, EveryCommandPrintsNothingElseWhenAskedForIt) {
  auto calls = Calls();
  for (const Command& command : Commands()) {
    // They need more of a scheduler, or find fault with the machine; tests/e2e,
    // push_test, delete_test and doctor_test read what they print.
    if (command.name == "up" || command.name == "push" ||
        command.name == "delete" || command.name == "doctor") {
      continue;
    }
    ASSERT_EQ(calls.count(command.name), 1u) << command.name;
    std::vector<std::string> args = calls[command.name];
    args.insert(args.begin(), {"-o", "json", command.name});
    EXPECT_EQ(Run(args), 0) << command.name << ": " << err();
    EXPECT_FALSE(out().empty()) << command.name;
    std::istringstream lines(out());
    for (std::string line; std::getline(lines, line);) {
      google::protobuf::Struct json;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &json).ok())
          << command.name << ": " << line;
    }
  }
}

TEST_F(CommandsTest, EveryCommandHasHelpOfAtMostEightyColumns) {
  for (const Command& command : Commands()) {
    EXPECT_EQ(Run({"help", command.name}), 0);
    EXPECT_THAT(out(), HasSubstr("ordo " + command.name));
    std::istringstream lines(out());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << line;
    }
    const std::string help = out();
    EXPECT_EQ(Run({command.name, "--help"}), 0);
    EXPECT_EQ(out(), help);
  }
}

}  // namespace
}  // namespace ordo::services::cli
