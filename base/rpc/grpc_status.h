#ifndef ORDO_BASE_RPC_GRPC_STATUS_H_
#define ORDO_BASE_RPC_GRPC_STATUS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

// The only file that knows both status types.

namespace ordo::base {

// gRPC sends a status as HTTP/2 headers, which peers limit to 8 KiB in all.
inline constexpr size_t kMaxStatusMessageBytes = 1024;
inline constexpr size_t kMaxStatusDetailsBytes = 3072;

// The status to send. The message is cut at kMaxStatusMessageBytes; the
// payloads become the details (google.rpc.Status), field violations that do not
// fit are replaced by one that counts them, other payloads that do not fit are
// left out.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The status received, details as payloads.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_GRPC_STATUS_H_
