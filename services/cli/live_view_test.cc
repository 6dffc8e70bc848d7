#include "services/cli/live_view.h"

#include <algorithm>
#include <pty.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "absl/strings/str_replace.h"
#include "base/clock/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;

FollowedJob Running(int64_t step) {
  FollowedJob job;
  job.name = "jobs/tape";
  job.job.set_name("jobs/tape");
  job.job.set_state(Job::RUNNING);
  job.job.mutable_progress()->set_step(step);
  job.job.mutable_progress()->set_total_steps(1000);
  job.job.mutable_progress()->set_loss(1.25);
  job.job.mutable_progress()->set_tokens_per_second(12345);
  job.job.mutable_progress()->set_step_seconds(0.25);
  return job;
}

FollowedJob Parent(Job::State state) {
  FollowedJob job;
  job.name = "jobs/c";
  job.job.set_name("jobs/c");
  job.job.set_state(state);
  job.job.set_message("waits for its parts");
  return job;
}

Job Part(const std::string& id, Job::State state) {
  Job part = Running(500).job;
  part.set_name("jobs/" + id);
  part.set_state(state);
  if (state != Job::RUNNING) part.clear_progress();
  return part;
}

Terminal Wide() {
  Terminal terminal;
  terminal.width = 120;
  return terminal;
}

class LiveViewTest : public ::testing::Test {
 protected:
  LiveViewTest() : client_(ClientOptions(), interrupt_) {}

