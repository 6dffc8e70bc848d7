#ifndef ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_
#define ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
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
  // `open`, calls `acknowledge` after each step, and returns at the first
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
  // What a store tells that saw the first steps of it and never died.
  const std::vector<std::string>& After(size_t num_steps);

 private:
  std::map<size_t, std::vector<std::string>> after_;
  std::unique_ptr<StoreUnderTest> under_test_;
  std::unique_ptr<Store> store_;
};

// One transaction of the scripted history: records, or jobs that leave with
// rows that are stored along.
struct Step {
  std::vector<core::Record> records = {};
  std::vector<std::string> retired = {};
  std::vector<core::RowPtr> rows = {};
};

inline absl::Status Do(const Step& step, Store* store) {
  return step.retired.empty() ? store->Commit(step.records)
                              : store->Retire(step.retired, step.rows);
}

inline core::RowPtr UsageRow(const std::string& key, const std::string& bytes) {
  return std::make_shared<const core::Row>(
      core::Row{core::Row::Kind::kUsage, key, bytes});
}

// The job of JobRecord, which has succeeded.
inline core::Record SucceededJobRecord(int64_t sequence,
                                       const std::string& name) {
  core::StoredJob stored = MakeStoredJob(sequence, name, 2);
  stored.job.set_state(jobs::v1::Job::SUCCEEDED);
  stored.job.mutable_end_time()->set_seconds(1000 + sequence);
  return RecordOf(std::move(stored));
}

// Steps that make, change and remove records of every kind, one big enough to
// spill, and that retire jobs with what belongs to them; a spec is stored again
// after its last job has left.
inline std::vector<Step> ScriptedHistory() {
  using Kind = core::Row::Kind;
  using checkpoints::v1::Checkpoint;
  std::vector<Step> history = {
      {{JobRecord(1, "a"), JobRecord(2, "b")}},
      {{RowRecord(Kind::kQueue, "default", "weight 1"),
        RowRecord(Kind::kWorker, "w1", "drain")}},
      {{JobRecord(1, "a", 2), CheckpointRecord("jobs/a/checkpoints/5-1")}},
      {{JobRecord(1, "a", 3), ReportRecord("jobs/a/reports/r-5", 5),
        CheckpointRecord("jobs/a/checkpoints/5-1", Checkpoint::DELETED)}},
      {{RowRecord(Kind::kQueue, "default", "weight 2"),
        RowRecord(Kind::kWorker, "w1", std::nullopt)}},
      {},
      {{RowRecord(Kind::kUsage, "big", std::string(20000, 'x'))}},
      {{JobRecord(2, "b", 2), RowRecord(Kind::kWorker, "w1", "again")}},
      {{SucceededJobRecord(3, "batch-3"), SucceededJobRecord(4, "batch-4"),
        EndedJobRecord(40, "alone"),
        CheckpointRecord("jobs/batch-3/checkpoints/5-1"),
        CheckpointRecord("jobs/batch-4/checkpoints/5-1", Checkpoint::DELETED),
        ReportRecord("jobs/batch-3/reports/r-5", 5)}},
      // The second has not ended, so it stays.
      {{}, {"batch-3", "b", "alone"}, {UsageRow("q/ada", "1")}},
      {{EndedJobRecord(43, "alike"), JobRecord(44, "later")}},
      {{}, {"batch-4"}, {UsageRow("q/ada", "2"), UsageRow("big", "small")}},
  };
  for (int64_t i = 3; i < 40; ++i) {
    history[5].records.push_back(JobRecord(i, absl::StrCat("batch-", i)));
  }
  return history;
}

// All that a store that was just opened tells, but for its epoch.
struct Told {
  int64_t epoch = 0;
  std::vector<std::string> lines;
};

