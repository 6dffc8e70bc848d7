#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <gtest/gtest.h>
#include <isa-l/crc.h>
#include <openssl/evp.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>
#include <yaml-cpp/yaml.h>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "tools/hello/hello.grpc.pb.h"

ABSL_FLAG(std::string, who, "you", "whom");

namespace ordo::hello {
class Service final : public v1::Hello::CallbackService {
  grpc::ServerUnaryReactor* Say(grpc::CallbackServerContext* context,
                                const v1::HelloRequest* request,
                                v1::HelloReply* reply) override {
    reply->set_text(absl::StrCat("hello ", request->name()));
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

TEST(GrpcTest, Answers) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  Service service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  auto stub = v1::Hello::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port),
                          grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::HelloRequest request;
  request.set_name(absl::GetFlag(FLAGS_who));
  v1::HelloReply reply;
  ASSERT_TRUE(stub->Say(&context, request, &reply).ok());
  EXPECT_EQ(reply.text(), "hello you");
  server->Shutdown();
  google::rpc::BadRequest bad;
  EXPECT_EQ(bad.field_violations_size(), 0);
}

TEST(LibrariesTest, Link) {
  prometheus::Exposer exposer("127.0.0.1:0");
  auto registry = std::make_shared<prometheus::Registry>();
  exposer.RegisterCollectable(registry);
  EXPECT_GT(exposer.GetListeningPorts().at(0), 0);
  unsigned char data[] = "123456789";
  EXPECT_EQ(~crc32_iscsi(data, 9, ~0u), 0xe3069283u);
  EXPECT_EQ(YAML::Load("{a: 3}")["a"].as<int>(), 3);
  spdlog::info("hello {}", 3);
  EXPECT_NE(sqlite3_libversion(), nullptr);
  EXPECT_NE(EVP_sha256(), nullptr);
  absl::flat_hash_map<std::string, int> map;
  map["a"] = 1;
  absl::btree_map<int, int> tree;
  tree[1] = 2;
  absl::StatusOr<absl::Duration> d = absl::Seconds(3);
  EXPECT_TRUE(d.ok());
  absl::Mutex m;
  absl::MutexLock l(&m);
}
}  // namespace ordo::hello
