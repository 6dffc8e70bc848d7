#ifndef ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_
#define ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/store/store.h"
#include "scheduler/store/testing/records.h"

// What every implementation of Store does. A test of one instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, StoreConformanceTest,
//                            ::testing::Values(&MakeMine));

namespace ordo::scheduler::store::testing {

// Opens the same store each time it is called; what it opened before is closed.
using OpenStore = std::function<absl::StatusOr<std::unique_ptr<Store>>()>;

// In which write of a store its process dies.
struct Death {
  // From 1 on.
  int at_write = 0;
  // With it dies the machine: what was not made durable is gone.
  bool of_machine = false;
};

// An implementation under test, with one store that is new and empty.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual absl::StatusOr<std::unique_ptr<Store>> Open() = 0;

  // Runs `history` as a process that dies as told. It opens the store with
  // `open`, calls `acknowledge` after each commit, and returns at the first
  // error.
  using History = std::function<void(const OpenStore& open,
                                     const std::function<void()>& acknowledge)>;
  struct Outcome {
    int num_acknowledged = 0;
    // It came to its end alive.
    bool finished = false;
  };
  virtual Outcome RunAndDie(const History& history, const Death& death) = 0;

  // Whether the disk is full, so that commits fail with RESOURCE_EXHAUSTED.
  virtual void SetFull(bool full) = 0;
};

using MakeStore = std::unique_ptr<StoreUnderTest> (*)();

class StoreConformanceTest : public ::testing::TestWithParam<MakeStore> {
 protected:
  StoreConformanceTest() : under_test_(GetParam()()) {}

  // Closes the store and opens it again.
  Contents Reopen() {
    store_.reset();
    auto store = under_test_->Open();
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return {};
    store_ = *std::move(store);
    auto contents = store_->Load();
    EXPECT_TRUE(contents.ok()) << contents.status();
    return contents.ok() ? *std::move(contents) : Contents();
  }
  Store& store() { return *store_; }
  StoreUnderTest& under_test() { return *under_test_; }

  // Runs the scripted history on a store of its own, and looks at what is left.
  void CheckDeath(const Death& death, bool* finished);
  // What a store holds that saw the first commits of it and never died.
  const std::vector<std::string>& After(size_t num_commits);

 private:
  std::map<size_t, std::vector<std::string>> after_;
  std::unique_ptr<StoreUnderTest> under_test_;
  std::unique_ptr<Store> store_;
};

// Commits that make, change and remove records of every kind, one big enough to
// spill.
inline std::vector<std::vector<core::Record>> ScriptedHistory() {
  using Kind = core::Row::Kind;
  std::vector<std::vector<core::Record>> history = {
      {JobRecord(1, "a"), JobRecord(2, "b")},
      {RowRecord(Kind::kQueue, "default", "weight 1"),
       RowRecord(Kind::kWorker, "w1", "drain")},
      {JobRecord(1, "a", 2), CheckpointRecord("jobs/a/checkpoints/5-1")},
      {JobRecord(1, "a", 3), ReportRecord("jobs/a/reports/r-5", 5),
       CheckpointRecord("jobs/a/checkpoints/5-1",
                        checkpoints::v1::Checkpoint::DELETED)},
      {RowRecord(Kind::kQueue, "default", "weight 2"),
       RowRecord(Kind::kWorker, "w1", std::nullopt)},
      {},
      {RowRecord(Kind::kUsage, "big", std::string(20000, 'x'))},
      {JobRecord(2, "b", 2), RowRecord(Kind::kWorker, "w1", "again")},
  };
  for (int64_t i = 3; i < 40; ++i) {
    history[5].push_back(JobRecord(i, absl::StrCat("batch-", i)));
  }
  return history;
}

inline const std::vector<std::string>& StoreConformanceTest::After(
    size_t num_commits) {
  const auto [it, is_new] = after_.emplace(num_commits, 0);
  if (!is_new) return it->second;
  const auto history = ScriptedHistory();
  const auto under_test = GetParam()();
  auto store = under_test->Open();
  EXPECT_TRUE(store.ok()) << store.status();
  ORDO_EXPECT_OK((*store)->Load());
  for (size_t i = 0; i < num_commits; ++i) {
    ORDO_EXPECT_OK((*store)->Commit(history[i]));
  }
  store->reset();
  store = under_test->Open();
  EXPECT_TRUE(store.ok()) << store.status();
  it->second = Lines((*store)->Load()->records);
  return it->second;
}

