#include "services/cli/commands/caller.h"

#include "base/status/status.h"

namespace ordo::services::cli {

using ordo::access::v1::AccessService;
using ordo::access::v1::WhoAmIRequest;
using ordo::access::v1::WhoAmIResponse;

absl::StatusOr<std::string> CallerName(Context& context) {
  const ClientOptions& options = context.client.options();
  if (options.bearer.empty() && options.tls.certificate.path.empty()) {
    return options.user;
  }
  ORDO_ASSIGN_OR_RETURN(
      const WhoAmIResponse caller,
      context.client.Call(context.client.access(), &AccessService::Stub::WhoAmI,
                          WhoAmIRequest()));
  return caller.user();
}

}  // namespace ordo::services::cli
