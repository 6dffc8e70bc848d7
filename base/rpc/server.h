#ifndef ORDO_BASE_RPC_SERVER_H_
#define ORDO_BASE_RPC_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/rpc/address.h"
#include "base/rpc/rpc_metrics.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_context.h"

namespace ordo::base {

// Largest request that a server takes and a client sends: ten thousand small
// jobs.
inline constexpr int kMaxMessageBytes = 16 << 20;
// Largest answer: as many jobs with every default filled in, and what became of
// them.
inline constexpr int kMaxAnswerBytes = 64 << 20;

// Calls that one connection may have open; a client of gRPC keeps more back
// until some have ended. Twice the streams that one user may have by default,
// so that another one is refused with a reason instead of waiting.
inline constexpr int kMaxStreams = 8192;
// What a server may hold of requests that are not parsed yet, sixteen of the
// largest at once, and of open calls.
inline constexpr int64_t kMaxTransportBytes = 16 * int64_t{kMaxMessageBytes};
// Streams of reflection that a server has open, of all clients together; above
// it they end as RESOURCE_EXHAUSTED. Anybody may open them, and each holds a
// thread until its client is done.
inline constexpr int kMaxReflections = 32;
// Streams of Health.Watch that a server has open, of all clients together and
// of one address; above it they end as RESOURCE_EXHAUSTED. Anybody may open
// them, over as many connections as they like. A proxy has one for each of its
// threads.
inline constexpr int kMaxWatches = 1024;
inline constexpr int kMaxWatchesPerAddress = 16;

struct RpcServerOptions {
  // "HOST:PORT"; port 0 takes a free one.
  std::string listen = "127.0.0.1:0";
  // From ServerTls; null: what is said can be read and changed on its way.
  std::shared_ptr<grpc::ServerCredentials> tls = {};
  // Permits a host that other machines can reach without TLS.
  bool insecure = false;
  // Counts and measures all RPCs; may be null; outlives the server.
  RpcMetrics* metrics = nullptr;
  // Of all connections together. Above it calls whose requests are being read
  // end as RESOURCE_EXHAUSTED until there is room.
  int64_t max_transport_bytes = kMaxTransportBytes;
  // Per connection.
  int max_streams = kMaxStreams;
  int max_watches = kMaxWatches;
  int max_watches_per_address = kMaxWatchesPerAddress;
  // A connection that has not become one of gRPC's by then, TLS and all, is
  // closed: strangers who connect and say nothing hold descriptors and memory.
  absl::Duration handshake_timeout = absl::Seconds(10);
};

class HealthService;

// A gRPC server with health checking and reflection. Thread-safe.
class RpcServer {
 public:
  // Starts to serve; the health of the server (the service named "") and of
  // each service by its name is SERVING from here on. The services outlive the
  // server. INVALID_ARGUMENT for a bad address, or when the host is not
  // loopback and there is neither `tls` nor `insecure`; FAILED_PRECONDITION
  // when the port is in use.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(
      const RpcServerOptions& options,
      const std::vector<grpc::Service*>& services);

  // Drains without grace.
  ~RpcServer();

  int port() const { return port_; }
  // "HOST:PORT" with the actual port.
  const std::string& address() const { return address_; }

  // Health becomes NOT_SERVING and is watched no more, new calls are refused,
  // running calls are cancelled after `grace`. Returns when all have ended. The
  // callers of open streams see them end: services that hold streams close them
  // on ServerContext::IsCancelled or earlier by themselves.
  void Drain(absl::Duration grace);

 private:
  RpcServer(const HostPort& listen, std::unique_ptr<HealthService> health,
            std::unique_ptr<grpc::Server> server);

  const std::string address_;
  const int port_;
  const std::unique_ptr<HealthService> health_;
  const std::unique_ptr<grpc::Server> server_;
};

// Who calls: what the caller says, and what the wire has proved.
struct Caller {
  // The metadata entry kUserMetadataKey; empty when there is none. Only
  // claimed.
  std::string user;
  // "ipv4:127.0.0.1:5000".
  std::string peer;
  // The URI names of the caller's certificate, which TLS has verified; empty
  // without one.
  std::vector<std::string> uri_names = {};
  // What follows "Bearer " in the metadata entry `authorization`; empty: there
  // is none. A secret: never logged.
  std::string bearer = {};
  // The trace that the call is part of (base/trace/trace.h); empty when there
  // is none, or what there is is malformed.
  std::string trace_parent = {};
};

inline constexpr char kUserMetadataKey[] = "ordo-user";
inline constexpr char kAuthorizationMetadataKey[] = "authorization";
// A unary call that sends this entry, of any value, is told the server's wall
// clock behind its answer, by an entry of the same name: nanoseconds since
// 1970.
inline constexpr char kTimeMetadataKey[] = "ordo-time";

Caller GetCaller(const grpc::ServerContextBase& context);

// Ends a unary call of the callback API with a status.
grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 const absl::Status& status);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_SERVER_H_
