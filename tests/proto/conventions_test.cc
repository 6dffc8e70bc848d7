// Checks what the AIP rules and our house ask of every .proto file and what
// generated code cannot show: comments, field behaviour, signatures,
// references to resources, pages.

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/api/client.pb.h"
#include "google/api/field_behavior.pb.h"
#include "google/api/resource.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace ordo::tests::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptor;
using google::protobuf::SourceLocation;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

using Strings = std::vector<std::string>;

template <typename T>
std::string CommentOf(const T* element) {
  SourceLocation location;
  if (!element->GetSourceLocation(&location)) return "";
  return location.leading_comments + location.trailing_comments;
}

// What our rules ask of the files of an API.
class Checker {
 public:
  explicit Checker(const DescriptorPool& pool) : pool_(pool) {}

  void CheckFile(const std::string& path) {
    const FileDescriptor* file = pool_.FindFileByName(path);
    if (file == nullptr) return Complain(path, "is not in the descriptor set");
    for (int i = 0; i < file->message_type_count(); ++i) {
      CheckMessage(file->message_type(i));
    }
    for (int i = 0; i < file->enum_type_count(); ++i) {
      CheckEnum(file->enum_type(i));
    }
    for (int i = 0; i < file->service_count(); ++i) {
      RequireComment(file->service(i));
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        CheckMethod(file->service(i)->method(j));
      }
    }
  }

  const Strings& problems() const { return problems_; }

 private:
  void Complain(const std::string& what, const std::string& problem) {
    problems_.push_back(what + " " + problem);
  }

  template <typename T>
  void RequireComment(const T* element) {
    if (CommentOf(element).empty()) {
      Complain(element->full_name(), "has no comment");
    }
  }

  void CheckMessage(const Descriptor* message) {
    if (message->options().map_entry()) return;
    RequireComment(message);
    const bool is_resource =
        message->options().HasExtension(google::api::resource);
    if (is_resource && message->FindFieldByNumber(1)->name() != "name") {
      Complain(message->full_name(), "does not begin with its name");
    }
    for (int i = 0; i < message->field_count(); ++i) {
      CheckField(message->field(i));
    }
    for (int i = 0; i < message->nested_type_count(); ++i) {
      CheckMessage(message->nested_type(i));
    }
    for (int i = 0; i < message->enum_type_count(); ++i) {
      CheckEnum(message->enum_type(i));
    }
  }

  void CheckField(const FieldDescriptor* field) {
    RequireComment(field);
    const auto& options = field->options();
    if (options.ExtensionSize(google::api::field_behavior) == 0) {
      return Complain(field->full_name(), "has no field_behavior");
    }
    const std::string comment = CommentOf(field);
    const bool names_a_resource =
        field->type() == FieldDescriptor::TYPE_STRING &&
        options.GetExtension(google::api::field_behavior, 0) !=
            google::api::IDENTIFIER &&
        (absl::StrContains(comment, "jobs/{job}") ||
         absl::StrContains(comment, "workers/{worker}"));
    if (names_a_resource &&
        !options.HasExtension(google::api::resource_reference)) {
      Complain(field->full_name(), "has no resource_reference");
    }
  }

  void CheckEnum(const EnumDescriptor* type) {
    RequireComment(type);
    for (int i = 0; i < type->value_count(); ++i) {
      const EnumValueDescriptor* value = type->value(i);
      // An option may say what a value means.
      if (value->options().ByteSizeLong() == 0) RequireComment(value);
    }
  }

  void CheckMethod(const MethodDescriptor* method) {
    RequireComment(method);
    const std::string& name = method->name();
    const bool is_standard = absl::StartsWith(name, "Get") ||
                             absl::StartsWith(name, "List") ||
                             absl::StartsWith(name, "Create");
    const auto& options = method->options();
    const int num = options.ExtensionSize(google::api::method_signature);
    if (is_standard && num == 0) {
      Complain(method->full_name(), "has no method_signature");
    }
    for (int i = 0; i < num; ++i) {
      for (const auto field : absl::StrSplit(
               options.GetExtension(google::api::method_signature, i), ',',
               absl::SkipEmpty())) {
        RequireField(method->input_type(), std::string(field));
      }
    }
    if (absl::StartsWith(name, "List")) CheckPages(method);
  }

  void CheckPages(const MethodDescriptor* list) {
    RequireField(list->input_type(), "page_size");
    RequireField(list->input_type(), "page_token");
    RequireField(list->output_type(), "next_page_token");
  }

  void RequireField(const Descriptor* message, const std::string& name) {
    if (message->FindFieldByName(name) == nullptr) {
      Complain(message->full_name(), "lacks " + name);
    }
  }

  const DescriptorPool& pool_;
  Strings problems_;
};

FileDescriptorSet ReadSet() {
  std::ifstream file("tests/proto/descriptors.bin", std::ios::binary);
  FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&file));
  return set;
}

