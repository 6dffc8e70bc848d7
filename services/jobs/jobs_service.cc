#include "services/jobs/jobs_service.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "services/auth/view.h"
#include "services/files/stream_reactor.h"
#include "services/jobs/filter.h"
#include "services/jobs/log_source.h"
#include "services/jobs/new_jobs.h"
#include "services/jobs/watch_reactor.h"
#include "services/request/answer.h"
#include "services/request/names.h"
#include "services/request/page.h"
#include "services/spec/data_paths.h"
#include "services/spec/expand.h"
#include "services/spec/scheduling.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::BatchCreateJobsRequest;
using ordo::jobs::v1::BatchCreateJobsResponse;
using ordo::jobs::v1::ExplainResponse;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::ListJobsRequest;
using ordo::jobs::v1::ListJobsResponse;
using ordo::jobs::v1::ReadLogsResponse;
using ordo::jobs::v1::WatchJobResponse;

absl::StatusOr<std::string> JobId(const std::string& name) {
  return request::ParseName("name", "jobs", name);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListJobsRequest& request, ListJobsResponse* response) {
  const request::ListKey key{"ListJobs", request.filter()};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(const scheduler::JobFilter filter,
                        ParseFilter(request.filter()));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListJobs(filter, page));
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_jobs()));
  return absl::OkStatus();
}

// Whether the caller does not see all there is.
bool IsBound(const grpc::CallbackServerContext& context) {
  return auth::VisitorOf(context).queues.has_value();
}

// Whether data may have to be looked up for it, on a disk. What templates say
// with all that is set in them is known once they are expanded.
bool MayNameData(const ordo::jobs::v1::JobSpec& spec) {
  return spec::HasParts(spec.kind()) || spec::NamesData(spec);
}

// They are part of the trace that the call is part of.
void SetTrace(const grpc::CallbackServerContext& context,
              std::vector<scheduler::NewJob>* jobs) {
  const std::string& trace_parent = auth::CallerOf(context).trace_parent;
  for (scheduler::NewJob& job : *jobs) job.trace_parent = trace_parent;
}

}  // namespace

JobsService::JobsService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("CreateJob", &JobsService::CreateJob);
  Serve("BatchCreateJobs", &JobsService::BatchCreateJobs);
  Serve("GetJob", &JobsService::GetJob);
  Serve("ListJobs", &JobsService::ListJobs);
  Serve("CancelJob", &JobsService::CancelJob);
  Serve("HoldJob", &JobsService::HoldJob);
  Serve("ReleaseJob", &JobsService::ReleaseJob);
  Serve("SetJobPriority", &JobsService::SetJobPriority);
  Serve("WatchJob", &JobsService::WatchJob);
  Serve("ReadLogs", &JobsService::ReadLogs);
  Serve("Explain", &JobsService::Explain);
}

void JobsService::RunWhereItMayWait(bool waits,
                                    grpc::ServerUnaryReactor* reactor,
                                    const std::function<void()>& work) {
  if (!waits) return work();
  const auto place = parts_.queue.Admit();
  if (!place.ok()) return reactor->Finish(base::ToGrpcStatus(place.status()));
  parts_.queue.Run([place = *place, work] { work(); });
}

std::shared_ptr<scheduler::Scheduler> JobsService::ViewFor(
    grpc::CallbackServerContext* context) const {
  return auth::ViewOf(*context, parts_.scheduler);
}

absl::Status JobsService::Admit(grpc::CallbackServerContext* context,
                                int64_t num_calls) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context), num_calls);
}

void JobsService::CountParts(grpc::CallbackServerContext* context,
                             size_t num_jobs, int num_asked) const {
  parts_.limits.AddCalls(auth::CallerOf(*context),
                         static_cast<int64_t>(num_jobs) - num_asked);
}

