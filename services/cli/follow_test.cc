#include "services/cli/follow.h"

#include <ctime>
#include <sstream>
#include <thread>

#include "base/clock/clock.h"
#include "base/clock/testing/fake_clock.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/fake_scheduler.h"

namespace ordo::services::cli {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;
using jobs::v1::Job;

class FollowTest : public ::testing::Test {
 protected:
  FollowTest() : client_(Options(scheduler_), interrupt_) {}

  static ClientOptions Options(const testing::FakeScheduler& scheduler) {
    ClientOptions options;
    options.address = scheduler.address();
    options.patience = absl::Seconds(20);
    return options;
  }

  absl::StatusOr<FollowEnd> Follow(const std::vector<std::string>& names,
                                   const FollowOptions& options) {
    jobs_ = *JobsToFollow(names);
    return FollowJobs(context_, jobs_, options);
  }

  testing::FakeScheduler scheduler_;
  Interrupt interrupt_;
  Client client_;
  std::istringstream in_;
  std::ostringstream out_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  Context context_{in_,     out_,       out_,   Terminal(), OutputForm::kTable,
                   client_, interrupt_, files_, clock_,     nullptr};
  std::vector<FollowedJob> jobs_;
};

TEST_F(FollowTest, EndsWhenAllJobsHaveEnded) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.SetJob("b", Job::QUEUED);
  std::thread other([&] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("b"));
    scheduler_.SetJob("b", Job::RUNNING);
    scheduler_.SetJob("b", Job::FAILED);
  });
  EXPECT_THAT(Follow({"a", "jobs/b"}, {}), IsOkAndHolds(FollowEnd::kAllEnded));
  other.join();
  EXPECT_EQ(jobs_[0].job.state(), Job::SUCCEEDED);
  EXPECT_EQ(jobs_[1].job.state(), Job::FAILED);
}

TEST_F(FollowTest, WaitingTakesNoProcessor) {
  scheduler_.SetJob("a", Job::RUNNING);
  FollowOptions options;
  options.timeout = absl::Milliseconds(500);
  const std::clock_t before = std::clock();
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kTimedOut));
  const double seconds =
      static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.1);
}

TEST_F(FollowTest, RidesOutAnAbsenceOfTheServer) {
  scheduler_.SetJob("a", Job::RUNNING);
  bool was_away = false;
  FollowOptions options;
  options.on_change = [&](const std::vector<FollowedJob>& jobs) {
    if (!jobs[0].connected) was_away = true;
  };
  std::thread other([&] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("a"));
    scheduler_.Leave();
    scheduler_.SetJob("a", Job::SUCCEEDED);
    scheduler_.ComeBack();
  });
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kAllEnded));
  other.join();
  EXPECT_TRUE(was_away);
}

TEST_F(FollowTest, GivesUpWhenTheServerStaysAway) {
  ClientOptions impatient = Options(scheduler_);
  impatient.patience = absl::Milliseconds(200);
  scheduler_.Leave();
  Client client(impatient, interrupt_);
  Context context{in_,    out_,       out_,   Terminal(), OutputForm::kTable,
                  client, interrupt_, files_, clock_,     nullptr};
  jobs_ = *JobsToFollow({"a"});
  EXPECT_THAT(FollowJobs(context, jobs_, {}),
              StatusIs(absl::StatusCode::kUnavailable));
}

// With a clock that stands still while the server is away and then is `away`
// on.
class PatienceTest : public FollowTest {
 protected:
  absl::StatusOr<FollowEnd> FollowOver(absl::Duration away) {
    ClientOptions options;  // The patience that people get.
    options.address = scheduler_.address();
    Client client(options, interrupt_);
    base::testing::FakeClock clock;
    Context context{in_,    out_,       out_,   Terminal(), OutputForm::kTable,
                    client, interrupt_, files_, clock,      nullptr};
    scheduler_.SetJob("a", Job::SUCCEEDED);
    scheduler_.Leave();
    int turns = 0;
    FollowOptions follow;
    follow.tick = absl::Milliseconds(1);
    follow.on_change = [&](const std::vector<FollowedJob>& jobs) {
      if (jobs[0].connected) return;
      if (++turns == 1) clock.Advance(away);
      // So that some tries after that have failed.
      if (turns == 200) scheduler_.ComeBack();
    };
    jobs_ = *JobsToFollow({"a"});
    return FollowJobs(context, jobs_, follow);
  }
};