inline Told TellAll(Store* store) {
  constexpr int kMany = 1000;
  Told told;
  const auto contents = store->Load();
  EXPECT_TRUE(contents.ok()) << contents.status();
  if (!contents.ok()) return told;
  told.epoch = contents->epoch;
  core::Records all = contents->records;
  told.lines = Lines(all);
  told.lines.push_back(absl::StrCat("last sequence ", all.last_sequence));
  // What is not loaded: jobs that have ended, and those that have left.
  Reader& reader = store->reader();
  EndedQuery query;
  query.before = kMany;
  query.limit = kMany;
  const auto ended = reader.ListEnded(query);
  const auto checkpoints = reader.ListCheckpoints({"", "", kMany});
  const auto reports = reader.ListReports({"", "", kMany});
  const auto past = reader.FindPast({"a", "b", "batch-3", "batch-4", "alone"},
                                    {"request-alike"});
  EXPECT_TRUE(ended.ok() && checkpoints.ok() && reports.ok() && past.ok());
  if (!ended.ok() || !checkpoints.ok() || !reports.ok() || !past.ok()) {
    return told;
  }
  all = {};
  all.jobs = ended->items;
  all.checkpoints = checkpoints->items;
  all.reports = reports->items;
  for (const std::string& line : Lines(all)) {
    told.lines.push_back(absl::StrCat("read: ", line));
  }
  for (const core::PastJob& job : past->jobs) {
    told.lines.push_back(absl::StrCat("past: ", job.job->id(), " ",
                                      job.checkpoints.size(), " ",
                                      job.reports.size()));
  }
  for (const core::RetiredJob& job : past->retired) {
    told.lines.push_back(absl::StrCat("retired: ", job.id, " ", job.request_id,
                                      " ", static_cast<int>(job.state)));
  }
  return told;
}

inline const std::vector<std::string>& StoreConformanceTest::After(
    size_t num_steps) {
  const auto [it, is_new] = after_.emplace(num_steps, 0);
  if (!is_new) return it->second;
  const auto history = ScriptedHistory();
  const auto under_test = GetParam()();
  auto store = under_test->Open();
  EXPECT_TRUE(store.ok()) << store.status();
  ORDO_EXPECT_OK((*store)->Load());
  for (size_t i = 0; i < num_steps; ++i) {
    ORDO_EXPECT_OK(Do(history[i], store->get()));
  }
  store->reset();
  store = under_test->Open();
  EXPECT_TRUE(store.ok()) << store.status();
  it->second = TellAll(store->get()).lines;
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
            if (!Do(history[i], store->get()).ok()) return;
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
  const Told found = TellAll(store->get());
  size_t next = acknowledged;
  if (found.lines != After(acknowledged)) {
    // Only the one that was not acknowledged, and all of it.
    next = acknowledged + 1;
    ASSERT_LE(next, history.size());
    ASSERT_EQ(found.lines, After(next));
  }
  // And business goes on.
  for (; next < history.size(); ++next) {
    ORDO_ASSERT_OK(Do(history[next], store->get()));
  }
  store->reset();
  store = under_test->Open();
  ORDO_ASSERT_OK(store);
  const Told last = TellAll(store->get());
  EXPECT_GT(last.epoch, found.epoch);
  EXPECT_EQ(last.lines, After(history.size()));
}

TEST_P(StoreConformanceTest, NoDeathOfTheProcessLosesOrHalvesAStep) {
  bool finished = false;
  int write = 1;
  for (; !finished && !HasFatalFailure(); ++write) {
    SCOPED_TRACE(absl::StrCat("dies in write ", write));
    CheckDeath({write, /*of_machine=*/false}, &finished);
  }
  // It did die, and more often than once a step.
  EXPECT_GT(write, static_cast<int>(ScriptedHistory().size()));
}

TEST_P(StoreConformanceTest, NoDeathOfTheMachineLosesOrHalvesAStep) {
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
  EXPECT_EQ(a.facts->request.id(), "request-a");
  EXPECT_EQ(a.facts->request.fingerprint(), "fingerprint-a");
  EXPECT_EQ(a.incarnation.value(), "incarnation-1");
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
  EXPECT_EQ(contents.records.jobs[0]->incarnation.value(), "incarnation-3");
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
         ReportRecord("jobs/job-4/reports/r-" + std::to_string(sequence), 1)}));
  }
  const Contents contents = Reopen();
  ASSERT_EQ(contents.records.jobs.size(), 3u);
  EXPECT_EQ(contents.records.jobs[0]->facts->sequence, 4);
  EXPECT_EQ(contents.records.jobs[1]->facts->sequence, 30);
  EXPECT_EQ(contents.records.jobs[2]->facts->sequence, 200);
  ASSERT_EQ(contents.records.reports.size(), 3u);
  EXPECT_EQ(contents.records.reports[0]->name(), "jobs/job-4/reports/r-200");
}

TEST_P(StoreConformanceTest, AnEmptyCommitIsFine) {
  Reopen();
  ORDO_EXPECT_OK(store().Commit({}));
}

