#include "scheduler/core/present.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;
using jobs::v1::Job;
using ::testing::HasSubstr;

// Every field of the message set, to something else than its default.
void Fill(Message* message, int depth) {
  const Descriptor* type = message->GetDescriptor();
  const auto* reflection = message->GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (field->is_map() || field->real_containing_oneof() != nullptr) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (depth == 0) continue;
      Fill(field->is_repeated() ? reflection->AddMessage(message, field)
                                : reflection->MutableMessage(message, field),
           depth - 1);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (field->is_repeated()) {
        reflection->AddString(message, field, field->name());
      } else {
        reflection->SetString(message, field, field->name());
      }
    } else if (field->is_repeated()) {
      continue;
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      reflection->SetInt64(message, field, 40 + i);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      reflection->SetInt32(message, field, 40 + i);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      reflection->SetBool(message, field, true);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      reflection->SetEnumValue(message, field, 2);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      reflection->SetDouble(message, field, 0.5);
    }
  }
}

Job FullJob() {
  Job job;
  Fill(&job, 2);
  job.set_name("jobs/a");
  job.mutable_spec()->set_name("a");
  job.clear_progress();
  job.set_parent("jobs/p");
  job.set_traceparent(
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  job.clear_parts();
  job.add_parts("jobs/b");
  job.add_parts("jobs/c");
  return job;
}

TEST(PresentTest, EveryFieldOfAJobComesBack) {
  const Job job = FullJob();
  SpecTable specs;
  StoredJob stored{job, "request", "fingerprint", "incarnation", 7};
  const JobPtr record = RecordOf(stored, &specs);
  EXPECT_TRUE(MessageDifferencer::Equals(*Present(*record), job))
      << Present(*record)->DebugString() << "is not\n"
      << job.DebugString();
  EXPECT_EQ(record->facts->request.id(), "request");
  EXPECT_EQ(record->facts->request.fingerprint(), "fingerprint");
  EXPECT_EQ(record->incarnation.value(), "incarnation");
  EXPECT_EQ(record->acknowledged_records, 7);
}

TEST(PresentTest, ASpecThatIsKeptApartComesBack) {
  SpecTable specs;
  const JobPtr record = RecordOf({FullJob()}, &specs);
  const JobPtr again = RecordOf({PresentWithoutSpec(*record)}, *record->facts);
  EXPECT_EQ(again->facts->spec, record->facts->spec);
  EXPECT_TRUE(MessageDifferencer::Equals(*Present(*again), FullJob()))
      << Present(*again)->DebugString();
}

TEST(PresentTest, AReasonOfALaterReleaseComesBack) {
  SpecTable specs;
  Job job = FullJob();
  job.set_reason("OF_A_LATER_RELEASE");
  const JobPtr record = RecordOf({job}, &specs);
  EXPECT_EQ(Present(*record)->reason(), "OF_A_LATER_RELEASE");
}

TEST(PresentTest, AJobToWhichNothingHappenedSaysHowToFindOutWhy) {
  auto facts = std::make_shared<JobFacts>();
  facts->id = "a";
  SpecTable specs;
  facts->spec = specs.Keep(std::make_shared<const jobs::v1::JobSpec>());
  JobRecord record;
  record.facts = facts;
  record.state = Job::QUEUED;
  record.reason = "WAITING_FOR_DEVICE";
  const Job job = *Present(record);
  EXPECT_THAT(job.message(), HasSubstr("ordo explain a"));
  EXPECT_FALSE(job.has_start_time());
  EXPECT_EQ(RecordOf({job}, &specs)->message.value(), "");
  record.held_by = "bob";
  EXPECT_EQ(Present(record)->message(),
            "held by bob; ordo release a lets it start");
  EXPECT_EQ(RecordOf({*Present(record)}, &specs)->message.value(), "");
}

}  // namespace
}  // namespace ordo::scheduler::core
