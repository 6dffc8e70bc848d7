#include "services/auth/view.h"

#include "scheduler/bound_scheduler.h"
#include "services/auth/guard.h"

namespace ordo::services::auth {

std::shared_ptr<scheduler::Scheduler> ViewOf(
    const grpc::CallbackServerContext& context,
    scheduler::Scheduler& scheduler) {
  const Visitor& visitor = VisitorOf(context);
  if (visitor.queues.has_value()) {
    return scheduler::MakeBoundScheduler(scheduler, *visitor.queues);
  }
  return {std::shared_ptr<scheduler::Scheduler>(), &scheduler};
}

}  // namespace ordo::services::auth
