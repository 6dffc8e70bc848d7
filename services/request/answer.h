#ifndef ORDO_SERVICES_REQUEST_ANSWER_H_
#define ORDO_SERVICES_REQUEST_ANSWER_H_

#include "absl/status/statusor.h"
#include "base/rpc/server.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"

namespace ordo::services::request {

// Ends a unary call with a message or with an error.
template <typename Response>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                 absl::StatusOr<Response> result,
                                 Response* response) {
  if (result.ok()) response->Swap(&*result);
  return base::Finish(context, result.status());
}

}  // namespace ordo::services::request

#endif  // ORDO_SERVICES_REQUEST_ANSWER_H_
