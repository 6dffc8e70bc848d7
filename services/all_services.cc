#include "services/all_services.h"

#include <algorithm>
#include <cstdint>

#include "services/agent/scheduler_agent_service.h"
#include "services/auth/guard.h"
#include "services/auth/tokens.h"
#include "services/checkpoints/checkpoints_service.h"
#include "services/checkpoints/uploads.h"
#include "services/data/data_service.h"
#include "services/data/data_sets.h"
#include "services/files/work_queue.h"
#include "services/jobs/jobs_service.h"
#include "services/limits/limits.h"
#include "services/queues/queues_service.h"
#include "services/reports/reports_service.h"
#include "services/usage/usage_service.h"
#include "services/workers/workers_service.h"

namespace ordo::services {
namespace {

// They read files and send messages; more than the disk answers at once is no
// use.
constexpr int kNumThreads = 4;
// They hash what comes in; the rest of a machine is for what it serves.
constexpr int kNumUploadThreads = 2;
// Each holds a part of a file, checkpoints::kMaxWriteMessageBytes at most.
constexpr int64_t kMaxUploadCalls = 64;

}  // namespace

struct AllServices::Parts {
  explicit Parts(const AllServicesOptions& options)
      : clock(options.clock == nullptr ? real_clock : *options.clock),
        tokens(*options.scheduler, clock),
        known(tokens, options.auth.value_or(auth::KnownAuthenticatorOptions())),
        guard({AuthenticatorOf(options), options.audit_log,
               options.believes_workers},
              clock),
        limits(options.limits, clock),
        storage{*options.files, options.storage_root},
        uploads(storage, clock),
        data_sets({storage, clock, uploads}),
        queue(kNumThreads, options.limits.file_calls),
        upload_queue(kNumUploadThreads,
                     std::min(options.limits.file_calls, kMaxUploadCalls)),
        jobs({*options.scheduler, storage, queue, guard, limits}),
        checkpoints({*options.scheduler, storage, queue, upload_queue, uploads,
                     guard, limits}),
        data({*options.scheduler, data_sets, uploads, queue, upload_queue,
              guard, limits}),
        reports({*options.scheduler, storage, queue, guard, limits}),
        queues({*options.scheduler, guard, limits}),
        usage({*options.scheduler, clock, queue, guard, limits}),
        workers({*options.scheduler, clock, guard, limits}),
        access({*options.scheduler, tokens, clock, guard, limits,
                options.sign_worker}),
        agent(*options.scheduler, guard) {
    upload_queue.Run([this] { uploads.RemoveStale(); });
  }

  const auth::Authenticator* AuthenticatorOf(
      const AllServicesOptions& options) const {
    if (options.authenticator != nullptr) return options.authenticator;
    if (options.auth.has_value()) return &known;
    return &claimed_user;
  }

  const base::RealClock real_clock;
  const base::Clock& clock;
  const auth::ClaimedUserAuthenticator claimed_user;
  auth::Tokens tokens;
  const auth::KnownAuthenticator known;
  auth::Guard guard;
  // Streams count until the queue has dropped them, so it goes last.
  limits::Limits limits;
  files::Storage storage;
  checkpoints::Uploads uploads;
  data::DataSets data_sets;
  // They use all of that, so they go first.
  files::WorkQueue queue;
  files::WorkQueue upload_queue;
  jobs::JobsService jobs;
  checkpoints::CheckpointsService checkpoints;
  data::DataService data;
  reports::ReportsService reports;
  queues::QueuesService queues;
  usage::UsageService usage;
  workers::WorkersService workers;
  access::AccessService access;
  agent::SchedulerAgentService agent;
};

AllServices::AllServices(const AllServicesOptions& options)
    : parts_(std::make_unique<Parts>(options)) {}

AllServices::~AllServices() = default;

std::vector<grpc::Service*> AllServices::services() const {
  return {&parts_->jobs,    &parts_->checkpoints, &parts_->data,
          &parts_->reports, &parts_->queues,      &parts_->usage,
          &parts_->workers, &parts_->access,      &parts_->agent};
}

void AllServices::EndStreams() {
  parts_->queue.EndStreams();
  parts_->uploads.Stop();
}

}  // namespace ordo::services
