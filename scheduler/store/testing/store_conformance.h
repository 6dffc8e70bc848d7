#ifndef ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_
#define ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/core/present.h"
#include "scheduler/store/store.h"

// What every implementation of Store does. A test of one instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, StoreConformanceTest,
//                            ::testing::Values(&MakeMine));

namespace ordo::scheduler::store::testing {

// Opens the same store each time it is called; what it opened before is closed.
using OpenStore = std::function<absl::StatusOr<std::unique_ptr<Store>>()>;

// Makes a new, empty store and a way to open it again.
using MakeStore = OpenStore (*)();

class StoreConformanceTest : public ::testing::TestWithParam<MakeStore> {
 protected:
  StoreConformanceTest() : open_(GetParam()()) {}

  // Closes the store and opens it again.
  Contents Reopen() {
    store_.reset();
    auto store = open_();
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return {};
    store_ = *std::move(store);
    auto contents = store_->Load();
    EXPECT_TRUE(contents.ok()) << contents.status();
    return contents.ok() ? *std::move(contents) : Contents();
  }
  Store& store() { return *store_; }

  static core::Record JobRecord(int64_t sequence, const std::string& name,
                                int64_t version = 1) {
    core::StoredJob stored;
    stored.job.set_name("jobs/" + name);
    stored.job.mutable_spec()->set_name(name);
    stored.job.set_sequence(sequence);
    stored.job.set_version(version);
    stored.request_id = "request-" + name;
    stored.fingerprint = "fingerprint-" + name;
    stored.incarnation = "incarnation-" + std::to_string(version);
    stored.acknowledged_records = version * 10;
    core::SpecTable specs;
    return {core::RecordOf(std::move(stored), &specs)};
  }
  static core::Record CheckpointRecord(
      const std::string& name, checkpoints::v1::Checkpoint::State state) {
    auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
    checkpoint->set_name(name);
    checkpoint->set_state(state);
    return {core::CheckpointPtr(std::move(checkpoint))};
  }
  static core::Record ReportRecord(const std::string& name, int64_t step) {
    auto report = std::make_shared<reports::v1::Report>();
    report->set_name(name);
    report->set_step(step);
    return {core::ReportPtr(std::move(report))};
  }

 private:
  OpenStore open_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreConformanceTest, ANewStoreIsEmpty) {
  const Contents contents = Reopen();
  EXPECT_TRUE(contents.records.jobs.empty());
  EXPECT_TRUE(contents.records.checkpoints.empty());
  EXPECT_TRUE(contents.records.reports.empty());
}

TEST_P(StoreConformanceTest, EachOpeningHasALargerEpoch) {
  const int64_t first = Reopen().epoch;
  EXPECT_GE(first, 1);
  EXPECT_GT(Reopen().epoch, first);
}

TEST_P(StoreConformanceTest, WhatIsCommittedIsThereAfterReopening) {
  Reopen();
  ORDO_ASSERT_OK(
      store().Commit({JobRecord(2, "b"), JobRecord(1, "a"),
                      CheckpointRecord("jobs/a/checkpoints/5-1",
                                       checkpoints::v1::Checkpoint::AVAILABLE),
                      ReportRecord("jobs/a/reports/r-5", 5)}));
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 2u);
  const core::JobRecord& a = *contents.records.jobs[0];
  EXPECT_EQ(a.id(), "a");
  EXPECT_EQ(a.facts->request_id, "request-a");
  EXPECT_EQ(a.facts->fingerprint, "fingerprint-a");
  EXPECT_EQ(a.incarnation, "incarnation-1");
  EXPECT_EQ(a.acknowledged_records, 10);
  EXPECT_EQ(contents.records.jobs[1]->id(), "b");
  ASSERT_EQ(contents.records.checkpoints.size(), 1u);
  EXPECT_EQ(contents.records.checkpoints[0]->name(), "jobs/a/checkpoints/5-1");
  ASSERT_EQ(contents.records.reports.size(), 1u);
  EXPECT_EQ(contents.records.reports[0]->step(), 5);
}

TEST_P(StoreConformanceTest, ALaterRecordReplacesTheEarlier) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit({JobRecord(1, "a", 1)}));
  ORDO_ASSERT_OK(
      store().Commit({JobRecord(1, "a", 2), JobRecord(1, "a", 3),
                      CheckpointRecord("jobs/a/checkpoints/5-1",
                                       checkpoints::v1::Checkpoint::AVAILABLE),
                      CheckpointRecord("jobs/a/checkpoints/5-1",
                                       checkpoints::v1::Checkpoint::DELETED),
                      ReportRecord("jobs/a/reports/r-5", 5),
                      ReportRecord("jobs/a/reports/r-5", 6)}));
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 1u);
  EXPECT_EQ(contents.records.jobs[0]->version, 3);
  EXPECT_EQ(contents.records.jobs[0]->incarnation, "incarnation-3");
  EXPECT_EQ(contents.records.jobs[0]->acknowledged_records, 30);
  ASSERT_EQ(contents.records.checkpoints.size(), 1u);
  EXPECT_EQ(contents.records.checkpoints[0]->state(),
            checkpoints::v1::Checkpoint::DELETED);
  EXPECT_EQ(contents.records.reports[0]->step(), 6);
}

TEST_P(StoreConformanceTest, RecordsComeBackInTheOrderOfTheirKeys) {
  Reopen();
  for (const int sequence : {30, 4, 200}) {
    ORDO_ASSERT_OK(store().Commit(
        {JobRecord(sequence, "job-" + std::to_string(sequence)),
         ReportRecord("jobs/x/reports/r-" + std::to_string(sequence), 1)}));
  }
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 3u);
  EXPECT_EQ(contents.records.jobs[0]->facts->sequence, 4);
  EXPECT_EQ(contents.records.jobs[1]->facts->sequence, 30);
  EXPECT_EQ(contents.records.jobs[2]->facts->sequence, 200);
  EXPECT_EQ(contents.records.reports[0]->name(), "jobs/x/reports/r-200");
}

TEST_P(StoreConformanceTest, AnEmptyCommitIsFine) {
  Reopen();
  ORDO_EXPECT_OK(store().Commit({}));
}

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_