Strings OwnFiles(const FileDescriptorSet& set) {
  Strings paths;
  for (const FileDescriptorProto& file : set.file()) {
    if (absl::StartsWith(file.name(), "proto/ordo/")) {
      paths.push_back(file.name());
    }
  }
  return paths;
}

Strings ProblemsOf(const FileDescriptorSet& set) {
  DescriptorPool pool;
  for (const FileDescriptorProto& file : set.file()) {
    EXPECT_NE(pool.BuildFile(file), nullptr) << file.name();
  }
  Checker checker(pool);
  for (const std::string& path : OwnFiles(set)) checker.CheckFile(path);
  return checker.problems();
}

// A file of the set, to spoil it.
FileDescriptorProto& FileOf(FileDescriptorSet& set, const std::string& path) {
  for (FileDescriptorProto& file : *set.mutable_file()) {
    if (file.name() == path) return file;
  }
  ADD_FAILURE() << path << " is not in the set";
  return *set.add_file();
}

constexpr char kSpec[] = "proto/ordo/training/v1/spec.proto";
constexpr char kWorkers[] = "proto/ordo/workers/v1/workers.proto";

TEST(ConventionsTest, EveryFileKeepsTheRules) {
  EXPECT_THAT(ProblemsOf(ReadSet()), IsEmpty());
}

TEST(ConventionsTest, EveryApiIsLookedAt) {
  EXPECT_THAT(
      OwnFiles(ReadSet()),
      IsSupersetOf(
          {"proto/ordo/access/v1/access.proto",
           "proto/ordo/agent/v1/agent.proto",
           "proto/ordo/checkpoints/v1/checkpoints.proto",
           "proto/ordo/config/v1/auth.proto",
           "proto/ordo/config/v1/scheduler.proto",
           "proto/ordo/config/v1/tls.proto",
           "proto/ordo/config/v1/worker.proto", "proto/ordo/data/v1/data.proto",
           "proto/ordo/jobs/v1/job_spec.proto", "proto/ordo/jobs/v1/jobs.proto",
           "proto/ordo/reports/v1/reports.proto",
           "proto/ordo/training/v1/component.proto",
           "proto/ordo/training/v1/exit_code.proto",
           "proto/ordo/training/v1/progress.proto", kSpec, kWorkers}));
}

TEST(ConventionsTest, ADroppedBehaviourIsFound) {
  FileDescriptorSet set = ReadSet();
  FileOf(set, kSpec).mutable_message_type(0)->mutable_field(0)->clear_options();
  EXPECT_THAT(ProblemsOf(set),
              ElementsAre("ordo.training.v1.Model.preset has no "
                          "field_behavior"));
}

TEST(ConventionsTest, DroppedCommentsAreFound) {
  FileDescriptorSet set = ReadSet();
  FileOf(set, kWorkers).clear_source_code_info();
  const Strings problems = ProblemsOf(set);
  for (const char* name :
       {"ordo.workers.v1.WorkersService",
        "ordo.workers.v1.WorkersService.GetWorker", "ordo.workers.v1.Worker",
        "ordo.workers.v1.Worker.name", "ordo.workers.v1.Worker.State",
        "ordo.workers.v1.Worker.LOST"}) {
    EXPECT_THAT(problems, Contains(std::string(name) + " has no comment"));
  }
}

TEST(ConventionsTest, DroppedReferencesAndSignaturesAreFound) {
  FileDescriptorSet set = ReadSet();
  FileDescriptorProto& file = FileOf(set, kWorkers);
  for (auto& message : *file.mutable_message_type()) {
    if (message.name() != "GetWorkerRequest") continue;
    message.mutable_field(0)->mutable_options()->ClearExtension(
        google::api::resource_reference);
  }
  for (auto& method : *file.mutable_service(0)->mutable_method()) {
    if (method.name() != "ListWorkers") continue;
    method.mutable_options()->ClearExtension(google::api::method_signature);
  }
  EXPECT_THAT(ProblemsOf(set),
              ElementsAre("ordo.workers.v1.GetWorkerRequest.name has no "
                          "resource_reference",
                          "ordo.workers.v1.WorkersService.ListWorkers has no "
                          "method_signature"));
}

TEST(ConventionsTest, AListWithoutPagesIsFound) {
  FileDescriptorSet set = ReadSet();
  for (auto& message : *FileOf(set, kWorkers).mutable_message_type()) {
    if (message.name() != "ListWorkersResponse") continue;
    message.mutable_field(1)->set_name("more");
    message.mutable_field(1)->clear_json_name();
  }
  EXPECT_THAT(ProblemsOf(set),
              ElementsAre("ordo.workers.v1.ListWorkersResponse lacks "
                          "next_page_token"));
}

}  // namespace
}  // namespace ordo::tests::proto
