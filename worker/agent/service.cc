#include "worker/agent/service.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/rpc/server.h"

namespace ordo::worker::agent {
namespace {

// With TLS a caller has a name: the port takes the worker's own certificate,
// too, for probes. Without it whoever reaches the port is believed.
absl::Status CheckScheduler(const base::Caller& caller) {
  const auto& names = caller.uri_names;
  if (names.empty() || std::find(names.begin(), names.end(),
                                 base::kSchedulerUri) != names.end()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "WorkerAgentService/SetDesired needs the right SCHEDULER, which only the "
      "scheduler has, and the certificate is of ",
      names.front()));
}

}  // namespace

grpc::ServerUnaryReactor* WorkerAgentServiceImpl::SetDesired(
    grpc::CallbackServerContext* context,
    const ::ordo::agent::v1::SetDesiredRequest* request,
    ::ordo::agent::v1::SetDesiredResponse* response) {
  if (const absl::Status status = CheckScheduler(base::GetCaller(*context));
      !status.ok()) {
    return base::Finish(context, status);
  }
  auto result = agent_.SetDesired(*request);
  if (!result.ok()) return base::Finish(context, result.status());
  *response = *std::move(result);
  return base::Finish(context, absl::OkStatus());
}

}  // namespace ordo::worker::agent
