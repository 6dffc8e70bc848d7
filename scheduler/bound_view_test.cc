#include "scheduler/bound_view.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "scheduler/testing/fake_scheduler.h"

namespace ordo::scheduler {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;

// Sets every text of a message at any depth, but keys of maps and, of messages
// within themselves, more than one.
void SetAllTexts(const std::string& text, Message* message,
                 std::set<std::string> within = {}) {
  if (!within.insert(message->GetTypeName()).second) return;
  const auto& reflection = *message->GetReflection();
  const auto& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (type.options().map_entry() && field->number() == 1) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      SetAllTexts(text,
                  field->is_repeated()
                      ? reflection.AddMessage(message, field)
                      : reflection.MutableMessage(message, field),
                  within);
    } else if (field->type() != FieldDescriptor::TYPE_STRING) {
      continue;
    } else if (field->is_repeated()) {
      reflection.AddString(message, field, text);
    } else {
      reflection.SetString(message, field, text);
    }
  }
}

// The job `mine` of the queue `day`, which is seen, and `secret-plan` of
// `night`.
class BoundViewTest : public ::testing::Test {
 protected:
  BoundViewTest() {
    Put("mine", "day");
    Put("secret-plan", "night");
  }

  void Put(const std::string& id, const std::string& queue) {
    Job job;
    job.set_name("jobs/" + id);
    job.set_state(Job::QUEUED);
    job.mutable_spec()->set_queue(queue);
    scheduler_.PutJob(job);
  }

  testing::FakeScheduler scheduler_;
  const BoundView view_{scheduler_, {"day"}};
};

TEST_F(BoundViewTest, SeesTheJobsOfItsQueues) {
  EXPECT_TRUE(view_.SeesJob("mine"));
  EXPECT_FALSE(view_.SeesJob("secret-plan"));
  EXPECT_FALSE(view_.SeesJob("none"));
}

TEST_F(BoundViewTest, TextsNameWhatIsSeenAndWhatTheirReaderNamed) {
  const std::string text = "mine waits for secret-plan: none (secret-plan)";
  EXPECT_EQ(view_.Masked(text), "mine waits for another: none (another)");
  EXPECT_EQ(view_.Masked(text, {"secret-plan"}), text);
}

TEST_F(BoundViewTest, WhatIsSaidOfAJobAndOfItsAttemptsAndRanksIsMasked) {
  Job job;
  job.set_message("it made room for secret-plan");
  auto& attempt = *job.add_attempts();
  attempt.set_message("ended for secret-plan");
  attempt.add_ranks()->set_message("killed for secret-plan");
  view_.HideIn(&job);
  EXPECT_EQ(job.message(), "it made room for another");
  EXPECT_EQ(job.attempts(0).message(), "ended for another");
  EXPECT_EQ(job.attempts(0).ranks(0).message(), "killed for another");
}

TEST_F(BoundViewTest, APartDoesNotNameAParentInAnotherQueue) {
  Job job;
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "");
  job.set_parent("jobs/mine");
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "jobs/mine");
  job.set_parent("jobs/secret-plan");
  view_.HideIn(&job);
  EXPECT_EQ(job.parent(), "jobs/another");
}

TEST_F(BoundViewTest, ThePastOfAnAliasDoesNotNameWhatItNamedElsewhere) {
  checkpoints::v1::Alias alias;
  alias.set_checkpoint("jobs/mine/checkpoints/1-1");
  auto& move = *alias.add_changes();
  move.set_action(
      "set: jobs/secret-plan/checkpoints/1-1 -> jobs/mine/checkpoints/1-1");
  move.set_reason("secret-plan is over");
  move.set_user("ada");
  auto& own = *alias.add_changes();
  own.set_action("set: none -> jobs/mine/checkpoints/1-1");
  own.set_reason("better");
  view_.HideIn(&alias);
  EXPECT_EQ(alias.changes(0).action(),
            "set: jobs/another -> jobs/mine/checkpoints/1-1");
  EXPECT_EQ(alias.changes(0).reason(), "");
  EXPECT_EQ(alias.changes(0).user(), "ada");
  EXPECT_EQ(alias.changes(1).action(),
            "set: none -> jobs/mine/checkpoints/1-1");
  EXPECT_EQ(alias.changes(1).reason(), "better");
}

