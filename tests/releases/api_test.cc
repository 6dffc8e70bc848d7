// What the programs of the release before say to these, and these to them, is
// understood: every field, value and method that its API had is there, and is
// what it was. So a command line and workers of one release, files of their
// configurations and what their trainers write go with the scheduler of the
// next. To record the API of this release, for those to come:
//
//   ORDO_RECORD=/absolute/file bazel test //tests/releases:api_test
//       --test_env=ORDO_RECORD --spawn_strategy=local

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace ordo::tests::releases {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::EnumValueDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptorProto;
using google::protobuf::ServiceDescriptorProto;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A line for each field, value and method.
using Api = std::set<std::string>;

// "TYPE_INT32" is int32, ".ordo.jobs.v1.Job" is ordo.jobs.v1.Job.
std::string TypeOf(const FieldDescriptorProto& field) {
  constexpr size_t kPrefix = 5;
  const std::string kind = absl::AsciiStrToLower(
      FieldDescriptorProto::Type_Name(field.type()).substr(kPrefix));
  return field.type_name().empty()
             ? kind
             : absl::StrCat(kind, " ", field.type_name().substr(1));
}

void AddEnum(const std::string& scope, const EnumDescriptorProto& type,
             Api* api) {
  for (const EnumValueDescriptorProto& value : type.value()) {
    api->insert(absl::StrCat("value ", scope, ".", type.name(), " ",
                             value.number(), " ", value.name()));
  }
}

void AddMessage(const std::string& scope, const DescriptorProto& message,
                Api* api) {
  const std::string name = absl::StrCat(scope, ".", message.name());
  for (const FieldDescriptorProto& field : message.field()) {
    const bool repeated = field.label() == FieldDescriptorProto::LABEL_REPEATED;
    api->insert(absl::StrCat("field ", name, " ", field.number(), " ",
                             field.name(), repeated ? " repeated " : " single ",
                             TypeOf(field)));
  }
  for (const DescriptorProto& inner : message.nested_type()) {
    AddMessage(name, inner, api);
  }
  for (const EnumDescriptorProto& inner : message.enum_type()) {
    AddEnum(name, inner, api);
  }
}

std::string StreamsOf(const MethodDescriptorProto& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? "both" : "client";
  }
  return method.server_streaming() ? "server" : "unary";
}

Api ApiOf(const FileDescriptorSet& set) {
  Api api;
  for (const FileDescriptorProto& file : set.file()) {
    if (!absl::StartsWith(file.package(), "ordo.")) continue;
    for (const DescriptorProto& message : file.message_type()) {
      AddMessage(file.package(), message, &api);
    }
    for (const EnumDescriptorProto& type : file.enum_type()) {
      AddEnum(file.package(), type, &api);
    }
    for (const ServiceDescriptorProto& service : file.service()) {
      for (const MethodDescriptorProto& method : service.method()) {
        api.insert(absl::StrCat(
            "method ", file.package(), ".", service.name(), " ", method.name(),
            " ", method.input_type().substr(1), " ",
            method.output_type().substr(1), " ", StreamsOf(method)));
      }
    }
  }
  return api;
}

Api ApiOfToday() {
  std::ifstream file("tests/releases/descriptors.bin", std::ios::binary);
  FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&file));
  return ApiOf(set);
}

// What is gone, or is no longer what it was.
std::vector<std::string> Missing(const Api& before, const Api& now) {
  std::vector<std::string> missing;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(),
                      std::back_inserter(missing));
  return missing;
}

TEST(ApiTest, HasAllThatTheReleaseBeforeHad) {
  const Api now = ApiOfToday();
  if (const char* path = std::getenv("ORDO_RECORD"); path != nullptr) {
    std::ofstream record(path);
    for (const std::string& line : now) record << line << "\n";
    return;
  }
  Api before;
  std::ifstream record("tests/releases/v5/api.txt");
  for (std::string line; std::getline(record, line);) before.insert(line);
  ASSERT_GT(before.size(), 500u);
  EXPECT_THAT(Missing(before, now), IsEmpty())
      << "programs of the release before use them: leave them as they were, "
         "and add others beside them";
}

// A message with one field, an enum and a service.
FileDescriptorSet Sample() {
  FileDescriptorSet set;
  FileDescriptorProto& file = *set.add_file();
  file.set_package("ordo.x.v1");
  DescriptorProto& message = *file.add_message_type();
  message.set_name("M");
  FieldDescriptorProto& field = *message.add_field();
  field.set_name("f");
  field.set_number(1);
  field.set_type(FieldDescriptorProto::TYPE_INT32);
  EnumDescriptorProto& type = *message.add_enum_type();
  type.set_name("E");
  type.add_value()->set_name("A");
  type.mutable_value(0)->set_number(0);
  ServiceDescriptorProto& service = *file.add_service();
  service.set_name("S");
  MethodDescriptorProto& method = *service.add_method();
  method.set_name("Do");
  method.set_input_type(".ordo.x.v1.M");
  method.set_output_type(".ordo.x.v1.M");
  return set;
}

TEST(ApiTest, WhatIsAddedIsNoLoss) {
  FileDescriptorSet more = Sample();
  FieldDescriptorProto& field =
      *more.mutable_file(0)->mutable_message_type(0)->add_field();
  field.set_name("g");
  field.set_number(2);
  field.set_type(FieldDescriptorProto::TYPE_STRING);
  EXPECT_THAT(Missing(ApiOf(Sample()), ApiOf(more)), IsEmpty());
  EXPECT_THAT(Missing(ApiOf(more), ApiOf(Sample())),
              ElementsAre("field ordo.x.v1.M 2 g single string"));
}

TEST(ApiTest, WhatIsChangedIsMissed) {
  FileDescriptorSet changed = Sample();
  DescriptorProto& message = *changed.mutable_file(0)->mutable_message_type(0);
  message.mutable_field(0)->set_type(FieldDescriptorProto::TYPE_INT64);
  message.mutable_enum_type(0)->mutable_value(0)->set_number(1);
  changed.mutable_file(0)
      ->mutable_service(0)
      ->mutable_method(0)
      ->set_server_streaming(true);
  EXPECT_THAT(Missing(ApiOf(Sample()), ApiOf(changed)),
              ElementsAre("field ordo.x.v1.M 1 f single int32",
                          "method ordo.x.v1.S Do ordo.x.v1.M ordo.x.v1.M unary",
                          "value ordo.x.v1.M.E 0 A"));
  message.mutable_field(0)->set_type(FieldDescriptorProto::TYPE_INT32);
  message.mutable_field(0)->set_label(FieldDescriptorProto::LABEL_REPEATED);
  EXPECT_EQ(Missing(ApiOf(Sample()), ApiOf(changed)).size(), 3u);
}

}  // namespace
}  // namespace ordo::tests::releases
