#include "base/rpc/client.h"

#include <array>
#include <chrono>
#include <pwd.h>
#include <unistd.h>

#include "base/rpc/server.h"
#include "base/trace/trace.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace ordo::base {
namespace {

constexpr int kMinReconnectMs = 50;
constexpr int kMaxReconnectMs = 1'000;
constexpr int kConnectTimeoutMs = 2'000;
// A server that has gone without a word is noticed after interval + timeout.
constexpr int kKeepaliveIntervalMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinReconnectMs);
  // gRPC takes this one as the time that a connection may take to open.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

std::shared_ptr<grpc::Channel> Open(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& tls,
    const grpc::ChannelArguments& arguments) {
  return grpc::CreateCustomChannel(
      address, tls == nullptr ? grpc::InsecureChannelCredentials() : tls,
      arguments);
}

}  // namespace

std::shared_ptr<grpc::Channel> Connect(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& tls) {
  return Open(address, tls, Arguments());
}

std::shared_ptr<grpc::Channel> ConnectAlone(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& tls) {
  grpc::ChannelArguments arguments = Arguments();
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return Open(address, tls, arguments);
}

void PrepareCall(const CallOptions& options, grpc::ClientContext* context) {
  if (options.timeout != absl::InfiniteDuration()) {
    context->set_deadline(std::chrono::system_clock::now() +
                          absl::ToChronoMilliseconds(options.timeout));
  }
  if (!options.user.empty()) {
    context->AddMetadata(kUserMetadataKey, options.user);
  }
  if (!options.bearer.empty()) {
    context->AddMetadata(kAuthorizationMetadataKey, "Bearer " + options.bearer);
  }
  if (!options.trace_parent.empty()) {
    context->AddMetadata(kTraceParentKey, options.trace_parent);
  }
  context->set_wait_for_ready(options.wait_for_ready);
}

std::string LocalUser() {
  const uid_t uid = ::getuid();
  std::array<char, 4096> buffer;
  passwd entry;
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

}  // namespace ordo::base
