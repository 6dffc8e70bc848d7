#include "scheduler/server/past_jobs.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"
#include "scheduler/core/testing/builders.h"
#include "scheduler/server/backlog.h"

namespace ordo::scheduler::server {
namespace {

using core::testing::JobBuilder;
using jobs::v1::Job;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

core::Effect JobRecord(const std::string& name, Job::State state,
                       const std::string& start_from = "") {
  auto spec = std::make_shared<jobs::v1::JobSpec>();
  spec->set_start_from(start_from);
  auto facts = std::make_shared<core::JobFacts>(
      core::FactsOf(*spec, core::SpecTable().Keep(spec)));
  facts->id = name;
  facts->request = core::RequestMark("request-of-" + name, "fingerprint");
  auto record = std::make_shared<core::JobRecord>();
  record->facts = facts;
  record->state = state;
  return core::Record{core::JobPtr(record)};
}

core::Effect CheckpointRecord(const std::string& name) {
  auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
  checkpoint->set_name(name);
  return core::Record{core::CheckpointPtr(checkpoint)};
}

TEST(MentionedTest, NamesRequestsAndWhatASpecNamesAreMentioned) {
  const std::vector<NewJob> jobs = {
      JobBuilder("a").RequestId("r"),
      JobBuilder("b").StartFrom("jobs/c/checkpoints/latest"),
      JobBuilder("d").Evaluates({"jobs/e", "jobs/f/checkpoints/1-1"}),
      JobBuilder("g").Needs("h")};
  const Mentioned mentioned = MentionedBy(jobs);
  EXPECT_THAT(mentioned.jobs,
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
  EXPECT_THAT(mentioned.request_ids, ElementsAre("r"));
}

core::JobPtr Ended(const std::string& name) {
  const core::Effect record = JobRecord(name, Job::SUCCEEDED);
  return std::get<core::JobPtr>(std::get<core::Record>(record).value);
}

TEST(DeparturesTest, WhoMentionsThemLooksForThemAlone) {
  Departures departures;
  departures.Add(*Ended("a"));
  store::PastJobs found;
  const Mentioned again =
      departures.Take({{"b", "a"}, {"other", "request-of-a"}}, &found);
  EXPECT_THAT(again.jobs, ElementsAre("a"));
  EXPECT_THAT(again.request_ids, ElementsAre("request-of-a"));
}

TEST(DeparturesTest, WhoFoundThemHasFoundThemNoMore) {
  Departures departures;
  for (const char* job : {"a", "c"}) departures.Add(*Ended(job));
  store::PastJobs found;
  for (const char* job : {"a", "b"}) found.jobs.push_back({Ended(job), {}, {}});
  for (const char* job : {"c", "d"}) found.retired.push_back({job, "", {}});
  EXPECT_THAT(departures.Take({}, &found).jobs, ElementsAre("a", "c"));
  ASSERT_EQ(found.jobs.size(), 1u);
  EXPECT_EQ(found.jobs[0].job->id(), "b");
  ASSERT_EQ(found.retired.size(), 1u);
  EXPECT_EQ(found.retired[0].id, "d");
}

TEST(DeparturesTest, TheyAreTakenOnce) {
  Departures departures;
  departures.Add(*Ended("a"));
  store::PastJobs found;
  EXPECT_TRUE(departures.Take({{"b"}, {"other"}}, &found).empty());
  EXPECT_TRUE(departures.Take({{"a"}, {"request-of-a"}}, &found).empty());
}

class RecordsInFlightTest : public ::testing::Test {
 protected:
  RecordsInFlight in_flight_;
};

TEST_F(RecordsInFlightTest, AnEndedJobMayLeaveOnceItsRecordIsStored) {
  const core::Effects end = {JobRecord("a", Job::SUCCEEDED)};
  in_flight_.Add(end);
  EXPECT_THAT(in_flight_.Without({"a", "b"}), ElementsAre("b"));
  EXPECT_THAT(in_flight_.Remove({end}), ElementsAre("a"));
}

TEST_F(RecordsInFlightTest, AJobThatGoesOnMayNot) {
  const core::Effects start = {JobRecord("a", Job::STARTING)};
  in_flight_.Add(start);
  EXPECT_THAT(in_flight_.Remove({start}), IsEmpty());
}

TEST_F(RecordsInFlightTest, WhileMoreOfItIsUnderWayItStays) {
  const core::Effects end = {JobRecord("a", Job::SUCCEEDED)};
  const core::Effects later = {CheckpointRecord("jobs/a/checkpoints/1-1")};
  in_flight_.Add(end);
  in_flight_.Add(later);
  EXPECT_THAT(in_flight_.Remove({end}), IsEmpty());
  EXPECT_THAT(in_flight_.Remove({later}), ElementsAre("a"));
}

TEST_F(RecordsInFlightTest, WhatIsMergedOnTheWayHoldsUpNothing) {
  const std::string checkpoint = "jobs/a/checkpoints/1-1";
  const std::vector<core::Effects> turns = {
      {JobRecord("a", Job::RUNNING), CheckpointRecord(checkpoint)},
      {CheckpointRecord(checkpoint)},
      {JobRecord("a", Job::SUCCEEDED)}};
  for (const core::Effects& turn : turns) in_flight_.Add(turn);
  EXPECT_THAT(in_flight_.Remove({Merge(turns)}), ElementsAre("a"));
}

TEST_F(RecordsInFlightTest, AnEarlierRecordOfTheSameKeyIsNotTheNewest) {
  const core::Effects start = {JobRecord("a", Job::STARTING)};
  const core::Effects end = {JobRecord("a", Job::SUCCEEDED)};
  in_flight_.Add(start);
  in_flight_.Add(end);
  EXPECT_THAT(in_flight_.Remove({start}), IsEmpty());
  EXPECT_THAT(in_flight_.Without({"a"}), IsEmpty());
  EXPECT_THAT(in_flight_.Remove({end}), ElementsAre("a"));
}

TEST_F(RecordsInFlightTest, TheEndOfAJobMayFreeThoseThatItNames) {
  const core::Effects end = {
      JobRecord("b", Job::FAILED, "jobs/a/checkpoints/1-1")};
  in_flight_.Add(end);
  EXPECT_THAT(in_flight_.Remove({end}), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace ordo::scheduler::server