// Names of jobs.
inline std::vector<std::string> Ids(const std::vector<core::JobPtr>& jobs) {
  std::vector<std::string> ids;
  for (const core::JobPtr& job : jobs) ids.push_back(job->id());
  return ids;
}
inline std::vector<std::string> Ids(
    const absl::StatusOr<Found<core::JobPtr>>& jobs) {
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_TRUE(jobs->damage.empty());
  return Ids(jobs->items);
}

template <typename Pointer>
std::vector<std::string> Names(const std::vector<Pointer>& artifacts) {
  std::vector<std::string> names;
  for (const Pointer& artifact : artifacts) names.push_back(artifact->name());
  return names;
}
template <typename Pointer>
std::vector<std::string> Names(
    const absl::StatusOr<Found<Pointer>>& artifacts) {
  EXPECT_TRUE(artifacts.ok()) << artifacts.status();
  EXPECT_TRUE(artifacts->damage.empty());
  return Names(artifacts->items);
}

TEST_P(StoreConformanceTest, EndedJobsAreLoadedOnlyWhereALiveOneNamesThem) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a"), EndedJobRecord(2, "b"), JobRecord(3, "c"),
       NamingJobRecord(4, "d", "jobs/b/checkpoints/5-1"),
       EndedJobRecord(5, "e"), CheckpointRecord("jobs/a/checkpoints/5-1"),
       CheckpointRecord("jobs/b/checkpoints/5-1"),
       CheckpointRecord("jobs/c/checkpoints/5-1")}));
  const Contents contents = Reopen();
  EXPECT_EQ(Ids(contents.records.jobs),
            (std::vector<std::string>{"b", "c", "d"}));
  EXPECT_EQ(Names(contents.records.checkpoints),
            (std::vector<std::string>{"jobs/b/checkpoints/5-1",
                                      "jobs/c/checkpoints/5-1"}));
  EXPECT_EQ(contents.records.last_sequence, 5);
}

TEST_P(StoreConformanceTest, EndedJobsThatRowsNameAreLoaded) {
  Reopen();
  checkpoints::v1::Alias main, gone;
  main.set_checkpoint("jobs/a/checkpoints/5-1");
  gone.set_checkpoint("jobs/c/checkpoints/5-1");
  gone.mutable_delete_time()->set_seconds(1);
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a"), EndedJobRecord(2, "b"), EndedJobRecord(3, "c"),
       CheckpointRecord("jobs/a/checkpoints/5-1"),
       CheckpointRecord("jobs/b/checkpoints/5-1"),
       CheckpointRecord("jobs/c/checkpoints/5-1"),
       RowRecord(core::Row::Kind::kAlias, "main", main.SerializeAsString()),
       RowRecord(core::Row::Kind::kAlias, "gone", gone.SerializeAsString()),
       RowRecord(core::Row::Kind::kPin, "jobs/b/checkpoints/5-1", "")}));
  const Contents contents = Reopen();
  EXPECT_EQ(Ids(contents.records.jobs), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Names(contents.records.checkpoints),
            (std::vector<std::string>{"jobs/a/checkpoints/5-1",
                                      "jobs/b/checkpoints/5-1"}));
  EXPECT_EQ(contents.records.rows.size(), 3u);
}

TEST_P(StoreConformanceTest, AReaderSeesACommitThatHasReturned) {
  Reopen();
  for (int64_t i = 1; i <= 3; ++i) {
    ORDO_ASSERT_OK(store().Commit({JobRecord(1, "a", i)}));
    const auto job = store().reader().FindJob("a");
    ORDO_ASSERT_OK(job);
    ASSERT_NE(*job, nullptr);
    EXPECT_EQ((*job)->version, i);
    EXPECT_EQ((*job)->facts->request.id(), "request-a");
  }
  const auto none = store().reader().FindJob("b");
  ORDO_ASSERT_OK(none);
  EXPECT_EQ(*none, nullptr);
}

