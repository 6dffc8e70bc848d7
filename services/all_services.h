#ifndef ORDO_SERVICES_ALL_SERVICES_H_
#define ORDO_SERVICES_ALL_SERVICES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/files.h"
#include "grpcpp/impl/codegen/service_type.h"
#include "scheduler/scheduler.h"
#include "services/access/access_service.h"
#include "services/auth/audit_log.h"
#include "services/auth/authenticator.h"
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
  // How callers prove who they are; unset: nothing is guarded, and everybody
  // is believed (ClaimedUserAuthenticator).
  std::optional<auth::KnownAuthenticatorOptions> auth = {};
  // In the place of both, for tests. Not owned.
  const auth::Authenticator* authenticator = nullptr;
  // Where there is no TLS, workers have nothing to show.
  bool believes_workers = false;
  // Null: none. Otherwise not owned.
  auth::AuditLog* audit_log = nullptr;
  // Signs the certificates of workers that join; empty: none can.
  access::SignWorker sign_worker = {};
  limits::LimitsOptions limits = {};
};

// Every service that ordo-scheduler offers, for base::RpcServer::Start:
// JobsService, CheckpointsService, DataService, ReportsService, QueuesService,
// UsageService, WorkersService, AccessService and the internal
// SchedulerAgentService. Each call passes the guard (services/auth/guard.h).
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
