#include "services/cli/commands/outcome.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using OutcomeTest = testing::CliTest;

class InterruptedTest : public testing::CliTest {
 protected:
  // Runs a command and interrupts it once somebody watches job `a`, for the
  // `watches`-th time.
  int RunInterrupted(const std::vector<std::string>& args, int watches = 1) {
    std::thread other([this, watches] {
      ASSERT_TRUE(scheduler_.WaitForWatcher("a", watches));
      interrupt_.Trigger();
    });
    const int code = Run(args);
    other.join();
    return code;
  }
};

TEST_F(InterruptedTest, DetachesAndPrintsTheName) {
  scheduler_.SetJob("a", Job::RUNNING);
  EXPECT_EQ(RunInterrupted({"wait", "a"}), 5);
  EXPECT_EQ(out(), "a\n");
  EXPECT_THAT(err(), HasSubstr("detached; still going: a"));
  EXPECT_EQ(scheduler_.GetJob("a").state(), Job::RUNNING);
}

TEST_F(InterruptedTest, JsonHasTheJobAsItIs) {
  scheduler_.SetJob("a", Job::RUNNING);
  // Who watches again has read the answer to the first watch.
  scheduler_.BreakNextWatch("a");
  EXPECT_EQ(RunInterrupted({"wait", "a", "-o", "json"}, 2), 5);
  EXPECT_THAT(out(), ::testing::StartsWith("{\"name\":\"jobs/a\","));
  EXPECT_THAT(out(), HasSubstr("\"state\":\"RUNNING\""));
  EXPECT_EQ(out().find('\n'), out().size() - 1);
}

TEST_F(InterruptedTest, SubmitPrintsTheNameOnce) {
  input_ = "{kind: train, name: a}";
  EXPECT_EQ(RunInterrupted({"submit", "-", "--wait"}), 5);
  EXPECT_EQ(out(), "a\n");
  EXPECT_THAT(err(), HasSubstr("still going: a"));
}

TEST_F(InterruptedTest, CancelsWhenAskedTo) {
  scheduler_.SetJob("a", Job::RUNNING);
  EXPECT_EQ(RunInterrupted({"wait", "a", "--cancel-on-interrupt"}), 3);
  EXPECT_EQ(scheduler_.GetJob("a").state(), Job::CANCELLED);
  EXPECT_THAT(out(), HasSubstr("a CANCELLED"));
}

TEST_F(InterruptedTest, CancelsWhatCouldStartFirst) {
  scheduler_.SetJob("running", Job::RUNNING);
  scheduler_.SetJob("a", Job::QUEUED);
  scheduler_.BreakNextWatch("a");
  EXPECT_EQ(
      RunInterrupted({"wait", "running", "a", "--cancel-on-interrupt"}, 2), 3);
  EXPECT_THAT(scheduler_.cancelled(),
              ::testing::ElementsAre("jobs/a", "jobs/running"));
}

TEST_F(OutcomeTest, PartsOfAParentThatHasEndedAreListedUntilTheyAreKnown) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-0"); });
  scheduler_.SetJob("a", Job::RUNNING);
  client_.retry_for = absl::ZeroDuration();
  scheduler_.LoseAnswers(1);
  std::thread other([this] {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (scheduler_.list_requests().empty() &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    scheduler_.SetJob("a", Job::SUCCEEDED);
  });
  EXPECT_EQ(Run({"watch", "c", "a"}), 0);
  other.join();
  EXPECT_EQ(scheduler_.list_requests().size(), 2u);
}

TEST_F(OutcomeTest, CancelOnInterruptNeedsSomethingToInterrupt) {
  const std::string file = WriteFile("a.yaml", "{kind: train, name: a}");
  EXPECT_EQ(Run({"submit", file, "--cancel-on-interrupt"}), 2);
  EXPECT_THAT(err(), HasSubstr("needs --wait or --watch"));
  EXPECT_TRUE(scheduler_.create_requests().empty());
}

}  // namespace
}  // namespace ordo::services::cli