TEST_P(StoreConformanceTest, APastJobIsFoundByNameAndRequestWithAllOfIt) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a"), EndedJobRecord(2, "b"), EndedJobRecord(3, "c"),
       JobRecord(4, "live"), CheckpointRecord("jobs/a/checkpoints/5-1"),
       ReportRecord("jobs/a/reports/r", 5),
       CheckpointRecord("jobs/a-2/checkpoints/5-1")}));
  const auto past = store().reader().FindPast(
      {"a", "live", "none"}, {"request-b", "request-live", "request-none", ""});
  ORDO_ASSERT_OK(past);
  ASSERT_EQ(past->jobs.size(), 2u);
  EXPECT_EQ(past->jobs[0].job->id(), "a");
  EXPECT_EQ(past->jobs[0].checkpoints.size(), 1u);
  EXPECT_EQ(past->jobs[0].reports.size(), 1u);
  EXPECT_EQ(past->jobs[1].job->id(), "b");
  EXPECT_TRUE(past->jobs[1].checkpoints.empty());
  EXPECT_TRUE(past->retired.empty());
}

TEST_P(StoreConformanceTest, EndedJobsAreListedNewestFirstInPages) {
  Reopen();
  ORDO_ASSERT_OK(
      store().Commit({EndedJobRecord(1, "a"), JobRecord(2, "b"),
                      EndedJobRecord(3, "c"), EndedJobRecord(4, "d")}));
  EndedQuery query;
  query.before = 100;
  query.limit = 2;
  EXPECT_EQ(Ids(store().reader().ListEnded(query)),
            (std::vector<std::string>{"d", "c"}));
  query.before = 3;
  EXPECT_EQ(Ids(store().reader().ListEnded(query)),
            (std::vector<std::string>{"a"}));
}

TEST_P(StoreConformanceTest, EndedJobsAreFiltered) {
  using jobs::v1::Job;
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a", {Job::FAILED, "ada", "q", {{"k", "v"}}}),
       EndedJobRecord(2, "b", {Job::FAILED, "bob", "q", {{"k", "v"}}}),
       EndedJobRecord(3, "c", {Job::SUCCEEDED, "ada", "default", {}, "s"}),
       EndedJobRecord(
           4, "d", {Job::SUCCEEDED, "ada", "q", {{"k", "v"}, {"x", "y"}}})}));
  const auto list = [this](EndedQuery query) {
    query.before = 100;
    query.limit = 10;
    return Ids(store().reader().ListEnded(query));
  };
  using Strings = std::vector<std::string>;
  EndedQuery query;
  query.state = Job::FAILED;
  EXPECT_EQ(list(query), (Strings{"b", "a"}));
  query.owner = "ada";
  EXPECT_EQ(list(query), (Strings{"a"}));
  query = {};
  query.queue = "q";
  EXPECT_EQ(list(query), (Strings{"d", "b", "a"}));
  query.labels = {{"k", "v"}};
  query.owner = "ada";
  EXPECT_EQ(list(query), (Strings{"d", "a"}));
  query.labels = {{"k", "v"}, {"x", "y"}};
  EXPECT_EQ(list(query), (Strings{"d"}));
  query.state = Job::FAILED;
  EXPECT_EQ(list(query), Strings{});
  query = {};
  query.labels = {{"k", "other"}};
  EXPECT_EQ(list(query), Strings{});
  query.labels = {{core::kParentLabel, "s"}};
  EXPECT_EQ(list(query), (Strings{"c"}));
  const auto counts = store().reader().CountEnded();
  ORDO_ASSERT_OK(counts);
  EXPECT_EQ(*counts, (std::map<core::JobState, int64_t>{{Job::SUCCEEDED, 2},
                                                        {Job::FAILED, 2}}));
}