absl::StatusOr<JobsService::Change> JobsService::ParseChange(
    grpc::CallbackServerContext* context, const std::string& name,
    const std::string& verb) const {
  ORDO_RETURN_IF_ERROR(Admit(context));
  const auth::Visitor& visitor = auth::VisitorOf(*context);
  ORDO_ASSIGN_OR_RETURN(const std::string id, JobId(name));
  const auto view = ViewFor(context);
  ORDO_ASSIGN_OR_RETURN(const ordo::jobs::v1::Owner owner, view->GetOwner(id));
  ORDO_RETURN_IF_ERROR(visitor.MayChange(owner, absl::StrCat(verb, " ", name)));
  return Change{id, visitor.owner.user(), view, IsBound(*context)};
}

scheduler::Scheduler::JobCallback JobsService::Answering(
    grpc::ServerUnaryReactor* reactor, const Change& change, Job* response) {
  return [this, reactor, view = change.view, is_bound = change.is_bound,
          response](absl::StatusOr<Job> job) {
    if (job.ok()) response->Swap(&*job);
    FinishHidden(reactor, is_bound, job.status(),
                 [view, response] { view->Hide(response); });
  };
}

void JobsService::FinishHidden(grpc::ServerUnaryReactor* reactor, bool is_bound,
                               const absl::Status& status,
                               const std::function<void()>& hide) {
  if (!is_bound) return reactor->Finish(base::ToGrpcStatus(status));
  parts_.queue.Run([reactor, status, hide] {
    hide();
    reactor->Finish(base::ToGrpcStatus(status));
  });
}

grpc::ServerUnaryReactor* JobsService::CreateJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::CreateJobRequest* request, Job* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto create = [this, context, request, response, reactor] {
    const auto view = ViewFor(context);
    const ordo::jobs::v1::Owner& owner = auth::VisitorOf(*context).owner;
    auto jobs = MakeNewJob({*view, specs_, parts_.storage}, *request, owner);
    if (!jobs.ok()) return reactor->Finish(base::ToGrpcStatus(jobs.status()));
    SetTrace(*context, &*jobs);
    view->CreateJobs(*std::move(jobs),
                     [this, context, view, reactor,
                      response](absl::StatusOr<std::vector<Job>> made) {
                       if (made.ok()) {
                         CountParts(context, made->size(), 1);
                         *response = std::move(made->back());
                       }
                       FinishHidden(reactor, IsBound(*context), made.status(),
                                    [view, response] { view->Hide(response); });
                     });
  };
  RunWhereItMayWait(MayNameData(request->job().spec()), reactor, create);
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::BatchCreateJobs(
    grpc::CallbackServerContext* context, const BatchCreateJobsRequest* request,
    BatchCreateJobsResponse* response) {
  if (const absl::Status admitted = Admit(context, request->requests_size());
      !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto create = [this, context, request, response, reactor] {
    const auto view = ViewFor(context);
    const ordo::jobs::v1::Owner& owner = auth::VisitorOf(*context).owner;
    auto jobs = MakeNewJobs({*view, specs_, parts_.storage}, *request, owner);
    if (!jobs.ok()) return reactor->Finish(base::ToGrpcStatus(jobs.status()));
    SetTrace(*context, &*jobs);
    view->CreateJobs(
        *std::move(jobs), [this, context, view, request, reactor,
                           response](absl::StatusOr<std::vector<Job>> made) {
          if (made.ok()) {
            CountParts(context, made->size(), request->requests_size());
            for (Job& job : WithoutParts(*std::move(made))) {
              *response->add_jobs() = std::move(job);
            }
          }
          FinishHidden(reactor, IsBound(*context), made.status(),
                       [view, response] {
                         for (Job& job : *response->mutable_jobs()) {
                           view->Hide(&job);
                         }
                       });
        });
  };
  const bool may_name_data = std::any_of(
      request->requests().begin(), request->requests().end(),
      [](const auto& one) { return MayNameData(one.job().spec()); });
  RunWhereItMayWait(may_name_data, reactor, create);
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::GetJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::GetJobRequest* request, Job* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto id = JobId(request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  return request::Answer(context, ViewFor(context)->GetJob(*id), response);
}

grpc::ServerUnaryReactor* JobsService::ListJobs(
    grpc::CallbackServerContext* context, const ListJobsRequest* request,
    ListJobsResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*ViewFor(context), *request, response));
}

