#ifndef ORDO_SERVICES_ALL_SERVICES_H_
#define ORDO_SERVICES_ALL_SERVICES_H_

#include <memory>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "grpcpp/impl/codegen/service_type.h"
#include "scheduler/scheduler.h"
#include "services/auth/auth.h"
#include "services/limits/limits.h"

namespace ordo::services {

struct AllServicesOptions {
  // Not owned; outlives the services.
  scheduler::Scheduler* scheduler = nullptr;
  base::Filesystem* files = nullptr;
  // Where logs, checkpoints and reports lie.
  std::string storage_root;
  // Tells how old uploads are, how many calls a second there are, when a drain
  // is and up to when there is usage. Null: the machine's. Otherwise not owned.
  const base::Clock* clock = nullptr;
  // Null: ClaimedUserAuthenticator and OpenAuthoriser. Otherwise not owned.
  const auth::Authenticator* authenticator = nullptr;
  const auth::Authoriser* authoriser = nullptr;
  limits::LimitsOptions limits = {};
};

// Every service that ordo-scheduler offers, for base::RpcServer::Start:
// JobsService, CheckpointsService, DataService, ReportsService, QueuesService,
// UsageService, WorkersService and the internal SchedulerAgentService.
//
// Outlives the server. To leave: drain the scheduler, which ends the watches,
// EndStreams, drain the server, destroy this, then the scheduler. Every stream
// then ends with UNAVAILABLE, and clients call again.
class AllServices {
 public:
  explicit AllServices(const AllServicesOptions& options);
  ~AllServices();
  AllServices(const AllServices&) = delete;
  AllServices& operator=(const AllServices&) = delete;

  // Owned by this.
  std::vector<grpc::Service*> services() const;

  // Ends all streams of files and logs soon, and those that come later; and
  // the checks of uploads.
  void EndStreams();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ordo::services

#endif  // ORDO_SERVICES_ALL_SERVICES_H_
