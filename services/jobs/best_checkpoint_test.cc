#include "services/jobs/best_checkpoint.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::services::jobs {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A job "a" that evaluates "errors", then "grid".
class BestCheckpointTest : public ::testing::Test {
 protected:
  BestCheckpointTest() {
    Job job;
    job.set_name("jobs/a");
    job.set_state(Job::SUCCEEDED);
    job.mutable_spec()->set_name("a");
    job.mutable_spec()->set_kind(JobSpec::TRAIN);
    for (const char* name : {"errors", "grid"}) {
      auto& evaluation = *job.mutable_spec()->add_evaluations();
      evaluation.set_task(std::string(name) + "_task");
      evaluation.set_name(name);
    }
    scheduler_.PutJob(job);
    spec_.set_kind(JobSpec::EVALUATE);
    spec_.add_checkpoints("jobs/a/checkpoints/best");
  }

  static std::string NameOf(int64_t step) {
    return "jobs/a/checkpoints/" + std::to_string(step) + "-1";
  }

  void Put(int64_t step, Checkpoint::State state = Checkpoint::AVAILABLE) {
    Checkpoint checkpoint;
    checkpoint.set_name(NameOf(step));
    checkpoint.set_step(step);
    checkpoint.set_state(state);
    scheduler_.PutCheckpoint(checkpoint);
  }
  void Score(const std::string& evaluation, int64_t step,
             const std::string& metric, double value) {
    ordo::reports::v1::Report report;
    report.set_name("jobs/a/reports/" + evaluation + "-" +
                    std::to_string(step));
    report.set_step(step);
    report.set_checkpoint(NameOf(step));
    (*report.mutable_metrics())[metric] = value;
    scheduler_.PutReport(report);
  }

  std::vector<std::string> Fill() {
    notices_.clear();
    std::vector<base::FieldViolation> violations;
    FillBest(known_, &spec_, &notices_, &violations);
    std::vector<std::string> texts;
    for (const auto& each : violations) {
      texts.push_back(each.field + ": " + each.description);
    }
    return texts;
  }

  scheduler::testing::FakeScheduler scheduler_;
  KnownJobs known_{scheduler_};
  JobSpec spec_;
  std::vector<std::string> notices_;
};

TEST_F(BestCheckpointTest, IsTheBestByTheFirstEvaluationOfItsJob) {
  for (const int64_t step : {10, 20, 30}) Put(step);
  Score("errors", 10, "error", 0.5);
  Score("errors", 20, "error", 0.25);
  Score("errors", 30, "error", 0.75);
  Score("grid", 30, "grid_mean", 1);
  EXPECT_TRUE(NamesBest(spec_));
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(20)));
  EXPECT_THAT(notices_, IsEmpty());
  EXPECT_FALSE(NamesBest(spec_));
}

TEST_F(BestCheckpointTest, MoreIsBetterWhereTheMetricSaysSo) {
  for (const int64_t step : {10, 20}) Put(step);
  Score("grid", 10, "grid_mean", 0.5);
  Score("grid", 20, "grid_mean", 0.25);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(10)));
}

TEST_F(BestCheckpointTest, OfEqualsTheNewest) {
  for (const int64_t step : {10, 20}) Put(step);
  Score("errors", 20, "error", 0.5);
  Score("errors", 10, "error", 0.5);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(20)));
}

TEST_F(BestCheckpointTest, WhereABetterOneWasRemovedThatIsSaid) {
  Put(10, Checkpoint::DELETED);
  Put(20);
  Score("errors", 10, "error", 0.25);
  Score("errors", 20, "error", 0.5);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(20)));
  EXPECT_THAT(notices_, ElementsAre(HasSubstr(NameOf(10) + ", was removed")));
}

TEST_F(BestCheckpointTest, WithoutResultsThereIsNone) {
  Put(10);
  EXPECT_THAT(Fill(), ElementsAre(HasSubstr(
                          "checkpoints[0]: no checkpoint of a that is there")));
  spec_.set_checkpoints(0, "jobs/unknown/checkpoints/best");
  EXPECT_THAT(
      Fill(),
      ElementsAre(HasSubstr("checkpoints[0]: there is no job unknown")));
}

TEST_F(BestCheckpointTest, ItStandsWhereverACheckpointMay) {
  Put(10);
  Score("errors", 10, "error", 0.5);
  const std::string best = "jobs/a/checkpoints/best";
  spec_.set_start_from(best);
  spec_.mutable_model()->set_from(best);
  spec_.mutable_gate()->set_candidate(best);
  spec_.mutable_gate()->set_baseline(best);
  spec_.mutable_gate()->set_anchor(best);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_EQ(spec_.start_from(), NameOf(10));
  EXPECT_EQ(spec_.model().from(), NameOf(10));
  EXPECT_EQ(spec_.gate().candidate(), NameOf(10));
  EXPECT_EQ(spec_.gate().baseline(), NameOf(10));
  EXPECT_EQ(spec_.gate().anchor(), NameOf(10));
  // Each of them is one alone.
  std::vector<JobSpec> specs(5);
  specs[0].set_start_from(best);
  specs[1].mutable_model()->set_from(best);
  specs[2].mutable_gate()->set_candidate(best);
  specs[3].mutable_gate()->set_baseline(best);
  specs[4].mutable_gate()->set_anchor(best);
  for (const JobSpec& spec : specs) {
    EXPECT_TRUE(NamesBest(spec)) << spec.ShortDebugString();
  }
}

TEST_F(BestCheckpointTest, ThatOfAJobThatIsNeededAndHasNotEndedStays) {
  Put(10);
  Score("errors", 10, "error", 0.5);
  scheduler_.SetState("a", Job::RUNNING);
  spec_.add_needs()->set_job("jobs/a");
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre("jobs/a/checkpoints/best"));
  // One that the same call has yet to make.
  spec_.set_checkpoints(0, "jobs/later/checkpoints/best");
  spec_.add_needs()->set_job("jobs/later");
  EXPECT_THAT(Fill(), IsEmpty());
  spec_.set_checkpoints(0, "jobs/a/checkpoints/best");
  scheduler_.SetState("a", Job::SUCCEEDED);
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(10)));
}

TEST_F(BestCheckpointTest, OthersStayAsTheyAre) {
  spec_.set_checkpoints(0, NameOf(10));
  spec_.add_checkpoints("jobs/a");
  EXPECT_FALSE(NamesBest(spec_));
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_THAT(spec_.checkpoints(), ElementsAre(NameOf(10), "jobs/a"));
}

}  // namespace
}  // namespace ordo::services::jobs
