#include "worker/trainer/waiting_reports.h"

#include <string>
#include <utility>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitingReportsTest : public ::testing::Test {
 protected:
  WaitingReportsTest() : reports_(clock_, Options()) {}

  WaitingReportsOptions Options() {
    WaitingReportsOptions options;
    options.write = [this](const EvaluationResult& result) {
      if (!disk_.ok()) return disk_;
      written_.push_back(result.report.id);
      return absl::OkStatus();
    };
    options.warn = [this](const std::string& warning) {
      warnings_.push_back(warning);
    };
    options.max_items = 10;
    return options;
  }

  void Add(const std::string& id, size_t num_items) {
    EvaluationResult result;
    result.report.id = id;
    result.outcome.items.resize(num_items);
    reports_.Add(std::move(result), disk_);
  }

  base::testing::FakeClock clock_;
  absl::Status disk_ = absl::ResourceExhaustedError("disk full");
  std::vector<std::string> written_;
  std::vector<std::string> warnings_;
  WaitingReports reports_;
};

TEST_F(WaitingReportsTest, AreWrittenInTheirOrderAfterADelay) {
  Add("a", 3);
  Add("b", 3);
  EXPECT_THAT(warnings_, ElementsAre("report a waits for the disk: disk full",
                                     "report b waits for the disk: disk full"));
  disk_ = absl::OkStatus();
  reports_.Retry();
  EXPECT_THAT(written_, IsEmpty());
  clock_.Advance(absl::Seconds(10));
  reports_.Retry();
  EXPECT_THAT(written_, ElementsAre("a", "b"));
  reports_.WriteOrLeaveOut();
  EXPECT_THAT(written_, ElementsAre("a", "b"));
}

TEST_F(WaitingReportsTest, TheOldestIsLeftOutWhereMoreWaitThanMemoryHolds) {
  Add("a", 4);
  Add("b", 4);
  warnings_.clear();
  Add("c", 6);
  EXPECT_THAT(warnings_,
              ElementsAre("report c waits for the disk: disk full",
                          "report a is left out: with it reports of 14 items "
                          "wait for the disk, and memory is for 10"));
  Add("d", 0);
  disk_ = absl::OkStatus();
  reports_.WriteOrLeaveOut();
  EXPECT_THAT(written_, ElementsAre("b", "c", "d"));
}

TEST_F(WaitingReportsTest, WhatWasWrittenCountsNoLonger) {
  Add("a", 6);
  disk_ = absl::OkStatus();
  clock_.Advance(absl::Seconds(10));
  reports_.Retry();
  disk_ = absl::ResourceExhaustedError("disk full");
  Add("b", 6);
  disk_ = absl::OkStatus();
  reports_.WriteOrLeaveOut();
  EXPECT_THAT(written_, ElementsAre("a", "b"));
}

TEST_F(WaitingReportsTest, TheLastTryLeavesOutWhatCannotBeWritten) {
  Add("a", 1);
  warnings_.clear();
  reports_.WriteOrLeaveOut();
  EXPECT_THAT(warnings_, ElementsAre("report a is left out: disk full"));
  disk_ = absl::OkStatus();
  clock_.Advance(absl::Minutes(1));
  reports_.Retry();
  EXPECT_THAT(written_, IsEmpty());
}

}  // namespace
}  // namespace ordo::worker::trainer
