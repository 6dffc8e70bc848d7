#include "services/workers/workers_service.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "services/auth/view.h"
#include "services/request/answer.h"
#include "services/request/author.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::workers {
namespace {

using ordo::workers::v1::DrainWorkerRequest;
using ordo::workers::v1::ListWorkersRequest;
using ordo::workers::v1::ListWorkersResponse;
using ordo::workers::v1::Worker;

// A drain may be asked for this much before its time.
constexpr int kMaxDrainDays = 366;
// No device's name is longer.
constexpr size_t kMaxDeviceLength = 64;

absl::StatusOr<Worker> Find(const scheduler::Scheduler& scheduler,
                            const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const std::string id,
                        request::ParseName("name", "workers", name));
  return scheduler.GetWorker(id);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListWorkersRequest& request,
                  ListWorkersResponse* response) {
  const request::ListKey key{"ListWorkers", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListWorkers(page));
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_workers()));
  return absl::OkStatus();
}

// When the worker is to be empty.
absl::StatusOr<absl::Time> DrainTime(const DrainWorkerRequest& request,
                                     absl::Time now) {
  if (!request.has_drain_time()) return now;
  const auto& given = request.drain_time();
  const absl::Time at = base::ToTime(given);
  if (given.nanos() < 0 || given.nanos() >= 1'000'000'000 ||
      at > now + kMaxDrainDays * absl::Hours(24)) {
    return base::InvalidField(
        "drain_time", absl::StrCat("must be a time at most ", kMaxDrainDays,
                                   " days from now"));
  }
  return at;
}

// Ends a call with what the scheduler says.
scheduler::Scheduler::WorkerCallback Answering(
    grpc::ServerUnaryReactor* reactor, Worker* response) {
  return [reactor, response](absl::StatusOr<Worker> worker) {
    if (worker.ok()) response->Swap(&*worker);
    reactor->Finish(base::ToGrpcStatus(worker.status()));
  };
}

}  // namespace

WorkersService::WorkersService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("GetWorker", &WorkersService::GetWorker);
  Serve("ListWorkers", &WorkersService::ListWorkers);
  Serve("CordonWorker", &WorkersService::CordonWorker);
  Serve("DrainWorker", &WorkersService::DrainWorker);
  Serve("UncordonWorker", &WorkersService::UncordonWorker);
  Serve("ReleaseDevice", &WorkersService::ReleaseDevice);
}

absl::Status WorkersService::Admit(grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context));
}

absl::StatusOr<WorkersService::Change> WorkersService::ParseChange(
    grpc::CallbackServerContext* context, const std::string& name,
    const std::string& reason) const {
  ORDO_RETURN_IF_ERROR(Admit(context));
  Change change;
  ORDO_ASSIGN_OR_RETURN(change.author,
                        request::AuthorOf(auth::VisitorOf(*context), reason));
  ORDO_ASSIGN_OR_RETURN(change.worker,
                        request::ParseName("name", "workers", name));
  return change;
}

grpc::ServerUnaryReactor* WorkersService::GetWorker(
    grpc::CallbackServerContext* context,
    const ordo::workers::v1::GetWorkerRequest* request, Worker* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(
      context, Find(*auth::ViewOf(*context, parts_.scheduler), request->name()),
      response);
}

grpc::ServerUnaryReactor* WorkersService::ListWorkers(
    grpc::CallbackServerContext* context, const ListWorkersRequest* request,
    ListWorkersResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*auth::ViewOf(*context, parts_.scheduler),
                                    *request, response));
}

grpc::ServerUnaryReactor* WorkersService::CordonWorker(
    grpc::CallbackServerContext* context,
    const ordo::workers::v1::CordonWorkerRequest* request, Worker* response) {
  const auto change = ParseChange(context, request->name(), request->reason());
  if (!change.ok()) return base::Finish(context, change.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.CordonWorker(change->worker, change->author,
                                Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* WorkersService::DrainWorker(
    grpc::CallbackServerContext* context, const DrainWorkerRequest* request,
    Worker* response) {
  const auto change = ParseChange(context, request->name(), request->reason());
  if (!change.ok()) return base::Finish(context, change.status());
  const auto at = DrainTime(*request, parts_.clock.Now());
  if (!at.ok()) return base::Finish(context, at.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.DrainWorker(change->worker, *at, change->author,
                               Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* WorkersService::UncordonWorker(
    grpc::CallbackServerContext* context,
    const ordo::workers::v1::UncordonWorkerRequest* request, Worker* response) {
  const auto change = ParseChange(context, request->name(), request->reason());
  if (!change.ok()) return base::Finish(context, change.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.UncordonWorker(change->worker, change->author,
                                  Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* WorkersService::ReleaseDevice(
    grpc::CallbackServerContext* context,
    const ordo::workers::v1::ReleaseDeviceRequest* request, Worker* response) {
  const auto change = ParseChange(context, request->name(), request->reason());
  if (!change.ok()) return base::Finish(context, change.status());
  if (request->device().empty() ||
      request->device().size() > kMaxDeviceLength) {
    return base::Finish(
        context, base::InvalidField("device",
                                    "must be a device of the worker, such as "
                                    "cuda:0; see: ordo show workers/WORKER"));
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.ReleaseDevice(change->worker, request->device(),
                                 change->author, Answering(reactor, response));
  return reactor;
}

}  // namespace ordo::services::workers
