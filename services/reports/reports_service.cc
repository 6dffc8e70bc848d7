#include "services/reports/reports_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "services/auth/view.h"
#include "services/request/answer.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::reports {
namespace {

using ordo::reports::v1::ListReportsRequest;
using ordo::reports::v1::ListReportsResponse;
using ordo::reports::v1::ReadFileRequest;
using ordo::reports::v1::ReadFileResponse;
using ordo::reports::v1::Report;
using Source = files::StreamReactor<ReadFileResponse>::Source;

absl::StatusOr<Report> Find(const scheduler::Scheduler& scheduler,
                            const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const auto parsed,
                        request::ParseChildName("reports", name));
  return scheduler.GetReport(parsed.job, parsed.id);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListReportsRequest& request,
                  ListReportsResponse* response) {
  ORDO_ASSIGN_OR_RETURN(const std::string job,
                        request::ParseParent(request.parent()));
  const request::ListKey key{"ListReports", request.parent()};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  if (!job.empty()) ORDO_RETURN_IF_ERROR(scheduler.GetOwner(job));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListReports(job, page));
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_reports()));
  return absl::OkStatus();
}

absl::StatusOr<Source> OpenFile(const scheduler::Scheduler& scheduler,
                                const files::Storage& storage,
                                const ReadFileRequest& request) {
  ORDO_ASSIGN_OR_RETURN(const auto name,
                        request::ParseChildName("reports", request.name()));
  ORDO_ASSIGN_OR_RETURN(const Report report,
                        scheduler.GetReport(name.job, name.id));
  ORDO_ASSIGN_OR_RETURN(const auto info,
                        files::FindFile(report.files(), request.path()));
  ORDO_ASSIGN_OR_RETURN(
      auto reader,
      files::RegisteredFileReader::Make(
          storage, absl::StrCat("jobs/", name.job, "/", report.folder()), info,
          request.offset()));
  return files::SendFile<ReadFileResponse>(std::move(reader));
}

}  // namespace

ReportsService::ReportsService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("GetReport", &ReportsService::GetReport);
  Serve("ListReports", &ReportsService::ListReports);
  Serve("ReadFile", &ReportsService::ReadFile);
}

absl::Status ReportsService::Admit(grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context));
}

grpc::ServerUnaryReactor* ReportsService::GetReport(
    grpc::CallbackServerContext* context,
    const ordo::reports::v1::GetReportRequest* request, Report* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(
      context, Find(*auth::ViewOf(*context, parts_.scheduler), request->name()),
      response);
}

grpc::ServerUnaryReactor* ReportsService::ListReports(
    grpc::CallbackServerContext* context, const ListReportsRequest* request,
    ListReportsResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*auth::ViewOf(*context, parts_.scheduler),
                                    *request, response));
}

grpc::ServerWriteReactor<ReadFileResponse>* ReportsService::ReadFile(
    grpc::CallbackServerContext* context, const ReadFileRequest* request) {
  using Reactor = files::StreamReactor<ReadFileResponse>;
  const auto open = parts_.limits.Open(auth::CallerOf(*context));
  if (!open.ok()) return new Reactor(parts_.queue, open.status());
  auto source = OpenFile(*auth::ViewOf(*context, parts_.scheduler),
                         parts_.storage, *request);
  if (!source.ok()) return new Reactor(parts_.queue, source.status());
  return new Reactor(parts_.queue, *std::move(source), *open, context);
}

}  // namespace ordo::services::reports