// A field that comes to either is one of these.
TEST_F(BoundViewTest, NoTextOfAJobOrResultNamesAJobThatIsNotSeen) {
  const std::string name = "jobs/secret-plan/checkpoints/1-1";
  Job job;
  SetAllTexts(name, &job);
  job.set_name("jobs/mine");
  ASSERT_THAT(job.spec().ShortDebugString(), HasSubstr("secret-plan"));
  view_.HideIn(&job);
  EXPECT_THAT(job.ShortDebugString(), Not(HasSubstr("secret-plan")));
  EXPECT_EQ(job.name(), "jobs/mine");
  EXPECT_EQ(job.spec().start_from(), "jobs/another/checkpoints/1-1");
  reports::v1::Report report;
  SetAllTexts(name, &report);
  report.set_name("jobs/mine/reports/addition-20");
  view_.HideIn(&report);
  EXPECT_THAT(report.ShortDebugString(), Not(HasSubstr("secret-plan")));
  EXPECT_EQ(report.name(), "jobs/mine/reports/addition-20");
}

TEST_F(BoundViewTest, WhatASpecNamesIsSeenOrAnother) {
  Job job;
  job.set_name("jobs/mine-too");
  job.add_parts("jobs/mine");
  job.add_parts("jobs/secret-plan");
  job.set_part("start_from=jobs/secret-plan, model.from=jobs/mine");
  job.add_attempts()->set_resumed_from("jobs/mine-too/checkpoints/1-1");
  jobs::v1::JobSpec& spec = *job.mutable_spec();
  spec.add_needs()->set_job("jobs/secret-plan");
  spec.add_checkpoints("jobs/secret-plan/checkpoints/best");
  spec.add_checkpoints("jobs/mine/checkpoints/best");
  spec.mutable_gate()->set_candidate("jobs/secret-plan/reports/a-1");
  spec.mutable_gate()->set_baseline("jobs/gone");
  (*spec.mutable_data()->mutable_params())["file"].set_string_value(
      "/data/jobs/secret-plan");
  (*spec.mutable_data()->mutable_params())["of"].set_string_value(
      "jobs/secret-plan");
  job.add_notices("secret-plan and mine have the same model");
  view_.HideIn(&job);
  EXPECT_EQ(job.parts(0), "jobs/mine");
  EXPECT_EQ(job.parts(1), "jobs/another");
  EXPECT_EQ(job.part(), "start_from=jobs/another, model.from=jobs/mine");
  EXPECT_EQ(job.attempts(0).resumed_from(), "jobs/mine-too/checkpoints/1-1");
  EXPECT_EQ(spec.needs(0).job(), "jobs/another");
  EXPECT_EQ(spec.checkpoints(0), "jobs/another/checkpoints/best");
  EXPECT_EQ(spec.checkpoints(1), "jobs/mine/checkpoints/best");
  EXPECT_EQ(spec.gate().candidate(), "jobs/another/reports/a-1");
  EXPECT_EQ(spec.gate().baseline(), "jobs/another");
  EXPECT_EQ(spec.data().params().at("file").string_value(),
            "/data/jobs/secret-plan");
  EXPECT_EQ(spec.data().params().at("of").string_value(), "jobs/another");
  EXPECT_EQ(job.notices(0), "another and mine have the same model");
}

TEST_F(BoundViewTest, AResultDoesNotNameTheCheckpointOfAJobThatIsNotSeen) {
  reports::v1::Report report;
  report.set_name("jobs/mine/reports/addition-20");
  report.set_checkpoint("jobs/mine/checkpoints/1-1");
  view_.HideIn(&report);
  EXPECT_EQ(report.checkpoint(), "jobs/mine/checkpoints/1-1");
  report.set_checkpoint("jobs/secret-plan/checkpoints/1-1");
  view_.HideIn(&report);
  EXPECT_EQ(report.checkpoint(), "jobs/another/checkpoints/1-1");
}

TEST_F(BoundViewTest, AResultDoesNotNameTheJobThatItWasTakenFrom) {
  reports::v1::Report report;
  report.set_name("jobs/mine/reports/addition-20");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "");
  report.set_taken_from("jobs/mine/reports/addition-10");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "jobs/mine/reports/addition-10");
  report.set_taken_from("jobs/secret-plan/reports/addition-20");
  view_.HideIn(&report);
  EXPECT_EQ(report.taken_from(), "jobs/another/reports/addition-20");
}

}  // namespace
}  // namespace ordo::scheduler
