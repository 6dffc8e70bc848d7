#include "services/usage/usage_service.h"

#include "absl/time/time.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "services/request/answer.h"

namespace ordo::services::usage {
namespace {

using ordo::usage::v1::ReportUsageRequest;
using ordo::usage::v1::ReportUsageResponse;

absl::StatusOr<ReportUsageResponse> Report(
    const scheduler::Scheduler& scheduler, const ReportUsageRequest& request) {
  auto by = request.by();
  if (by == ReportUsageRequest::BY_UNSPECIFIED) by = ReportUsageRequest::OWNER;
  if (!ReportUsageRequest::By_IsValid(by)) {
    return base::InvalidField("by", "must be OWNER, QUEUE or JOB");
  }
  absl::Time since = absl::InfinitePast();
  if (request.has_since_time()) {
    const auto& given = request.since_time();
    if (given.nanos() < 0 || given.nanos() >= 1'000'000'000) {
      return base::InvalidField("since_time", "must have 0..999999999 nanos");
    }
    since = absl::FromUnixSeconds(given.seconds()) +
            absl::Nanoseconds(given.nanos());
  }
  return scheduler.Usage(by, since);
}

}  // namespace

grpc::ServerUnaryReactor* UsageService::ReportUsage(
    grpc::CallbackServerContext* context, const ReportUsageRequest* request,
    ReportUsageResponse* response) {
  return request::Answer(context, Report(scheduler_, *request), response);
}

}  // namespace ordo::services::usage