  std::string Show(LiveView& view, const std::vector<FollowedJob>& jobs,
                   const PartsByParent& parts = {}) {
    out_.str("");
    view.Update(jobs, parts);
    return out_.str();
  }

  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  Interrupt interrupt_;
  Client client_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  Context context_{in_,     out_,       err_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
};

TEST(LiveLineTest, AGateThatHasSucceededSaysItsVerdict) {
  FollowedJob gate = Running(0);
  gate.job.clear_progress();
  gate.job.set_state(Job::SUCCEEDED);
  gate.job.set_message("Verdict: inconclusive.");
  EXPECT_THAT(LiveLine(gate, 4, Wide()), Not(HasSubstr("Verdict")));
  gate.job.mutable_spec()->set_kind(jobs::v1::JobSpec::GATE);
  EXPECT_THAT(LiveLine(gate, 4, Wide()), HasSubstr("Verdict: inconclusive."));
  gate.job.mutable_start_time()->set_seconds(100);
  gate.job.mutable_end_time()->set_seconds(103);
  EXPECT_THAT(LiveLine(gate, 4, Wide()),
              HasSubstr("Verdict: inconclusive.  in 3"));
}

TEST(LiveLineTest, ShowsBarStepLossSpeedAndTimeLeft) {
  EXPECT_EQ(LiveLine(Running(450), 6, Wide()),
            "tape    RUNNING   [#########...........]  45%  step 450/1000  "
            "loss 1.2500  12.3k tokens/s  2m18s left");
}

// The quickstart's names and steps, on the narrowest common terminal.
TEST(LiveLineTest, EightyColumnsShowAllOfIt) {
  FollowedJob job = Running(1000);
  job.name = "jobs/addition-tape";
  job.job.mutable_progress()->set_total_steps(1001);
  job.job.mutable_progress()->set_step_seconds(9999);
  Terminal terminal;
  terminal.width = 80;
  const std::string line = LiveLine(job, 13, terminal);
  EXPECT_EQ(DisplayWidth(line), 80);
  EXPECT_THAT(line, HasSubstr(".] 1000/1001 loss 1.2500 12.3k tok/s "));
  EXPECT_THAT(line, ::testing::EndsWith(" left"));
}

TEST(LiveLineTest, IsCutAtTheTerminalsWidth) {
  Terminal narrow;
  narrow.width = 40;
  const std::string line = LiveLine(Running(450), 6, narrow);
  EXPECT_EQ(DisplayWidth(line), 40);
  narrow.width = 5;
  EXPECT_EQ(LiveLine(Running(450), 6, narrow), "tape ");
}

TEST(LiveLineTest, ShowsHowFarAnEvaluationIs) {
  FollowedJob job = Running(1000);
  job.job.mutable_progress()->set_evaluation("addition_grid");
  job.job.mutable_progress()->set_evaluation_done(50);
  job.job.mutable_progress()->set_evaluation_total(200);
  EXPECT_THAT(LiveLine(job, 4, Wide()),
              HasSubstr("25%  evaluating addition_grid 50/200"));
}

TEST(LiveLineTest, IsBlankUntilTheJobIsKnown) {
  FollowedJob job;
  job.name = "jobs/tape";
  EXPECT_EQ(LiveLine(job, 6, Wide()),
            "tape              [....................]   0%  ");
}

TEST(LiveLineTest, SaysThatTheSchedulerIsAway) {
  FollowedJob job = Running(450);
  job.connected = false;
  EXPECT_THAT(LiveLine(job, 4, Wide()), HasSubstr("no answer"));
}

TEST(LiveLineTest, EndedJobSaysHow) {
  FollowedJob job = Running(450);
  job.job.set_state(Job::FAILED);
  job.job.clear_progress();
  job.job.set_message("the loss is\nnot finite");
  EXPECT_THAT(LiveLine(job, 4, Wide()), HasSubstr("the loss is not finite"));
}

TEST(LiveLineTest, AMessageInWideLettersIsCutAtTheTerminalsWidth) {
  FollowedJob job = Running(450);
  job.job.set_state(Job::FAILED);
  job.job.clear_progress();
  job.job.set_message(
      "損失は有限の数ではありませんでした。データを確かめてください。");
  for (const int width : {30, 31, 40, 80}) {
    Terminal terminal;
    terminal.width = width;
    EXPECT_LE(DisplayWidth(LiveLine(job, 4, terminal)), width);
  }
}

TEST(PartsTextTest, CountsByState) {
  EXPECT_EQ(PartsText({Part("c-0", Job::QUEUED), Part("c-1", Job::SUCCEEDED),
                       Part("c-2", Job::QUEUED), Part("c-3", Job::RUNNING)}),
            "4 parts: 1 SUCCEEDED, 1 RUNNING, 2 QUEUED");
  EXPECT_EQ(PartsText({Part("c-0", Job::FAILED)}), "1 part: 1 FAILED");
}

TEST(PartsTextTest, SaysHowManyWereStoppedEarly) {
  Job stopped = Part("c-1", Job::CANCELLED);
  stopped.set_reason("STOPPED_EARLY");
  EXPECT_EQ(PartsText({Part("c-0", Job::CANCELLED), stopped,
                       Part("c-2", Job::SUCCEEDED)}),
            "3 parts: 1 SUCCEEDED, 2 CANCELLED (1 stopped early)");
}

TEST(LossLineTest, GoesFromTheFirstToTheLast) {
  EXPECT_EQ(LossLine({4, 3, 2, 1}, Wide()), "  loss 4.0000 #*-_ 1.0000");
  EXPECT_EQ(LossLine({4}, Wide()), "");
}

TEST(LossLineTest, IsAsWideAsTheTerminalOrIsNotThere) {
  const std::vector<double> losses(100, 2);
  Terminal terminal;
  terminal.unicode = true;
  terminal.width = 40;
  EXPECT_EQ(DisplayWidth(LossLine(losses, terminal)), 40);
  terminal.width = 20;
  EXPECT_EQ(LossLine(losses, terminal), "");
}

TEST(BarTest, IsFullOnlyAtTheEnd) {
  EXPECT_EQ(Bar(0, 4), "[....]");
  EXPECT_EQ(Bar(0.99, 4), "[###.]");
  EXPECT_EQ(Bar(1, 4), "[####]");
  EXPECT_EQ(Bar(7, 4), "[####]");
}

TEST_F(LiveViewTest, TerminalIsRedrawnInPlace) {
  context_.terminal.interactive = true;
  context_.terminal.width = 120;
  LiveView view(context_);
  const std::string first = Show(view, {Running(1), Running(2)});
  EXPECT_THAT(first, Not(HasSubstr("\x1b[2A")));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 2);
  EXPECT_THAT(Show(view, {Running(3), Running(4)}),
              ::testing::StartsWith("\x1b[2A\r"));
}

