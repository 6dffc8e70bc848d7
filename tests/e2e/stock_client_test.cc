// Clients that know nothing of Ordo: a health check, and one that learns by
// reflection what to call and how.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rpc/client.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kHealthFile[] = R"(
  name: "health.proto" package: "grpc.health.v1" syntax: "proto3"
  message_type {
    name: "HealthCheckRequest"
    field { name: "service" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  message_type {
    name: "HealthCheckResponse"
    field {
      name: "status" number: 1 type: TYPE_ENUM label: LABEL_OPTIONAL
      type_name: ".grpc.health.v1.ServingStatus"
    }
  }
  enum_type {
    name: "ServingStatus"
    value { name: "UNKNOWN" number: 0 }
    value { name: "SERVING" number: 1 }
    value { name: "NOT_SERVING" number: 2 }
    value { name: "SERVICE_UNKNOWN" number: 3 }
  }
  service {
    name: "Health"
    method {
      name: "Check"
      input_type: ".grpc.health.v1.HealthCheckRequest"
      output_type: ".grpc.health.v1.HealthCheckResponse"
    }
  }
)";

// Calls methods by their descriptors.
class DynamicClient {
 public:
  DynamicClient(const std::string& address, const DescriptorPool& pool)
      : stub_(base::Connect(address)), factory_(&pool) {}

  // A message of a type of the pool, without fields.
  std::unique_ptr<Message> New(const Descriptor& type) {
    return std::unique_ptr<Message>(factory_.GetPrototype(&type)->New());
  }

  // One request and one answer of any method, streaming or not; null, and a
  // failure, when there is none.
  std::unique_ptr<Message> Call(const MethodDescriptor& method,
                                const Message& request) {
    const std::string path =
        "/" + method.service()->full_name() + "/" + method.name();
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    grpc::CompletionQueue queue;
    auto call = stub_.PrepareCall(&context, path, &queue);
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    const grpc::Slice slice(request.SerializeAsString());
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    queue.Next(&tag, &ok);
    grpc::ByteBuffer bytes;
    call->Read(&bytes, nullptr);
    queue.Next(&tag, &ok);
    const bool read = ok;
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    std::unique_ptr<Message> answer = New(*method.output_type());
    grpc::Slice answered;
    if (!read || !bytes.DumpToSingleSlice(&answered).ok() ||
        !answer->ParseFromArray(answered.begin(),
                                static_cast<int>(answered.size()))) {
      ADD_FAILURE() << path << ": " << status.error_message();
      return nullptr;
    }
    return answer;
  }

 private:
  grpc::GenericStub stub_;
  google::protobuf::DynamicMessageFactory factory_;
};

void SetText(const std::string& field, const std::string& value,
             Message* message) {
  message->GetReflection()->SetString(
      message, message->GetDescriptor()->FindFieldByName(field), value);
}

// A server's API as reflection tells it.
class ReflectedApi {
 public:
  explicit ReflectedApi(const std::string& address)
      : client_(address, *DescriptorPool::generated_pool()) {
    // Brings gRPC's own description of the protocol into this program.
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    method_ =
        DescriptorPool::generated_pool()
            ->FindServiceByName("grpc.reflection.v1alpha.ServerReflection")
            ->FindMethodByName("ServerReflectionInfo");
  }

  std::vector<std::string> ListServices() {
    const auto answer = Ask("list_services", "*");
    std::vector<std::string> names;
    if (answer == nullptr) return names;
    const Message& list = Part(*answer, "list_services_response");
    const FieldDescriptor* services =
        list.GetDescriptor()->FindFieldByName("service");
    const auto* reflection = list.GetReflection();
    for (int i = 0; i < reflection->FieldSize(list, services); ++i) {
      const Message& service =
          reflection->GetRepeatedMessage(list, services, i);
      names.push_back(service.GetReflection()->GetString(
          service, service.GetDescriptor()->FindFieldByName("name")));
    }
    return names;
  }

  // The service with all that it needs; null when the server does not tell.
  const ServiceDescriptor* FindService(const std::string& name) {
    for (const std::string& file : Fetch("file_containing_symbol", name)) {
      Build(file);
    }
    return pool_.FindServiceByName(name);
  }

  const DescriptorPool& pool() const { return pool_; }

 private:
  std::unique_ptr<Message> Ask(const std::string& question,
                               const std::string& value) {
    auto request = client_.New(*method_->input_type());
    SetText(question, value, request.get());
    return client_.Call(*method_, *request);
  }

  static const Message& Part(const Message& message, const std::string& field) {
    return message.GetReflection()->GetMessage(
        message, message.GetDescriptor()->FindFieldByName(field));
  }

  // Asks for files; gives their names.
  std::vector<std::string> Fetch(const std::string& question,
                                 const std::string& value) {
    const auto answer = Ask(question, value);
    if (answer == nullptr) return {};
    const Message& part = Part(*answer, "file_descriptor_response");
    const FieldDescriptor* files =
        part.GetDescriptor()->FindFieldByName("file_descriptor_proto");
    const auto* reflection = part.GetReflection();
    std::vector<std::string> names;
    for (int i = 0; i < reflection->FieldSize(part, files); ++i) {
      FileDescriptorProto file;
      EXPECT_TRUE(
          file.ParseFromString(reflection->GetRepeatedString(part, files, i)));
      names.push_back(file.name());
      files_[file.name()] = file;
    }
    EXPECT_FALSE(names.empty()) << question << " " << value;
    return names;
  }

  // After what it imports.
  void Build(const std::string& name) {
    if (pool_.FindFileByName(name) != nullptr) return;
    if (files_.count(name) == 0) Fetch("file_by_filename", name);
    for (const std::string& import : files_[name].dependency()) Build(import);
    EXPECT_NE(pool_.BuildFile(files_[name]), nullptr) << name;
  }

  DynamicClient client_;
  const MethodDescriptor* method_ = nullptr;
  std::map<std::string, FileDescriptorProto> files_;
  // Knows nothing of what is compiled into this program.
  DescriptorPool pool_;
};

class StockClientTest : public Scenario {
 protected:
  StockClientTest() {
    FileDescriptorProto file;
    google::protobuf::TextFormat::ParseFromString(kHealthFile, &file);
    health_.BuildFile(file);
  }

  // What the health check says of a service; "" is the whole server.
  std::string Health(const std::string& address, const std::string& service) {
    DynamicClient client(address, health_);
    const MethodDescriptor& check =
        *health_.FindMethodByName("grpc.health.v1.Health.Check");
    auto request = client.New(*check.input_type());
    SetText("service", service, request.get());
    const auto answer = client.Call(check, *request);
    return answer == nullptr ? "" : answer->ShortDebugString();
  }

  DescriptorPool health_;
};

TEST_F(StockClientTest, HealthCheckFindsServersAndServicesServing) {
  Start("");
  for (const char* service :
       {"", "ordo.access.v1.AccessService", "ordo.jobs.v1.JobsService",
        "ordo.checkpoints.v1.CheckpointsService", "ordo.data.v1.DataService",
        "ordo.reports.v1.ReportsService", "ordo.workers.v1.WorkersService"}) {
    EXPECT_EQ(Health(deployment_->api_address(), service), "status: SERVING")
        << service;
  }
  for (const char* service : {"", "ordo.agent.v1.WorkerAgentService"}) {
    EXPECT_EQ(Health(deployment_->worker_address(), service), "status: SERVING")
        << service;
  }
}

TEST_F(StockClientTest, ReflectionIsEnoughToCallAMethod) {
  Start("");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", jobs::v1::Job::SUCCEEDED).has_value());

  ReflectedApi api(deployment_->api_address());
  const ServiceDescriptor* service =
      api.FindService("ordo.jobs.v1.JobsService");
  ASSERT_NE(service, nullptr);
  const MethodDescriptor* get_job = service->FindMethodByName("GetJob");
  ASSERT_NE(get_job, nullptr);
  DynamicClient client(deployment_->api_address(), api.pool());
  const auto request = client.New(*get_job->input_type());
  SetText("name", "jobs/job", request.get());
  const auto job = client.Call(*get_job, *request);
  ASSERT_NE(job, nullptr);
  EXPECT_THAT(job->DebugString(), HasSubstr("state: SUCCEEDED"));
  EXPECT_THAT(job->DebugString(), HasSubstr("steps: 60"));
  // Imports come too.
  EXPECT_NE(api.pool().FindExtensionByName("google.api.field_behavior"),
            nullptr);
}

TEST_F(StockClientTest, ReflectionTellsEveryServiceWhole) {
  Start("");
  for (const std::string& address :
       {deployment_->api_address(), deployment_->worker_address()}) {
    ReflectedApi api(address);
    const std::vector<std::string> names = api.ListServices();
    EXPECT_THAT(names, Contains(address == deployment_->api_address()
                                    ? "ordo.jobs.v1.JobsService"
                                    : "ordo.agent.v1.WorkerAgentService"));
    for (const std::string& name : names) {
      if (name.rfind("ordo.", 0) != 0) continue;
      const ServiceDescriptor* service = api.FindService(name);
      ASSERT_NE(service, nullptr) << name;
      EXPECT_GT(service->method_count(), 0) << name;
    }
  }
}

}  // namespace
}  // namespace ordo::tests::e2e