TEST_F(PatienceTest, RidesOut59Seconds) {
  EXPECT_THAT(FollowOver(absl::Seconds(59)),
              IsOkAndHolds(FollowEnd::kAllEnded));
}

TEST_F(PatienceTest, GivesUpAfter61Seconds) {
  EXPECT_THAT(FollowOver(absl::Seconds(61)),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(FollowTest, InterruptEndsIt) {
  scheduler_.SetJob("a", Job::RUNNING);
  std::thread other([&] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("a"));
    interrupt_.Trigger();
  });
  EXPECT_THAT(Follow({"a"}, {}), IsOkAndHolds(FollowEnd::kInterrupted));
  other.join();
}

TEST_F(FollowTest, TimeoutEndsIt) {
  scheduler_.SetJob("a", Job::RUNNING);
  FollowOptions options;
  options.timeout = absl::Milliseconds(10);
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kTimedOut));
}

TEST_F(FollowTest, WhatALimitRefusesIsTriedAgain) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.SetJob("b", Job::SUCCEEDED);
  scheduler_.RefuseWatches(3, "more than 1 call a second");
  EXPECT_THAT(Follow({"a", "b"}, {}), IsOkAndHolds(FollowEnd::kAllEnded));
}

TEST_F(FollowTest, WhatALimitRefusesEndsWithTheTimeout) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.RefuseWatches(1'000'000, "more than 1 call a second");
  FollowOptions options;
  options.timeout = absl::Milliseconds(200);
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kTimedOut));
}

TEST_F(FollowTest, WhatIsTooLargeIsNotTriedAgain) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.RefuseWatches(1'000'000, "Received message larger than max");
  EXPECT_THAT(Follow({"a"}, {}),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(FollowTest, WithoutTimeItLooksOnce) {
  FollowOptions options;
  options.timeout = absl::ZeroDuration();
  scheduler_.SetJob("a", Job::SUCCEEDED);
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kAllEnded));
  scheduler_.SetJob("b", Job::RUNNING);
  EXPECT_THAT(Follow({"a", "b"}, options), IsOkAndHolds(FollowEnd::kTimedOut));
  EXPECT_EQ(jobs_[0].job.state(), Job::SUCCEEDED);
  EXPECT_EQ(jobs_[1].job.state(), Job::RUNNING);
}

TEST_F(FollowTest, WithoutTimeAndServerNothingIsKnown) {
  ClientOptions hasty = Options(scheduler_);
  hasty.call_timeout = absl::Milliseconds(200);
  scheduler_.Leave();
  Client client(hasty, interrupt_);
  Context context{in_,    out_,       out_,   Terminal(), OutputForm::kTable,
                  client, interrupt_, files_, clock_,     nullptr};
  jobs_ = *JobsToFollow({"a"});
  FollowOptions options;
  options.timeout = absl::ZeroDuration();
  EXPECT_THAT(FollowJobs(context, jobs_, options),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(FollowTest, UnknownJobIsAnError) {
  EXPECT_THAT(Follow({"a"}, {}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FollowTest, TicksWithoutNews) {
  scheduler_.SetJob("a", Job::RUNNING);
  int calls = 0;
  FollowOptions options;
  options.tick = absl::Milliseconds(1);
  options.on_change = [&](const std::vector<FollowedJob>&) {
    if (++calls == 5) scheduler_.SetJob("a", Job::SUCCEEDED);
  };
  EXPECT_THAT(Follow({"a"}, options), IsOkAndHolds(FollowEnd::kAllEnded));
  EXPECT_GE(calls, 5);
}

TEST(JobsToFollowTest, RefusesWhatIsNoJob) {
  EXPECT_THAT(JobsToFollow({"a", "workers/b"}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace ordo::services::cli
