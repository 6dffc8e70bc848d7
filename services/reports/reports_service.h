#ifndef ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_
#define ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_

#include "proto/ordo/reports/v1/reports.grpc.pb.h"
#include "scheduler/scheduler.h"
#include "services/files/registered_file.h"
#include "services/files/work_queue.h"

namespace ordo::services::reports {

// The gRPC skin of reports; see the proto for what the calls do.
class ReportsService final
    : public ordo::reports::v1::ReportsService::CallbackService {
 public:
  // `scheduler` and `queue` outlive the server.
  ReportsService(scheduler::Scheduler& scheduler, const files::Storage& storage,
                 files::WorkQueue& queue)
      : scheduler_(scheduler), storage_(storage), queue_(queue) {}

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
  scheduler::Scheduler& scheduler_;
  files::Storage storage_;
  files::WorkQueue& queue_;
};

}  // namespace ordo::services::reports

#endif  // ORDO_SERVICES_REPORTS_REPORTS_SERVICE_H_