grpc::ServerUnaryReactor* JobsService::CancelJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::CancelJobRequest* request, Job* response) {
  const auto change = ParseChange(context, request->name(), "cancel");
  if (!change.ok()) return base::Finish(context, change.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  change->view->CancelJob(change->job, change->user,
                          Answering(reactor, *change, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::HoldJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::HoldJobRequest* request, Job* response) {
  const auto change = ParseChange(context, request->name(), "hold");
  if (!change.ok()) return base::Finish(context, change.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  change->view->HoldJob(change->job, change->user,
                        Answering(reactor, *change, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::ReleaseJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::ReleaseJobRequest* request, Job* response) {
  const auto change = ParseChange(context, request->name(), "release");
  if (!change.ok()) return base::Finish(context, change.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  change->view->ReleaseJob(change->job, change->user,
                           Answering(reactor, *change, response));
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::SetJobPriority(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::SetJobPriorityRequest* request, Job* response) {
  const auto change =
      ParseChange(context, request->name(), "set the priority of");
  if (!change.ok()) return base::Finish(context, change.status());
  const int32_t priority = request->priority();
  if (priority < -spec::kMaxPriority || priority > spec::kMaxPriority) {
    return base::Finish(
        context,
        base::InvalidField(
            "priority", absl::StrCat("must be -", spec::kMaxPriority, "..",
                                     spec::kMaxPriority, ", is ", priority)));
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  change->view->SetPriority(change->job, priority, change->user,
                            Answering(reactor, *change, response));
  return reactor;
}

grpc::ServerWriteReactor<WatchJobResponse>* JobsService::WatchJob(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::WatchJobRequest* request) {
  auto open = parts_.limits.Open(auth::CallerOf(*context));
  if (!open.ok()) {
    return new files::StreamReactor<WatchJobResponse>(parts_.queue,
                                                      open.status());
  }
  absl::Status error;
  if (request->from_version() < 0) {
    error = base::InvalidField(
        "from_version",
        absl::StrCat("must be >= 0, is ", request->from_version()));
  }
  const auto id = JobId(request->name());
  if (!id.ok()) error = id.status();
  if (error.ok()) {
    // Once it may be watched, it may be to its end.
    auto reactor = WatchReactor::Start(
        {ViewFor(context), parts_.queue, *std::move(open), context}, *id,
        request->from_version());
    if (reactor.ok()) return *reactor;
    error = reactor.status();
  }
  return new files::StreamReactor<WatchJobResponse>(parts_.queue, error);
}

grpc::ServerWriteReactor<ReadLogsResponse>* JobsService::ReadLogs(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::ReadLogsRequest* request) {
  const auto open = parts_.limits.Open(auth::CallerOf(*context));
  if (!open.ok()) {
    return new files::StreamReactor<ReadLogsResponse>(parts_.queue,
                                                      open.status());
  }
  auto made = LogSource::Make(ViewFor(context), parts_.storage, *request);
  if (!made.ok()) {
    return new files::StreamReactor<ReadLogsResponse>(parts_.queue,
                                                      made.status());
  }
  const std::shared_ptr<LogSource> source = *std::move(made);
  return new files::StreamReactor<ReadLogsResponse>(
      parts_.queue,
      [source](ReadLogsResponse* response) { return source->Next(response); },
      *open, context);
}

grpc::ServerUnaryReactor* JobsService::Explain(
    grpc::CallbackServerContext* context,
    const ordo::jobs::v1::ExplainRequest* request, ExplainResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto id = JobId(request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  return request::Answer(context, ViewFor(context)->Explain(*id), response);
}

}  // namespace ordo::services::jobs
