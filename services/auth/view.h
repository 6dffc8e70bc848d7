#ifndef ORDO_SERVICES_AUTH_VIEW_H_
#define ORDO_SERVICES_AUTH_VIEW_H_

#include <memory>

#include "grpcpp/server_context.h"
#include "scheduler/scheduler.h"

namespace ordo::services::auth {

// The scheduler as the caller of a call that has passed its guard sees it: all
// of it, unless they are bound to queues. `scheduler` outlives what this gives.
std::shared_ptr<scheduler::Scheduler> ViewOf(
    const grpc::CallbackServerContext& context,
    scheduler::Scheduler& scheduler);

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_VIEW_H_
