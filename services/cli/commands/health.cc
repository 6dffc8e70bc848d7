#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/wrappers.pb.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "services/cli/commands/commands.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// On the wire the messages of grpc.health.v1, which no installed header has:
// HealthCheckRequest {string service = 1} and HealthCheckResponse {enum
// status = 1}.
using HealthRequest = google::protobuf::StringValue;
using HealthResponse = google::protobuf::Int32Value;

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr int kServing = 1;

// What protoc would make of the health service, as far as it is used.
class HealthStub {
 public:
  explicit HealthStub(std::shared_ptr<grpc::Channel> channel)
      : stub_(std::move(channel)) {}

  grpc::Status Check(grpc::ClientContext* context, const HealthRequest& request,
                     HealthResponse* response) {
    grpc::CompletionQueue queue;
    const auto call = stub_.PrepareUnaryCall(context, kCheck, request, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status;
  }

 private:
  grpc::TemplatedGenericStub<HealthRequest, HealthResponse> stub_;
};

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  HealthRequest request;
  if (!arguments.positional().empty()) {
    request.set_value(arguments.positional()[0]);
  }
  HealthStub stub(context.client.channel());
  ORDO_ASSIGN_OR_RETURN(const HealthResponse response,
                        context.client.Call(stub, &HealthStub::Check, request));
  const std::string& address = context.client.options().address;
  if (response.value() != kServing) {
    return absl::UnavailableError(
        absl::StrCat(address, " answers and does not serve"));
  }
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["address"].set_string_value(address);
  (*fields.mutable_fields())["status"].set_string_value("SERVING");
  if (PrintStructured(context, fields)) return ExitCode::kOk;
  context.out << address << " serves\n";
  return ExitCode::kOk;
}

}  // namespace

Command HealthCommand() {
  Command command;
  command.name = "health";
  command.arguments = "[SERVICE]";
  command.summary = "whether a scheduler or worker serves; for probes";
  command.help =
      "Asks what listens at --server, a worker too, by gRPC's health "
      "protocol:\n"
      "for all of it, or for one service such as ordo.jobs.v1.JobsService. "
      "Ends\n"
      "with 0 when it serves, and with 4 when it does not or nobody is there.";
  command.max_arguments = 1;
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
