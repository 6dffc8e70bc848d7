#include "services/cli/live_view.h"

#include <sstream>

#include "base/clock/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;

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

Terminal Wide() {
  Terminal terminal;
  terminal.width = 120;
  return terminal;
}

class LiveViewTest : public ::testing::Test {
 protected:
  LiveViewTest() : client_(ClientOptions(), interrupt_) {}

  std::string Show(LiveView& view, const std::vector<FollowedJob>& jobs) {
    out_.str("");
    view.Update(jobs);
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
