#include "scheduler/core/job.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/spec_table.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

JobFacts FactsOfSpec(const jobs::v1::JobSpec& spec) {
  return FactsOf(
      spec, SpecTable().Keep(std::make_shared<const jobs::v1::JobSpec>(spec)));
}

TEST(JobTest, AJobWithoutADeviceNeedsACpu) {
  jobs::v1::JobSpec spec;
  EXPECT_EQ(ShapeOf(spec).kind, "cpu");
  spec.mutable_resources()->set_device("cuda");
  EXPECT_EQ(ShapeOf(spec).kind, "cuda");
}

TEST(JobTest, AJobNeedsTheKernelsThatItsPartsName) {
  jobs::v1::JobSpec spec;
  spec.add_evaluations();
  EXPECT_THAT(ShapeOf(spec).kernels, IsEmpty());
  spec.mutable_training()->set_kernel("x");
  spec.add_evaluations()->set_kernel("y");
  spec.add_evaluations()->set_kernel("x");
  EXPECT_THAT(ShapeOf(spec).kernels, ElementsAre("attention/x", "attention/y"));
}

TEST(JobTest, AJobNeedsTheDataThatItNamesByWholePaths) {
  jobs::v1::JobSpec spec;
  auto& data = *spec.mutable_data()->mutable_params();
  data["data"].mutable_list_value()->add_values()->set_string_value("/srv/a");
  data["data"].mutable_list_value()->add_values()->set_string_value("books");
  data["tokenizer"].set_string_value("bytes");
  data["length"].set_number_value(16);
  auto& asked = *spec.add_evaluations()->mutable_params();
  asked["path"].set_string_value("/srv/b/c.jsonl");
  EXPECT_THAT(ShapeOf(spec).data_paths,
              ElementsAre("/srv/a", "/srv/b/c.jsonl"));
}

TEST(JobTest, OnlyTrainingHasSeveralRanks) {
  jobs::v1::JobSpec spec;
  spec.mutable_resources()->set_ranks(4);
  spec.mutable_resources()->set_devices(2);
  spec.set_kind(jobs::v1::JobSpec::TRAIN);
  EXPECT_EQ(ShapeOf(spec).ranks, 4);
  EXPECT_EQ(ShapeOf(spec).devices, 2);
  spec.set_kind(jobs::v1::JobSpec::EVALUATE);
  EXPECT_EQ(ShapeOf(spec).ranks, 1);
  EXPECT_EQ(ShapeOf(spec).devices, 2);
}

TEST(JobTest, AJobAsksForAllThatItsResourcesSay) {
  jobs::v1::JobSpec spec;
  training::v1::Resources& resources = *spec.mutable_resources();
  resources.set_device_memory_bytes(5);
  resources.set_cpus(6);
  resources.set_memory_bytes(7);
  (*resources.mutable_labels())["zone"] = "a";
  resources.set_exclusive(true);
  spec.mutable_run_time_limit()->set_seconds(8);
  const policy::Shape shape = ShapeOf(spec);
  EXPECT_EQ(shape.device_memory_bytes, 5);
  EXPECT_EQ(shape.cpus, 6);
  EXPECT_EQ(shape.memory_bytes, 7);
  EXPECT_THAT(shape.labels, ElementsAre(Pair("zone", "a")));
  EXPECT_TRUE(shape.exclusive);
  EXPECT_EQ(shape.run_time_limit, absl::Seconds(8));
}

TEST(JobTest, RequestsThatNobodyCouldMakeAreBounded) {
  jobs::v1::JobSpec spec;
  auto& resources = *spec.mutable_resources();
  for (const int sign : {-1, 1}) {
    resources.set_cpus(sign * std::numeric_limits<int32_t>::max());
    resources.set_memory_bytes(sign * std::numeric_limits<int64_t>::max());
    resources.set_device_memory_bytes(resources.memory_bytes());
    const policy::Shape shape = ShapeOf(spec);
    EXPECT_EQ(shape.memory_bytes, sign < 0 ? 0 : int64_t{1} << 53);
    EXPECT_EQ(shape.device_memory_bytes, shape.memory_bytes);
    EXPECT_EQ(shape.cpus, sign < 0 ? 0 : 1 << 20);
  }
}

TEST(JobTest, AJobWithoutAQueueIsInTheDefaultOne) {
  jobs::v1::JobSpec spec;
  EXPECT_EQ(QueueOf(spec), "default");
  spec.set_queue("a");
  EXPECT_EQ(QueueOf(spec), "a");
}

TEST(JobTest, AJobThatIsNeededTwiceMustSucceedIfOneNeedSaysSo) {
  jobs::v1::JobSpec spec;
  spec.add_needs()->set_job("jobs/b");
  for (const char* name : {"jobs/a", "jobs/b"}) {
    jobs::v1::Need& need = *spec.add_needs();
    need.set_job(name);
    need.set_condition(jobs::v1::Need::ENDED);
  }
  const JobFacts facts = FactsOfSpec(spec);
  ASSERT_EQ(facts.needs.size(), 2u);
  EXPECT_EQ(facts.needs[0].id, "a");
  EXPECT_FALSE(facts.needs[0].must_succeed);
  EXPECT_TRUE(facts.needs[1].must_succeed);
}