inline void StoreConformanceTest::CheckDeath(const Death& death,
                                             bool* finished) {
  const auto history = ScriptedHistory();
  const size_t middle = history.size() / 2;
  const auto under_test = GetParam()();
  const StoreUnderTest::Outcome outcome = under_test->RunAndDie(
      [&](const OpenStore& open, const std::function<void()>& acknowledge) {
        for (size_t i = 0; i < history.size();) {
          // Opened twice, so that it is also closed in between.
          auto store = open();
          if (!store.ok() || !(*store)->Load().ok()) return;
          for (const size_t end = i < middle ? middle : history.size(); i < end;
               ++i) {
            if (!(*store)->Commit(history[i]).ok()) return;
            acknowledge();
          }
        }
      },
      death);
  *finished = outcome.finished;
  const auto acknowledged = static_cast<size_t>(outcome.num_acknowledged);
  // It may also die when it closes.
  if (outcome.finished) {
    EXPECT_EQ(acknowledged, history.size());
  }

  auto store = under_test->Open();
  ORDO_ASSERT_OK(store);
  const auto contents = (*store)->Load();
  ORDO_ASSERT_OK(contents);
  const std::vector<std::string> found = Lines(contents->records);
  size_t next = acknowledged;
  if (found != After(acknowledged)) {
    // Only the one that was not acknowledged, and all of it.
    next = acknowledged + 1;
    ASSERT_LE(next, history.size());
    ASSERT_EQ(found, After(next));
  }
  // And business goes on.
  for (; next < history.size(); ++next) {
    ORDO_ASSERT_OK((*store)->Commit(history[next]));
  }
  store->reset();
  store = under_test->Open();
  ORDO_ASSERT_OK(store);
  const auto last = (*store)->Load();
  ORDO_ASSERT_OK(last);
  EXPECT_GT(last->epoch, contents->epoch);
  EXPECT_EQ(Lines(last->records), After(history.size()));
}

TEST_P(StoreConformanceTest, NoDeathOfTheProcessLosesOrHalvesACommit) {
  bool finished = false;
  int write = 1;
  for (; !finished && !HasFatalFailure(); ++write) {
    SCOPED_TRACE(absl::StrCat("dies in write ", write));
    CheckDeath({write, /*of_machine=*/false}, &finished);
  }
  // It did die, and more often than once a commit.
  EXPECT_GT(write, static_cast<int>(ScriptedHistory().size()));
}

TEST_P(StoreConformanceTest, NoDeathOfTheMachineLosesOrHalvesACommit) {
  bool finished = false;
  for (int write = 1; !finished && !HasFatalFailure(); ++write) {
    SCOPED_TRACE(absl::StrCat("dies in write ", write));
    CheckDeath({write, /*of_machine=*/true}, &finished);
  }
}

TEST_P(StoreConformanceTest, ACommitForWhichThereIsNoRoomMayBeTriedAgain) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit({JobRecord(1, "a")}));
  const std::vector<core::Record> commit = {
      JobRecord(1, "a", 2), JobRecord(2, "b"),
      RowRecord(core::Row::Kind::kUsage, "big", std::string(100000, 'x'))};
  under_test().SetFull(true);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(store().Commit(commit),
                base::testing::StatusIs(absl::StatusCode::kResourceExhausted));
  }
  under_test().SetFull(false);
  ORDO_ASSERT_OK(store().Commit(commit));
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 2u);
  EXPECT_EQ(contents.records.jobs[0]->version, 2);
  EXPECT_EQ(contents.records.rows.size(), 1u);
}

TEST_P(StoreConformanceTest, WhatIsLeftOutForLackOfRoomIsNotStored) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit({JobRecord(1, "a")}));
  under_test().SetFull(true);
  EXPECT_THAT(store().Commit({JobRecord(1, "a", 2), JobRecord(2, "b")}),
              base::testing::StatusIs(absl::StatusCode::kResourceExhausted));
  under_test().SetFull(false);
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 1u);
  EXPECT_EQ(contents.records.jobs[0]->version, 1);
}

TEST_P(StoreConformanceTest, RowsComeBackByKindAndKey) {
  using Kind = core::Row::Kind;
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {RowRecord(Kind::kWorker, "w", "1"), RowRecord(Kind::kQueue, "b", "2"),
       RowRecord(Kind::kQueue, "a", ""), RowRecord(Kind::kQueue, "w", "3")}));
  EXPECT_EQ(Lines(Reopen().records),
            (std::vector<std::string>{"1 a ", "1 b 2", "1 w 3", "2 w 1"}));
  ORDO_ASSERT_OK(store().Commit({RowRecord(Kind::kQueue, "b", std::nullopt),
                                 RowRecord(Kind::kQueue, "none", std::nullopt),
                                 RowRecord(Kind::kQueue, "w", "4")}));
  EXPECT_EQ(Lines(Reopen().records),
            (std::vector<std::string>{"1 a ", "1 w 4", "2 w 1"}));
}

TEST_P(StoreConformanceTest, AuditRowsAreKeptAndNotLoaded) {
  Reopen();
  ORDO_ASSERT_OK(
      store().Commit({RowRecord(core::Row::Kind::kAudit, "1", "who")}));
  EXPECT_TRUE(Reopen().records.rows.empty());
}

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
  ORDO_ASSERT_OK(store().Commit({JobRecord(2, "b"), JobRecord(1, "a"),
                                 CheckpointRecord("jobs/a/checkpoints/5-1"),
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
                      CheckpointRecord("jobs/a/checkpoints/5-1"),
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
