#include "scheduler/core/transitions.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

using Row = std::tuple<std::string, std::string, std::string>;

std::string Name(JobState state) { return Job::State_Name(state); }

std::set<Row> Rows() {
  std::set<Row> rows;
  for (const Transition& t : kTransitions) {
    rows.insert(
        {Name(t.from), std::string(TriggerName(t.trigger)), Name(t.to)});
  }
  return rows;
}

std::vector<std::string> DocumentLines() {
  base::PosixFilesystem files;
  const auto text = base::ReadFile(files, "docs/states.md", 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? absl::StrSplit(*text, '\n') : std::vector<std::string>();
}

// The cells of a table's line; empty when it is none.
std::vector<std::string> Cells(const std::string& line) {
  if (line.empty() || line[0] != '|') return {};
  std::vector<std::string> cells;
  for (absl::string_view cell : absl::StrSplit(line, '|')) {
    cells.emplace_back(absl::StripAsciiWhitespace(cell));
  }
  return {cells.begin() + 1, cells.end() - 1};
}

TEST(TransitionsTest, TheDocumentsTableIsTheCodes) {
  std::set<Row> rows;
  const std::set<std::string> states = [] {
    std::set<std::string> names;
    for (const JobState state : kJobStates) names.insert(Name(state));
    return names;
  }();
  for (const std::string& line : DocumentLines()) {
    const auto cells = Cells(line);
    if (cells.size() == 3 && states.count(cells[0]) > 0 &&
        states.count(cells[2]) > 0) {
      rows.insert({cells[0], cells[1], cells[2]});
    }
  }
  EXPECT_EQ(rows, Rows());
}

TEST(TransitionsTest, TheDocumentsDiagramIsTheCodes) {
  std::set<Row> rows;
  for (const std::string& line : DocumentLines()) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" :"), absl::SkipEmpty());
    if (words.size() == 4 && words[1] == "-->" && words[0] != "[*]") {
      rows.insert({words[0], words[3], words[2]});
    }
  }
  EXPECT_EQ(rows, Rows());
}

TEST(TransitionsTest, TheDocumentListsEveryReason) {
  std::set<std::string> listed;
  bool in_reasons = false;
  for (const std::string& line : DocumentLines()) {
    if (line == "## Reasons") in_reasons = true;
    const auto cells = Cells(line);
    if (!in_reasons || cells.size() != 3 || cells[0] == "reason" ||
        cells[0][0] == '-') {
      continue;
    }
    listed.insert(cells[0]);
  }
  EXPECT_EQ(listed, std::set<std::string>(std::begin(reason::kAll),
                                          std::end(reason::kAll)));
}

TEST(TransitionsTest, NoPairIsListedTwice) {
  EXPECT_EQ(Rows().size(), std::size(kTransitions));
}

TEST(TransitionsTest, TerminalStatesAcceptNothing) {
  for (const JobState state : kJobStates) {
    for (const Trigger trigger : kTriggers) {
      if (IsTerminal(state)) {
        EXPECT_EQ(NextState(state, trigger), std::nullopt);
      }
    }
  }
}

// How long the job may wait that expires.
constexpr absl::Duration kLimit = absl::Seconds(1);

NewJob MakeJob(Trigger trigger) {
  JobBuilder job("a");
  if (trigger == Trigger::kExpire) job.QueueTimeLimit(kLimit);
  return job;
}

// A worker w and a job "a" in the state, its live attempt being the first.
void Reach(TestShell& shell, JobState state, Trigger trigger) {
  if (state == Job::QUEUED && trigger == Trigger::kFail) {
    // What it needs will not succeed.
    ORDO_ASSERT_OK(shell.Submit(
        {JobBuilder("a").Needs("b"), JobBuilder("b").Device("cuda")}));
    shell.Ignore();
    return;
  }
  if (state != Job::QUEUED) {
    ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
    shell.Ignore();
  }
  ORDO_ASSERT_OK(shell.Submit(MakeJob(trigger)));
  shell.Ignore();
  if (state == Job::RUNNING) {
    shell.Observe("w", {AttemptBuilder("a", 1).Running()});
  } else if (state == Job::CANCELLING) {
    ORDO_ASSERT_OK(shell.CancelJob("a"));
  } else if (state == Job::SUCCEEDED) {
    shell.Observe("w", {AttemptBuilder("a", 1).Running().Exited(0)});
  } else if (state == Job::FAILED) {
    shell.Observe("w", {AttemptBuilder("a", 1).Running().Exited(2)});
  } else if (state == Job::CANCELLED) {
    ORDO_ASSERT_OK(shell.CancelJob("a"));
    shell.Ignore();
    shell.Observe("w", {AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED)});
  }
  shell.Ignore();
  ASSERT_EQ(shell.StateOf("a"), state);
}

// Makes happen what the trigger stands for, whether or not it is legal now.
void Pull(TestShell& shell, Trigger trigger) {
  const bool has_worker = shell.state().workers.count("w") > 0;
  switch (trigger) {
    case Trigger::kPlace:
      // Another worker offers itself.
      ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("v")));
      break;
    case Trigger::kCancel:
      shell.CancelJob("a").IgnoreError();
      break;
    case Trigger::kExpire:
      shell.Advance(kLimit);
      break;
    default:
      if (shell.state().jobs.count("b") > 0) {
        ORDO_ASSERT_OK(shell.CancelJob("b"));
        break;
      }
      if (!has_worker) {
        // A queued job has no attempt that anybody could report of; say so all
        // the same, from a worker that has no device for it.
        ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w").Devices({"cuda:0"})));
        shell.Ignore();
      }
      AttemptBuilder attempt("a", 1);
      attempt.Running();
      if (trigger == Trigger::kFinish) attempt.Exited(0);
      if (trigger == Trigger::kFail) attempt.Exited(2);
      if (trigger == Trigger::kRetry) attempt.Exited(1);
      if (trigger == Trigger::kInterrupt) {
        attempt.Ended(ObservedAttempt::SUPERVISOR_LOST);
      }
      // A drained worker takes no new work, so that the job stays where the
      // transition leaves it.
      agent::v1::AnnounceRequest request = WorkerBuilder("w");
      if (has_worker) request = WorkerBuilder("w").Draining();
      if (!has_worker) request = WorkerBuilder("w").Devices({"cuda:0"});
      request.mutable_observed()->set_sequence(100);
      *request.mutable_observed()->add_attempts() = attempt;
      ORDO_ASSERT_OK(shell.Announce(request));
  }
  shell.Ignore();
}

TEST(TransitionsTest, TheCoreFollowsTheTableForEveryPair) {
  for (const JobState state : kJobStates) {
    for (const Trigger trigger : kTriggers) {
      SCOPED_TRACE(Name(state) + " " + std::string(TriggerName(trigger)));
      TestShell shell;
      Reach(shell, state, trigger);
      const int64_t version = shell.job("a").version();
      Pull(shell, trigger);
      const auto next = NextState(state, trigger);
      EXPECT_EQ(Name(shell.StateOf("a")), Name(next.value_or(state)));
      if (IsTerminal(state)) {
        EXPECT_EQ(shell.job("a").version(), version);
      }
    }
  }
}

}  // namespace
}  // namespace ordo::scheduler::core
