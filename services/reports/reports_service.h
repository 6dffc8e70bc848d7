#ifndef ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_
#define ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_

#include "absl/status/status.h"
#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/auth/guard.h"
#include "services/auth/guarded.h"
#include "services/files/registered_file.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"

namespace ordo::services::reports {

// The gRPC skin of reports; see the proto for what the calls do.
class ReportsService final
    : public auth::Guarded<ordo::reports::v1::ReportsService> {
 public:
  // All outlive the server.
  struct Parts {
    scheduler::Scheduler& scheduler;
    files::Storage storage;
    files::WorkQueue& queue;
    auth::Guard& guard;
    limits::Limits& limits;
  };

  explicit ReportsService(const Parts& parts);

  grpc::ServerUnaryReactor* GetReport(
      grpc::CallbackServerContext* context,
      const ordo::reports::v1::GetReportRequest* request,
      ordo::reports::v1::Report* response) override;
  grpc::ServerUnaryReactor* ListReports(
      grpc::CallbackServerContext* context,
      const ordo::reports::v1::ListReportsRequest* request,
      ordo::reports::v1::ListReportsResponse* response) override;
  grpc::ServerWriteReactor<ordo::reports::v1::ReadFileResponse>* ReadFile(
      grpc::CallbackServerContext* context,
      const ordo::reports::v1::ReadFileRequest* request) override;

 private:
  absl::Status Admit(grpc::CallbackServerContext* context) const;

  const Parts parts_;
};

}  // namespace ordo::services::reports

#endif  // ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_
