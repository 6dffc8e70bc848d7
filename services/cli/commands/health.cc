#include "absl/strings/str_cat.h"
#include "base/rpc/health.grpc.pb.h"
#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/commands/commands.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  HealthCheckRequest request;
  if (!arguments.positional().empty()) {
    request.set_service(arguments.positional()[0]);
  }
  const auto stub = Health::NewStub(context.client.channel());
  ORDO_ASSIGN_OR_RETURN(
      const HealthCheckResponse response,
      context.client.Call(*stub, &Health::Stub::Check, request));
  const std::string& address = context.client.options().address;
  if (response.status() != HealthCheckResponse::SERVING) {
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