TEST_F(LiveViewTest, AParentCountsItsPartsAndShowsThoseThatRun) {
  context_.terminal.interactive = true;
  context_.terminal.width = 100;
  LiveView view(context_);
  PartsByParent parts;
  parts["jobs/c"] = {Part("c-0", Job::SUCCEEDED), Part("c-1", Job::RUNNING),
                     Part("c-2", Job::QUEUED), Part("c-3", Job::QUEUED)};
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts),
            "\rc  QUEUED    [#######.............]  37%  4 parts: 1 SUCCEEDED, "
            "1 RUNNING, 2 QUEUED\x1b[K\n"
            "\r  c-1  RUNNING   [##########..........]  50%  step 500/1000  "
            "loss 1.2500  12.3k tokens/s  2m05s left\x1b[K\n");
  // What a longer block left is cleared.
  parts["jobs/c"][1].set_state(Job::SUCCEEDED);
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts),
            "\x1b[2A\rc  QUEUED    [##########..........]  50%  4 parts: 2 "
            "SUCCEEDED, 2 QUEUED\x1b[K\n\x1b[J");
}

TEST_F(LiveViewTest, AParentTookFromTheFirstStartOfAPartToItsEnd) {
  context_.terminal.interactive = true;
  context_.terminal.width = 100;
  LiveView view(context_);
  FollowedJob parent = Parent(Job::SUCCEEDED);
  // Its own task, the report.
  parent.job.mutable_start_time()->set_seconds(400);
  parent.job.mutable_end_time()->set_seconds(401);
  PartsByParent parts;
  parts["jobs/c"] = {Part("c-0", Job::SUCCEEDED), Part("c-1", Job::SUCCEEDED),
                     Part("c-2", Job::CANCELLED)};
  parts["jobs/c"][0].mutable_start_time()->set_seconds(300);
  parts["jobs/c"][1].mutable_start_time()->set_seconds(101);
  EXPECT_THAT(Show(view, {parent}, parts), HasSubstr("  in 5m"));
}

