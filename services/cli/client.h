#ifndef ORDO_SERVICES_CLI_CLIENT_H_
#define ORDO_SERVICES_CLI_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/rpc/tls.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"
#include "proto/ordo/checkpoints/v1/checkpoints.grpc.pb.h"
#include "proto/ordo/data/v1/data.grpc.pb.h"
#include "proto/ordo/jobs/v1/jobs.grpc.pb.h"
#include "proto/ordo/queues/v1/queues.grpc.pb.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "proto/ordo/usage/v1/usage.grpc.pb.h"
#include "proto/ordo/workers/v1/workers.grpc.pb.h"
#include "services/cli/interrupt.h"

namespace ordo::services::cli {

struct ClientOptions {
  // HOST:PORT of the scheduler.
  std::string address = "127.0.0.1:7420";
  // Without authorities: without TLS.
  base::TlsFiles tls = {{"--certificate", ""}, {"--key", ""}, {"--ca", ""}};
  // Claimed owner of what is submitted.
  std::string user;
  // Secret of a token, or a JWT; empty: none is shown.
  std::string bearer;
  // Which trace its calls are part of (base/trace/trace.h); empty: none.
  std::string trace_parent = {};
  // One call takes at most this long.
  absl::Duration call_timeout = absl::Seconds(10);
  // A call that finds no server is tried again for this long: a scheduler that
  // died is back within a second.
  absl::Duration retry_for = absl::Seconds(3);
  // Streams ride out an absence of the server this long.
  absl::Duration patience = absl::Seconds(60);
};

// Calls to the scheduler. Connects at the first call. Thread-safe once
// connected.
class Client {
 public:
  // `interrupt` ends waits between tries; it outlives the client.
  Client(ClientOptions options, Interrupt& interrupt)
      : options_(std::move(options)), interrupt_(interrupt) {}

  const ClientOptions& options() const { return options_; }

  ordo::access::v1::AccessService::Stub& access();
  jobs::v1::JobsService::Stub& jobs();
  checkpoints::v1::CheckpointsService::Stub& checkpoints();
  ordo::data::v1::DataService::Stub& data();
  queues::v1::QueuesService::Stub& queues();
  reports::v1::ReportsService::Stub& reports();
  usage::v1::UsageService::Stub& usage();
  workers::v1::WorkersService::Stub& workers();

  // The connection of all stubs, for a service of others.
  std::shared_ptr<grpc::Channel> channel();

  // One unary call, tried again while the server is away, and once when there
  // was no answer in time, so a request that changes something carries a
  // request_id:
  //   client.Call(client.jobs(), &JobsService::Stub::GetJob, request);
  // UNAVAILABLE says what to do when no server answers; CANCELLED when the
  // interrupt came first. *maybe_done says whether a try that gave no answer
  // may have had its effect.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request, bool* maybe_done = nullptr) {
    Response response;
    const absl::Status status = Retry(
        [&](grpc::ClientContext* context) {
          response.Clear();
          return (stub.*method)(context, request, &response);
        },
        maybe_done);
    if (!status.ok()) return status;
    return response;
  }

  // A context for one stream: no deadline, with the user's name.
  std::unique_ptr<grpc::ClientContext> StreamContext() const;

  // A status received, with advice when the server could not be reached.
  absl::Status Explain(const grpc::Status& status) const;

  // The error after an absence longer than `patience`.
  absl::Status Unreachable(const std::string& detail) const;

 private:
  absl::Status Retry(
      const std::function<grpc::Status(grpc::ClientContext*)>& call,
      bool* maybe_done);
  // Waits for the next try: for `delay`, or less when the connection opens
  // before. False at the interrupt.
  bool WaitToRetry(absl::Duration delay);
  // A channel on which every call fails while the files of options_.tls are
  // not as they must be; tls_error_ says what is wrong.
  std::shared_ptr<grpc::Channel> ConnectWithTls();

  const ClientOptions options_;
  Interrupt& interrupt_;
  std::shared_ptr<grpc::Channel> channel_;
  absl::Status tls_error_;
  std::unique_ptr<ordo::access::v1::AccessService::Stub> access_;
  std::unique_ptr<jobs::v1::JobsService::Stub> jobs_;
  std::unique_ptr<checkpoints::v1::CheckpointsService::Stub> checkpoints_;
  std::unique_ptr<ordo::data::v1::DataService::Stub> data_;
  std::unique_ptr<queues::v1::QueuesService::Stub> queues_;
  std::unique_ptr<reports::v1::ReportsService::Stub> reports_;
  std::unique_ptr<usage::v1::UsageService::Stub> usage_;
  std::unique_ptr<workers::v1::WorkersService::Stub> workers_;
};

// Whether a broken stream or call is worth another try.
bool IsAway(const grpc::Status& status);
// Whether a limit of the server's refused the call: it is taken later.
bool IsRefusedForNow(const grpc::Status& status);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_CLIENT_H_