TEST_P(StoreConformanceTest, ArtifactsAreListedNewestFirstOfOneJobOrAll) {
  using checkpoints::v1::Checkpoint;
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {CheckpointRecord("jobs/a/checkpoints/1-1", Checkpoint::DELETED, 5),
       CheckpointRecord("jobs/b/checkpoints/1-1", Checkpoint::AVAILABLE, 7),
       CheckpointRecord("jobs/a/checkpoints/2-1", Checkpoint::AVAILABLE, 5),
       CheckpointRecord("jobs/a/checkpoints/3-1", Checkpoint::AVAILABLE, 9)}));
  Reader& reader = store().reader();
  using Strings = std::vector<std::string>;
  const Strings all = {"jobs/a/checkpoints/3-1", "jobs/b/checkpoints/1-1",
                       "jobs/a/checkpoints/2-1", "jobs/a/checkpoints/1-1"};
  EXPECT_EQ(Names(reader.ListCheckpoints({"", "", 10})), all);
  EXPECT_EQ(Names(reader.ListCheckpoints({"", all[1], 1})), (Strings{all[2]}));
  EXPECT_EQ(Names(reader.ListCheckpoints({"", all[2], 9})), (Strings{all[3]}));
  EXPECT_EQ(Names(reader.ListCheckpoints({"a", "", 10})),
            (Strings{all[0], all[2], all[3]}));
  EXPECT_THAT(reader.ListCheckpoints({"", "jobs/x/checkpoints/1-1", 1}),
              base::testing::StatusIs(absl::StatusCode::kInvalidArgument));
  using base::testing::IsOkAndHolds;
  EXPECT_THAT(reader.DeletedCheckpoints("", 2), IsOkAndHolds(Strings{all[3]}));
  EXPECT_THAT(reader.DeletedCheckpoints("", 0), IsOkAndHolds(Strings{}));
  EXPECT_THAT(reader.DeletedCheckpoints(all[3], 2), IsOkAndHolds(Strings{}));
  const auto found = reader.FindCheckpoint(all[3]);
  ORDO_ASSERT_OK(found);
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->state(), Checkpoint::DELETED);
  EXPECT_EQ(*reader.FindCheckpoint("jobs/a/checkpoints/9-9"), nullptr);
}

TEST_P(StoreConformanceTest, ReportsAreFoundAndListed) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit({ReportRecord("jobs/a/reports/r", 1),
                                 ReportRecord("jobs/b/reports/r", 2)}));
  Reader& reader = store().reader();
  EXPECT_EQ(Names(reader.ListReports({"", "", 10})),
            (std::vector<std::string>{"jobs/b/reports/r", "jobs/a/reports/r"}));
  EXPECT_EQ(Names(reader.ListReports({"a", "", 10})),
            (std::vector<std::string>{"jobs/a/reports/r"}));
  EXPECT_EQ((*reader.FindReport("jobs/b/reports/r"))->step(), 2);
  EXPECT_EQ(*reader.FindReport("jobs/c/reports/r"), nullptr);
}

TEST_P(StoreConformanceTest, ExpiredJobsAreThoseOfLongAgoAndTheSurplus) {
  Reopen();
  // Job n ends in second 1000 + n.
  ORDO_ASSERT_OK(store().Commit({EndedJobRecord(1, "a"), EndedJobRecord(2, "b"),
                                 JobRecord(3, "live"), EndedJobRecord(4, "d"),
                                 EndedJobRecord(5, "e"),
                                 CheckpointRecord("jobs/a/checkpoints/5-1")}));
  const auto expired = [this](const ExpiredQuery& query) {
    const auto found = store().reader().FindExpired(query);
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> ids;
    EXPECT_TRUE(found->damage.empty());
    EXPECT_EQ(found->last.has_value(), !found->jobs.empty());
    for (const core::PastJob& past : found->jobs) {
      ids.push_back(past.job->id());
    }
    return ids;
  };
  using Strings = std::vector<std::string>;
  ExpiredQuery query;
  query.limit = 10;
  EXPECT_EQ(expired(query), Strings{});
  query.keep = 1;
  EXPECT_EQ(expired(query), (Strings{"a", "b", "d"}));
  query.keep = 0;
  EXPECT_EQ(expired(query), (Strings{"a", "b", "d", "e"}));
  query.limit = 2;
  EXPECT_EQ(expired(query), (Strings{"a", "b"}));
  query.after_end_ns = 1002'000'000'000;
  query.after_sequence = 2;
  EXPECT_EQ(expired(query), (Strings{"d", "e"}));
  query = {};
  query.limit = 10;
  query.ended_before_ns = 1002'000'000'000;
  EXPECT_EQ(expired(query), (Strings{"a"}));
  query.keep = 3;
  EXPECT_EQ(expired(query), (Strings{"a"}));
  query.keep = 4;
  EXPECT_EQ(expired(query), (Strings{"a"}));
  const auto found = store().reader().FindExpired(query);
  EXPECT_EQ(found->jobs.at(0).checkpoints.size(), 1u);
}

