#include "services/usage/usage_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "services/auth/view.h"
#include "services/usage/usage_sum.h"

namespace ordo::services::usage {
namespace {

using ordo::usage::v1::ReportUsageRequest;
using ordo::usage::v1::ReportUsageResponse;

// Jobs that are looked at without a pause.
constexpr int kJobsAtATime = 200;

absl::StatusOr<absl::Time> SinceOf(const ReportUsageRequest& request) {
  if (!request.has_since_time()) return absl::InfinitePast();
  const auto& given = request.since_time();
  if (given.nanos() < 0 || given.nanos() >= 1'000'000'000) {
    return base::InvalidField("since_time", "must have 0..999999999 nanos");
  }
  return base::ToTime(given);
}

absl::StatusOr<UsageSum> Begin(const ReportUsageRequest& request,
                               absl::Time now) {
  auto by = request.by();
  if (by == ReportUsageRequest::BY_UNSPECIFIED) by = ReportUsageRequest::OWNER;
  if (!ReportUsageRequest::By_IsValid(by)) {
    return base::InvalidField("by", "must be OWNER, QUEUE or JOB");
  }
  ORDO_ASSIGN_OR_RETURN(const absl::Time since, SinceOf(request));
  return UsageSum(by, since, now);
}

}  // namespace

UsageService::UsageService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("ReportUsage", &UsageService::ReportUsage);
}

struct UsageService::Count {
  UsageSum sum;
  // What the caller sees.
  std::shared_ptr<scheduler::Scheduler> view;
  // Where the next jobs begin.
  std::string before = {};
  grpc::ServerUnaryReactor* reactor = nullptr;
  ReportUsageResponse* response = nullptr;
  files::WorkPlace place = nullptr;

  void Finish(const absl::Status& status) {
    reactor->Finish(base::ToGrpcStatus(status));
  }
};

grpc::ServerUnaryReactor* UsageService::ReportUsage(
    grpc::CallbackServerContext* context, const ReportUsageRequest* request,
    ReportUsageResponse* response) {
  const absl::Status allowed =
      parts_.limits.TakeCalls(auth::CallerOf(*context));
  if (!allowed.ok()) return base::Finish(context, allowed);
  const auto sum = Begin(*request, parts_.clock.Now());
  if (!sum.ok()) return base::Finish(context, sum.status());
  auto place = parts_.queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto count = std::make_shared<Count>(
      Count{*sum, auth::ViewOf(*context, parts_.scheduler), "", reactor,
            response, *std::move(place)});
  parts_.queue.Run([this, count] {
    // First: a job that is archived meanwhile is never counted twice.
    count->view->ForEachArchivedUsage(
        [&count](const ordo::usage::v1::ArchivedUsage& archived) {
          count->sum.AddArchived(archived);
        });
    Go(count);
  });
  return reactor;
}

void UsageService::Go(const std::shared_ptr<Count>& count) {
  parts_.queue.Run([this, count] {
    if (parts_.queue.streams_end()) {
      count->Finish(absl::UnavailableError("the scheduler is leaving"));
      return;
    }
    const auto jobs = count->view->ListJobs({}, {count->before, kJobsAtATime});
    if (!jobs.ok()) {
      count->Finish(jobs.status());
      return;
    }
    for (const auto& job : jobs->items) count->sum.Add(job);
    if (!jobs->next.empty()) {
      count->before = jobs->next;
      Go(count);
      return;
    }
    *count->response = count->sum.Report();
    count->Finish(absl::OkStatus());
  });
}

}  // namespace ordo::services::usage
