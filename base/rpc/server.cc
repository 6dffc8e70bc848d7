#include "base/rpc/server.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock/clock.h"
#include "base/log/log.h"
#include "base/rpc/address.h"
#include "base/rpc/call.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/health_service.h"
#include "base/status/status.h"
#include "base/trace/trace.h"
#include "grpc/grpc_security_constants.h"
#include "grpc/support/log.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/impl/server_builder_option.h"
#include "grpcpp/impl/server_builder_plugin.h"
#include "grpcpp/impl/server_initializer.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server_builder.h"

namespace ordo::base {
namespace {

// A peer that has gone without a word is noticed after interval + timeout.
constexpr int kKeepaliveIntervalMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Clients may ping this often without being taken for attackers.
constexpr int kMinPingIntervalMs = 5'000;
constexpr char kBearer[] = "Bearer ";

// gRPC prints errors of calls that also return them; here who gets a status
// reports it.
void LogFromGrpc(gpr_log_func_args* line) {
  LogDebug("grpc", {{"message", line->message}});
}

// All must be done before the first server is built.
void SetUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(LogFromGrpc);
    // Debian's Abseil, built without NDEBUG, looks for cycles at each lock of
    // gRPC's, with a lock of its own.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

void SetLimits(const RpcServerOptions& options, grpc::ServerBuilder* builder) {
  // Counts what gRPC has read of a request until it is parsed, and the arenas
  // of calls for as long as they last; what becomes of a parsed request is
  // bounded by those who take it. gRPC frees memory in its own time, so the
  // bound may be exceeded for a moment. The builder keeps a reference.
  grpc::ResourceQuota quota;
  quota.Resize(static_cast<size_t>(options.max_transport_bytes));
  // Reflection alone holds a thread for each of its streams. Those that wait
  // for calls count: one here.
  quota.SetMaxThreads(1 + kMaxReflections);
  builder->SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder->SetResourceQuota(quota);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              options.max_streams);
  builder->AddChannelArgument(
      GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
      static_cast<int>(absl::ToInt64Milliseconds(options.handshake_timeout)));
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder->SetMaxSendMessageSize(kMaxAnswerBytes);
  // With port sharing a second server on a port in use would start and take
  // every other call.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveIntervalMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              kKeepaliveTimeoutMs);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinPingIntervalMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

// Tells the health service the names of a server's services before it starts;
// only plugins learn them.
class ServiceNames : public grpc::ServerBuilderPlugin {
 public:
  explicit ServiceNames(HealthService& health) : health_(health) {}

  std::string name() override { return "ordo-service-names"; }
  void InitServer(grpc::ServerInitializer*) override {}
  void Finish(grpc::ServerInitializer* server) override {
    health_.Serve(*server->GetServiceList());
  }
  void ChangeArguments(const std::string&, void*) override {}

 private:
  HealthService& health_;
};

// Adds ServiceNames to one builder; `health` outlives it.
class ServiceNamesOption : public grpc::ServerBuilderOption {
 public:
  explicit ServiceNamesOption(HealthService& health) : health_(health) {}

  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*
                         plugins) override {
    plugins->push_back(std::make_unique<ServiceNames>(health_));
  }

 private:
  HealthService& health_;
};

// gRPC 1.51 shares one completion queue among all users of the callback API
// and can abort (in grpc_cq_internal_unref) when the last of them goes while
// its threads still look at it. One user that never goes, a server without a
// port, keeps the queue for the life of the process.
void KeepCallbackQueue() {
  static grpc::Server* const keeper = [] {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(new grpc::CallbackGenericService);
    return builder.BuildAndStart().release();
  }();
  static_cast<void>(keeper);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const RpcServerOptions& options,
    const std::vector<grpc::Service*>& services) {
  KeepCallbackQueue();
  ORDO_ASSIGN_OR_RETURN(HostPort listen, ParseHostPort(options.listen));
  ORDO_RETURN_IF_ERROR(
      CheckListen(options.listen, options.insecure || options.tls != nullptr));
  SetUpGrpc();
  grpc::ServerBuilder builder;
  SetLimits(options, &builder);
  auto health = std::make_unique<HealthService>(
      options.max_watches, options.max_watches_per_address);
  builder.RegisterService(health.get());
  for (grpc::Service* service : services) builder.RegisterService(service);
  builder.SetContextAllocator(CallAllocator());
  std::vector<
      std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
      factories;
  factories.push_back(CallEndings());
  if (options.metrics != nullptr) {
    factories.push_back(options.metrics->InterceptorFactory());
  }
  builder.experimental().SetInterceptorCreators(std::move(factories));
  builder.SetOption(std::make_unique<ServiceNamesOption>(*health));
  int port = 0;
  builder.AddListeningPort(
      listen.ToString(),
      options.tls == nullptr ? grpc::InsecureServerCredentials() : options.tls,
      &port);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::FailedPreconditionError(
        "listen on " + options.listen +
        ": the port is in use or the host is not of this machine; end the "
        "other program or name another port (0 takes a free one)");
  }
  listen.port = port;
  return std::unique_ptr<RpcServer>(
      new RpcServer(listen, std::move(health), std::move(server)));
}

RpcServer::RpcServer(const HostPort& listen,
                     std::unique_ptr<HealthService> health,
                     std::unique_ptr<grpc::Server> server)
    : address_(listen.ToString()),
      port_(listen.port),
      health_(std::move(health)),
      server_(std::move(server)) {}

RpcServer::~RpcServer() { Drain(absl::ZeroDuration()); }

void RpcServer::Drain(absl::Duration grace) {
  health_->Drain();
  server_->Shutdown(std::chrono::system_clock::now() +
                    absl::ToChronoMilliseconds(grace));
  server_->Wait();
}

Caller GetCaller(const grpc::ServerContextBase& context) {
  Caller caller;
  caller.peer = context.peer();
  if (const auto proved = context.auth_context(); proved != nullptr) {
    for (const grpc::string_ref& name :
         proved->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
      caller.uri_names.emplace_back(name.data(), name.size());
    }
  }
  const auto& metadata = context.client_metadata();
  const auto user = metadata.find(kUserMetadataKey);
  if (user != metadata.end()) {
    caller.user.assign(user->second.data(), user->second.size());
  }
  const auto found = metadata.find(kAuthorizationMetadataKey);
  if (found != metadata.end()) {
    const absl::string_view value(found->second.data(), found->second.size());
    // The scheme's case does not count (RFC 9110, 11.1).
    if (absl::StartsWithIgnoreCase(value, kBearer)) {
      caller.bearer = std::string(value.substr(sizeof(kBearer) - 1));
    }
  }
  // Of two nobody knows which one is meant.
  if (metadata.count(kTraceParentKey) == 1) {
    const auto& parent = metadata.find(kTraceParentKey)->second;
    caller.trace_parent = ParseTraceParent({parent.data(), parent.size()});
  }
  return caller;
}

grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                 const absl::Status& status) {
  if (context->client_metadata().count(kTimeMetadataKey) > 0) {
    context->AddTrailingMetadata(
        kTimeMetadataKey, absl::StrCat(absl::ToUnixNanos(RealClock().Now())));
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

}  // namespace ordo::base