TEST_F(LiveViewTest, NoLineIsWiderThanTheTerminal) {
  context_.terminal.interactive = true;
  PartsByParent parts;
  parts["jobs/c"] = {Part("c-0", Job::RUNNING), Part("c-1", Job::CANCELLING)};
  for (const int width : {1, 2, 3, 5, 10, 20, 40, 80, 200}) {
    context_.terminal.width = width;
    LiveView view(context_);
    Show(view, {Running(100)});
    for (const std::string& shown :
         {Show(view, {Running(200)}),
          Show(view, {Parent(Job::QUEUED)}, parts)}) {
      std::istringstream lines(shown);
      std::string line;
      while (std::getline(lines, line)) {
        line = absl::StrReplaceAll(line, {{"\r", ""},
                                          {"\x1b[K", ""},
                                          {"\x1b[J", ""},
                                          {"\x1b[1A", ""},
                                          {"\x1b[2A", ""}});
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }
}

TEST_F(LiveViewTest, AResizedTerminalIsRedrawnWhereItsLinesStandNow) {
  int screen = -1, child = -1;
  winsize size = {};
  size.ws_col = 40;
  size.ws_row = 24;
  ASSERT_EQ(openpty(&screen, &child, nullptr, nullptr, &size), 0);
  context_.terminal.interactive = true;
  context_.terminal.color = true;
  context_.terminal.fd = child;
  LiveView view(context_);
  Show(view, {Running(1), Running(2)});
  // Each line of 40 columns stands on two rows now.
  size.ws_col = 20;
  ASSERT_EQ(ioctl(screen, TIOCSWINSZ, &size), 0);
  const std::string narrow = Show(view, {Running(3), Running(4)});
  EXPECT_THAT(narrow, ::testing::StartsWith("\x1b[4A\r"));
  EXPECT_THAT(narrow, ::testing::EndsWith("\x1b[K\n\x1b[J"));
  // What was drawn in 20 columns stands on one row each.
  size.ws_col = 120;
  ASSERT_EQ(ioctl(screen, TIOCSWINSZ, &size), 0);
  const std::string wide = Show(view, {Running(3), Running(4)});
  EXPECT_THAT(wide, ::testing::StartsWith("\x1b[2A\r"));
  EXPECT_THAT(wide, HasSubstr("step 4/1000  loss 1.2500"));
  close(screen);
  close(child);
}

TEST_F(LiveViewTest, WhatIsHigherThanTheTerminalIsCounted) {
  context_.terminal.interactive = true;
  context_.terminal.height = 5;
  LiveView view(context_);
  PartsByParent parts;
  parts["jobs/c"].assign(10, Part("c-0", Job::RUNNING));
  const std::string shown = Show(view, {Parent(Job::QUEUED)}, parts);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 4);
  EXPECT_THAT(shown, ::testing::EndsWith("\rand 8 more lines\x1b[K\n"));
}

TEST_F(LiveViewTest, TheLossesOfOneJobAreBelowIt) {
  context_.terminal.interactive = true;
  LiveView view(context_);
  FollowedJob job = Running(10);
  EXPECT_THAT(Show(view, {job}), Not(HasSubstr("\r  loss")));
  job.job.mutable_progress()->set_step(20);
  job.job.mutable_progress()->set_loss(0.5);
  // Told twice, it counts once.
  Show(view, {job});
  EXPECT_THAT(Show(view, {job}),
              HasSubstr("\r  loss 1.2500 #_ 0.5000\x1b[K\n"));
  EXPECT_THAT(Show(view, {job, job}), Not(HasSubstr("#_")));
}

TEST_F(LiveViewTest, ElsewhereAParentPrintsItsCountsNowAndThen) {
  LiveView view(context_);
  PartsByParent parts;
  parts["jobs/c"] = {Part("c-0", Job::RUNNING), Part("c-1", Job::QUEUED)};
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts),
            "c QUEUED  2 parts: 1 RUNNING, 1 QUEUED\n");
  parts["jobs/c"][0].set_state(Job::SUCCEEDED);
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts), "");
  clock_.Advance(LiveView::kPlainPeriod);
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts),
            "c QUEUED  2 parts: 1 SUCCEEDED, 1 QUEUED\n");
  clock_.Advance(LiveView::kPlainPeriod);
  EXPECT_EQ(Show(view, {Parent(Job::QUEUED)}, parts), "");
  parts["jobs/c"][1].set_state(Job::FAILED);
  FollowedJob ended = Parent(Job::FAILED);
  ended.job.set_message("1 of 2 parts did not succeed");
  EXPECT_EQ(Show(view, {ended}, parts),
            "c FAILED  2 parts: 1 SUCCEEDED, 1 FAILED  1 of 2 parts did not "
            "succeed\n");
}

TEST_F(LiveViewTest, ElsewhereOnlyNewsIsPrinted) {
  LiveView view(context_);
  EXPECT_EQ(Show(view, {Running(100)}),
            "tape RUNNING  step 100/1000  loss 1.2500  12.3k tokens/s  "
            "3m45s left\n");
  EXPECT_EQ(Show(view, {Running(101)}), "");
  clock_.Advance(LiveView::kPlainPeriod);
  EXPECT_EQ(Show(view, {Running(101)}).substr(0, 27),
            "tape RUNNING  step 101/1000");
  clock_.Advance(LiveView::kPlainPeriod);
  EXPECT_EQ(Show(view, {Running(101)}), "");
  FollowedJob ended = Running(1000);
  ended.job.set_state(Job::SUCCEEDED);
  EXPECT_EQ(Show(view, {ended}), "tape SUCCEEDED\n");
}

TEST_F(LiveViewTest, ProgramsReadNothingOfIt) {
  context_.output = OutputForm::kJson;
  context_.terminal.interactive = true;
  LiveView view(context_);
  EXPECT_EQ(Show(view, {Running(100)}), "");
  EXPECT_THAT(err_.str(), HasSubstr("tape RUNNING"));
}

}  // namespace
}  // namespace ordo::services::cli
