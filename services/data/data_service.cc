#include "services/data/data_service.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "services/auth/view.h"
#include "services/data/data_check.h"
#include "services/data/spec_data.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::data {
namespace {

using ordo::checkpoints::v1::Upload;
using ordo::data::v1::CommitUploadRequest;
using ordo::data::v1::CreateUploadRequest;
using ordo::data::v1::Data;
using ordo::data::v1::DeleteDataRequest;
using ordo::data::v1::DeleteDataResponse;
using ordo::data::v1::ListDataRequest;
using ordo::data::v1::ListDataResponse;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::Owner;

constexpr int kJobsAtATime = 1000;

// Runs `work` on the queue, in a place of it, and ends the call with what it
// gives.
grpc::ServerUnaryReactor* AnswerOn(files::WorkQueue& queue,
                                   grpc::CallbackServerContext* context,
                                   const std::function<absl::Status()>& work) {
  const auto place = queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  queue.Run([place = *place, reactor, work] {
    reactor->Finish(base::ToGrpcStatus(work()));
  });
  return reactor;
}

absl::StatusOr<Upload> Create(checkpoints::Uploads& uploads, Upload upload) {
  ORDO_RETURN_IF_ERROR(CheckDataList(upload));
  upload.set_kind(Upload::DATA);
  return uploads.Create(std::move(upload));
}

absl::StatusOr<DataSets::Order> ParseOrder(const CommitUploadRequest& request,
                                           const Owner& owner) {
  DataSets::Order order;
  ORDO_ASSIGN_OR_RETURN(order.upload,
                        request::ParseName("name", "uploads", request.name()));
  if (!model::catalog::IsId(request.data_id())) {
    return base::InvalidField(
        "data_id",
        absl::StrCat(request.data_id().empty() ? "required; " : "must be ",
                     model::catalog::IdRule()));
  }
  order.id = request.data_id();
  order.user = owner.user();
  return order;
}

absl::Status List(const DataSets& data, const ListDataRequest& request,
                  ListDataResponse* response) {
  const request::ListKey key{"ListData", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(std::vector<Data> all, data.List());
  scheduler::Listing<Data> listing;
  for (Data& one : all) {
    if (one.name() <= page.before) continue;
    if (listing.items.size() == static_cast<size_t>(page.size)) {
      listing.next = listing.items.back().name();
      break;
    }
    listing.items.push_back(std::move(one));
  }
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_data()));
  return absl::OkStatus();
}

// FAILED_PRECONDITION: a job that has not ended names one of them; its name is
// said to those who see it in `view`.
absl::Status CheckUnused(const scheduler::Scheduler& scheduler,
                         const scheduler::Scheduler& view,
                         const std::vector<Data>& data) {
  for (const Job::State state :
       {Job::QUEUED, Job::STARTING, Job::RUNNING, Job::CANCELLING}) {
    scheduler::JobFilter filter;
    filter.state = state;
    scheduler::Page page;
    page.size = kJobsAtATime;
    do {
      ORDO_ASSIGN_OR_RETURN(const auto jobs, scheduler.ListJobs(filter, page));
      for (const Job& job : jobs.items) {
        for (const Data& one : data) {
          if (!NamesVersion(job.spec(), base::NameOf(one.name()),
                            one.current())) {
            continue;
          }
          return absl::FailedPreconditionError(
              absl::StrCat(view.GetOwner(base::NameOf(job.name())).ok()
                               ? job.name()
                               : "a job of another queue",
                           " has not ended, and names ", one.name(),
                           "; wait for it, or cancel it"));
        }
      }
      page.before = jobs.next;
    } while (!page.before.empty());
  }
  return absl::OkStatus();
}

// A deletion: of what, by whom, who sees so much of the scheduler.
struct Deletion {
  DataName name;
  auth::VisitorPtr visitor;
  std::shared_ptr<scheduler::Scheduler> view;
};

absl::Status Delete(const DataService::Parts& parts, const Deletion& deletion,
                    DeleteDataResponse* response) {
  const DataName& name = deletion.name;
  ORDO_ASSIGN_OR_RETURN(const std::vector<Data> found, parts.data.Find(name));
  for (const Data& one : found) {
    Owner owner;
    owner.set_user(one.pushed_by());
    ORDO_RETURN_IF_ERROR(deletion.visitor->MayChange(
        owner, absl::StrCat("delete ", one.name())));
  }
  ORDO_RETURN_IF_ERROR(CheckUnused(parts.scheduler, *deletion.view, found));
  ORDO_ASSIGN_OR_RETURN(std::vector<Data> removed, parts.data.Remove(name));
  for (Data& one : removed) *response->add_data() = std::move(one);
  return absl::OkStatus();
}

}  // namespace

DataService::DataService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("CreateUpload", &DataService::CreateUpload);
  Serve("CommitUpload", &DataService::CommitUpload);
  Serve("ListData", &DataService::ListData);
  Serve("DeleteData", &DataService::DeleteData);
}

grpc::ServerUnaryReactor* DataService::CreateUpload(
    grpc::CallbackServerContext* context, const CreateUploadRequest* request,
    Upload* response) {
  const absl::Status admitted =
      parts_.limits.TakeCalls(auth::CallerOf(*context));
  if (!admitted.ok()) return base::Finish(context, admitted);
  return AnswerOn(parts_.upload_queue, context, [this, request, response] {
    auto upload = Create(parts_.uploads, request->upload());
    if (upload.ok()) response->Swap(&*upload);
    return upload.status();
  });
}

grpc::ServerUnaryReactor* DataService::CommitUpload(
    grpc::CallbackServerContext* context, const CommitUploadRequest* request,
    Data* response) {
  const absl::Status admitted =
      parts_.limits.TakeCalls(auth::CallerOf(*context));
  if (!admitted.ok()) return base::Finish(context, admitted);
  const auto order = ParseOrder(*request, auth::VisitorOf(*context).owner);
  if (!order.ok()) return base::Finish(context, order.status());
  return AnswerOn(parts_.upload_queue, context,
                  [this, order = *order, response] {
                    auto data = parts_.data.Commit(order);
                    if (data.ok()) response->Swap(&*data);
                    return data.status();
                  });
}

grpc::ServerUnaryReactor* DataService::ListData(
    grpc::CallbackServerContext* context, const ListDataRequest* request,
    ListDataResponse* response) {
  const absl::Status admitted =
      parts_.limits.TakeCalls(auth::CallerOf(*context));
  if (!admitted.ok()) return base::Finish(context, admitted);
  return AnswerOn(parts_.queue, context, [this, request, response] {
    return List(parts_.data, *request, response);
  });
}

grpc::ServerUnaryReactor* DataService::DeleteData(
    grpc::CallbackServerContext* context, const DeleteDataRequest* request,
    DeleteDataResponse* response) {
  const absl::Status admitted =
      parts_.limits.TakeCalls(auth::CallerOf(*context));
  if (!admitted.ok()) return base::Finish(context, admitted);
  const auto name = ParseDataName(request->name());
  if (!name.ok()) return base::Finish(context, name.status());
  const Deletion deletion{*name, auth::VisitorPtrOf(*context),
                          auth::ViewOf(*context, parts_.scheduler)};
  return AnswerOn(parts_.queue, context, [this, deletion, response] {
    return Delete(parts_, deletion, response);
  });
}

}  // namespace ordo::services::data