TEST_P(StoreConformanceTest, OfARetiredJobNameRequestAndStateStayKnown) {
  using jobs::v1::Job;
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a", {Job::FAILED}), EndedJobRecord(2, "b"),
       CheckpointRecord("jobs/a/checkpoints/5-1"),
       CheckpointRecord("jobs/b/checkpoints/5-1"),
       ReportRecord("jobs/a/reports/r", 5), EndedJobRecord(9, "z")}));
  ORDO_ASSERT_OK(store().Retire({"a", "z"}, {}));
  for (int life = 0; life < 2; ++life) {
    Reader& reader = store().reader();
    EXPECT_EQ(*reader.FindJob("a"), nullptr);
    EXPECT_EQ(Names(reader.ListCheckpoints({"", "", 10})),
              (std::vector<std::string>{"jobs/b/checkpoints/5-1"}));
    EXPECT_EQ(*reader.FindReport("jobs/a/reports/r"), nullptr);
    const auto past = reader.FindPast({"a", "b"}, {"request-z"});
    ORDO_ASSERT_OK(past);
    ASSERT_EQ(past->jobs.size(), 1u);
    EXPECT_EQ(past->jobs[0].job->id(), "b");
    ASSERT_EQ(past->retired.size(), 2u);
    EXPECT_EQ(past->retired[0].id, "a");
    EXPECT_EQ(past->retired[0].request_id, "request-a");
    EXPECT_EQ(past->retired[0].state, Job::FAILED);
    EXPECT_EQ(past->retired[1].id, "z");
    EXPECT_EQ(past->retired[1].state, Job::SUCCEEDED);
    // A sequence is not given again.
    EXPECT_EQ(Reopen().records.last_sequence, 9);
  }
}

TEST_P(StoreConformanceTest, RowsAreStoredWithTheRetirementOfJobs) {
  using Kind = core::Row::Kind;
  Reopen();
  ORDO_ASSERT_OK(store().Commit(
      {EndedJobRecord(1, "a"), RowRecord(Kind::kUsage, "q/ada", "1")}));
  const auto row = [](const std::string& key, const std::string& bytes) {
    return std::make_shared<const core::Row>(
        core::Row{Kind::kUsage, key, bytes});
  };
  ORDO_ASSERT_OK(store().Retire({"a"}, {row("q/ada", "2"), row("q/bob", "3")}));
  const core::Records records = Reopen().records;
  ASSERT_EQ(records.rows.size(), 2u);
  EXPECT_EQ(records.rows[0]->bytes, "2");
  EXPECT_EQ(records.rows[1]->bytes, "3");
  EXPECT_EQ(*store().reader().FindJob("a"), nullptr);
}

TEST_P(StoreConformanceTest, ASpecIsReadWhereItIsStored) {
  const auto steps_of = [](const core::JobPtr& job) {
    job->facts->spec->LetGo();
    const auto spec = job->facts->spec->Get();
    EXPECT_TRUE(spec.ok()) << spec.status();
    return spec.ok() ? (*spec)->training().steps() : -1;
  };
  Reopen();
  const core::Record a = JobRecord(1, "a");
  const core::Record b = EndedJobRecord(2, "b");
  ORDO_ASSERT_OK(store().Commit({a, b}));
  EXPECT_EQ(steps_of(std::get<core::JobPtr>(a.value)), 1);
  EXPECT_EQ(steps_of(std::get<core::JobPtr>(b.value)), 2);
  for (int life = 0; life < 2; ++life) {
    const Contents contents = Reopen();
    ASSERT_EQ(contents.records.jobs.size(), 1u);
    EXPECT_EQ(steps_of(contents.records.jobs[0]), 1);
    // It is stored again, as it is let go.
    ORDO_ASSERT_OK(store().Commit({core::Record{contents.records.jobs[0]}}));
    const auto past = store().reader().FindPast({"b"}, {});
    ORDO_ASSERT_OK(past);
    ASSERT_EQ(past->jobs.size(), 1u);
    EXPECT_EQ(steps_of(past->jobs[0].job), 2);
  }
}

TEST_P(StoreConformanceTest, AJobIsStoredAfterOthersWithItsSpecWereRetired) {
  Reopen();
  ORDO_ASSERT_OK(store().Commit({EndedJobRecord(1, "a")}));
  ORDO_ASSERT_OK(store().Retire({"a"}, {}));
  ORDO_ASSERT_OK(store().Commit({EndedJobRecord(4, "d")}));
  const auto job = store().reader().FindJob("d");
  ORDO_ASSERT_OK(job);
  EXPECT_EQ((*(*job)->facts->spec->Get())->training().steps(), 1);
}

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_STORE_CONFORMANCE_H_
