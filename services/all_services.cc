#include "services/all_services.h"

#include "services/agent/scheduler_agent_service.h"
#include "services/checkpoints/checkpoints_service.h"
#include "services/files/work_queue.h"
#include "services/jobs/jobs_service.h"
#include "services/reports/reports_service.h"
#include "services/workers/workers_service.h"

namespace ordo::services {
namespace {

// They read files and send messages; more than the disk answers at once is no
// use.
constexpr int kNumThreads = 4;

}  // namespace

struct AllServices::Parts {
  explicit Parts(const AllServicesOptions& options)
      : queue(kNumThreads),
        storage{*options.files, options.storage_root},
        jobs({*options.scheduler, storage, queue,
              options.authenticator == nullptr ? claimed_user
                                               : *options.authenticator,
              options.authoriser == nullptr ? open : *options.authoriser}),
        checkpoints(*options.scheduler, storage, queue),
        reports(*options.scheduler, storage, queue),
        workers(*options.scheduler),
        agent(*options.scheduler) {}

  const auth::ClaimedUserAuthenticator claimed_user;
  const auth::OpenAuthoriser open;
  files::WorkQueue queue;
  files::Storage storage;
  jobs::JobsService jobs;
  checkpoints::CheckpointsService checkpoints;
  reports::ReportsService reports;
  workers::WorkersService workers;
  agent::SchedulerAgentService agent;
};

AllServices::AllServices(const AllServicesOptions& options)
    : parts_(std::make_unique<Parts>(options)) {}

AllServices::~AllServices() = default;

std::vector<grpc::Service*> AllServices::services() const {
  return {&parts_->jobs, &parts_->checkpoints, &parts_->reports,
          &parts_->workers, &parts_->agent};
}

void AllServices::EndStreams() { parts_->queue.EndStreams(); }

}  // namespace ordo::services
