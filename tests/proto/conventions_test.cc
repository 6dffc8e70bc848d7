// Checks what the AIP rules and our house ask of every .proto file and what
// generated code cannot show: comments and field behaviour.

#include <fstream>
#include <string>
#include <vector>

#include "google/api/field_behavior.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace ordo {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorSet;
using google::protobuf::SourceLocation;

// All files of the API. A new one is added here and to the test's data.
constexpr const char* kPublic[] = {
    "proto/ordo/checkpoints/v1/checkpoints.proto",
    "proto/ordo/jobs/v1/job_spec.proto",
    "proto/ordo/jobs/v1/jobs.proto",
    "proto/ordo/reports/v1/reports.proto",
    "proto/ordo/training/v1/component.proto",
    "proto/ordo/workers/v1/workers.proto",
};
constexpr const char* kInternal[] = {
    "proto/ordo/agent/v1/agent.proto",
    "proto/ordo/config/v1/scheduler.proto",
    "proto/ordo/config/v1/worker.proto",
    "proto/ordo/training/v1/exit_code.proto",
    "proto/ordo/training/v1/progress.proto",
    "proto/ordo/training/v1/spec.proto",
};

template <typename T>
bool HasComment(const T* element) {
  SourceLocation location;
  return element->GetSourceLocation(&location) &&
         !(location.leading_comments + location.trailing_comments).empty();
}

bool HasBehavior(const FieldDescriptor* field) {
  return field->options().ExtensionSize(google::api::field_behavior) > 0;
}

void CheckMessage(const Descriptor* message, bool is_public,
                  std::vector<std::string>* problems) {
  if (message->options().map_entry()) return;
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* field = message->field(i);
    if (!HasComment(field)) {
      problems->push_back(field->full_name() + " has no comment");
    }
    if (is_public && !HasBehavior(field)) {
      problems->push_back(field->full_name() + " has no field_behavior");
    }
  }
  for (int i = 0; i < message->nested_type_count(); ++i) {
    CheckMessage(message->nested_type(i), is_public, problems);
  }
}

void CheckFile(const FileDescriptor* file, bool is_public,
               std::vector<std::string>* problems) {
  for (int i = 0; i < file->message_type_count(); ++i) {
    CheckMessage(file->message_type(i), is_public, problems);
  }
  for (int i = 0; i < file->enum_type_count(); ++i) {
    if (!HasComment(file->enum_type(i))) {
      problems->push_back(file->enum_type(i)->full_name() + " has no comment");
    }
  }
  for (int i = 0; i < file->service_count(); ++i) {
    for (int j = 0; j < file->service(i)->method_count(); ++j) {
      if (!HasComment(file->service(i)->method(j))) {
        problems->push_back(file->service(i)->method(j)->full_name() +
                            " has no comment");
      }
    }
  }
}

class ConventionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file("tests/proto/descriptors.bin", std::ios::binary);
    FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromIstream(&file));
    for (const auto& proto : set.file()) {
      ASSERT_NE(pool_.BuildFile(proto), nullptr) << proto.name();
    }
  }

  std::vector<std::string> Check(const std::string& path, bool is_public) {
    const FileDescriptor* file = pool_.FindFileByName(path);
    if (file == nullptr) return {path + " is not in the descriptor set"};
    std::vector<std::string> problems;
    CheckFile(file, is_public, &problems);
    return problems;
  }

  DescriptorPool pool_;
};

TEST_F(ConventionsTest, PublicFieldsHaveCommentsAndBehaviour) {
  for (const char* path : kPublic) {
    for (const std::string& problem : Check(path, true)) {
      ADD_FAILURE() << problem;
    }
  }
}

TEST_F(ConventionsTest, InternalFieldsHaveComments) {
  for (const char* path : kInternal) {
    for (const std::string& problem : Check(path, false)) {
      ADD_FAILURE() << problem;
    }
  }
}

}  // namespace
}  // namespace ordo
