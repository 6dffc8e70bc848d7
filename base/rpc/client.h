#ifndef ORDO_BASE_RPC_CLIENT_H_
#define ORDO_BASE_RPC_CLIENT_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/security/credentials.h"

namespace ordo::base {

// A channel to "HOST:PORT". It connects at the first call and again after a
// failure, waiting at most a second between attempts, since servers here
// restart within one. Never through an HTTP proxy. `tls` is of a ClientTls;
// null: without TLS.
std::shared_ptr<grpc::Channel> Connect(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& tls = nullptr);

// Like Connect, with a TCP connection of its own. Channels of Connect to one
// address share one.
std::shared_ptr<grpc::Channel> ConnectAlone(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& tls = nullptr);

struct CallOptions {
  // Each call has one; streams that stay open give their own.
  absl::Duration timeout = absl::Seconds(10);
  // Sent as "ordo-user"; empty sends none.
  std::string user;
  // Wait for a server that is away, until the timeout, rather than fail with
  // UNAVAILABLE.
  bool wait_for_ready = false;
  // Secret of a token, or a JWT, by which the server knows the caller; empty
  // sends none.
  std::string bearer = {};
  // Sent as "traceparent"; empty sends none.
  std::string trace_parent = {};
};

// Sets up the context of one call. An infinite timeout sets no deadline.
void PrepareCall(const CallOptions& options, grpc::ClientContext* context);

// The name of the user that runs this process, as the system knows it; the
// number when it has none.
std::string LocalUser();

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_CLIENT_H_