TEST(JobTest, AGateNamesWhatItComparesAndIsOnDevicesThatKnowHow) {
  jobs::v1::JobSpec spec;
  spec.set_kind(jobs::v1::JobSpec::GATE);
  spec.mutable_gate()->set_candidate("jobs/a");
  spec.mutable_gate()->set_baseline("jobs/b/reports/x");
  EXPECT_THAT(References(spec), ElementsAre("jobs/a", "jobs/b/reports/x"));
  EXPECT_THAT(JobsNamedBy(spec), ElementsAre("a", "b"));
  EXPECT_THAT(ShapeOf(spec).kernels, ElementsAre(kGateTask));
}

TEST(JobTest, ReferencesAreEvaluatedCheckpointsAndTheStart) {
  jobs::v1::JobSpec spec;
  EXPECT_TRUE(References(spec).empty());
  spec.add_checkpoints("x");
  spec.set_start_from("y");
  EXPECT_THAT(References(spec), ElementsAre("x", "y"));
}

TEST(JobTest, FactsAreWhatTheSpecSays) {
  jobs::v1::JobSpec spec;
  spec.set_name("a");
  spec.set_kind(jobs::v1::JobSpec::EVALUATE);
  spec.add_checkpoints("x");
  spec.mutable_resources()->set_device("cuda");
  spec.mutable_retry()->set_max_attempts(7);
  spec.mutable_retry()->set_max_interruptions(8);
  spec.mutable_queue_time_limit()->set_seconds(60);
  spec.mutable_run_time_limit()->set_seconds(70);
  spec.mutable_checkpoint()->set_keep(9);
  spec.add_evaluations()->set_task("corpus");
  spec.add_evaluations()->set_task("corpus");
  spec.mutable_evaluations(1)->set_name("long");
  const JobFacts facts = FactsOfSpec(spec);
  EXPECT_EQ(facts.id, "a");
  EXPECT_EQ(facts.kind, jobs::v1::JobSpec::EVALUATE);
  EXPECT_EQ(facts.max_attempts, 7);
  EXPECT_EQ(facts.max_interruptions, 8);
  const Demand demand = DemandOf(spec);
  EXPECT_EQ(demand.keep, 9);
  EXPECT_THAT(demand.evaluations, ElementsAre("corpus", "long"));
  EXPECT_EQ(demand.queue_time_limit, absl::Seconds(60));
  EXPECT_EQ(demand.shape.run_time_limit, absl::Seconds(70));
  EXPECT_THAT(facts.references.value(), ElementsAre("x"));
}

TEST(JobTest, FactsAreSmall) {
  // There are a million of them; 16 more are those of their shared pointers.
  EXPECT_LE(sizeof(JobFacts), 176u);
}

TEST(JobTest, RecordsAreSmall) {
  // As many as of facts, in blocks of the same size.
  EXPECT_LE(sizeof(JobRecord), 176u);
}

TEST(JobTest, TheJobsThatAJobNamesAreThoseThatItsSpecNamesAndItsParts) {
  jobs::v1::JobSpec spec;
  spec.add_needs()->set_job("jobs/a");
  spec.add_checkpoints("jobs/b/checkpoints/1-1");
  spec.set_start_from("jobs/c");
  EXPECT_THAT(JobsNamedBy(spec), UnorderedElementsAre("a", "b", "c"));
  JobFacts facts = FactsOfSpec(spec);
  SetParts({"d"}, &facts);
  EXPECT_THAT(JobsNamedBy(facts), UnorderedElementsAre("a", "b", "c", "d"));
}

TEST(JobTest, WhatDecisionsNeedIsWhatTheSpecSays) {
  jobs::v1::JobSpec spec;
  spec.set_kind(jobs::v1::JobSpec::SWEEP);
  spec.mutable_sweep()->set_max_parallel(3);
  spec.mutable_retry()->mutable_step_timeout()->set_seconds(5);
  const SpecHandlePtr handle = FactsOfSpec(spec).spec;
  EXPECT_EQ(MaxParallelOf(*handle), 3);
  EXPECT_EQ(handle->demand().step_timeout, absl::Seconds(5));
  EXPECT_EQ(QueueOf(*handle), "default");
  EXPECT_EQ(handle->queue(), "");
  EXPECT_EQ(ShapeOf(*handle), ShapeOf(spec));
}

TEST(JobTest, ASpecThatLeavesThemOutGetsTheDefaults) {
  const JobFacts facts = FactsOfSpec({});
  EXPECT_EQ(facts.max_attempts, 3);
  EXPECT_EQ(facts.max_interruptions, 100);
  EXPECT_EQ(DemandOf({}).keep, 3);
}

TEST(JobTest, ARecordKnowsItsNewestAttempt) {
  JobRecord record;
  EXPECT_EQ(record.attempt_number(), 0);
  for (const int number : {4, 5}) {
    auto attempt = std::make_shared<jobs::v1::Attempt>();
    attempt->set_number(number);
    record.attempts.push_back(attempt);
  }
  EXPECT_EQ(record.attempt_number(), 5);
  EXPECT_EQ(record.newest_attempt().number(), 5);
}

}  // namespace
}  // namespace ordo::scheduler::core
