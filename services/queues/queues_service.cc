#include "services/queues/queues_service.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "services/auth/view.h"
#include "services/queues/queue_check.h"
#include "services/request/answer.h"
#include "services/request/author.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::queues {
namespace {

using ordo::queues::v1::CreateQueueRequest;
using ordo::queues::v1::ListQueuesRequest;
using ordo::queues::v1::ListQueuesResponse;
using ordo::queues::v1::Queue;
using ordo::queues::v1::UpdateQueueRequest;

absl::StatusOr<std::string> QueueId(const std::string& field,
                                    const std::string& name) {
  return request::ParseName(field, "queues", name);
}

absl::StatusOr<Queue> Find(const scheduler::Scheduler& scheduler,
                           const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const std::string id, QueueId("name", name));
  return scheduler.GetQueue(id);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListQueuesRequest& request,
                  ListQueuesResponse* response) {
  const request::ListKey key{"ListQueues", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListQueues(page));
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_queues()));
  return absl::OkStatus();
}

// The queue to create.
absl::StatusOr<Queue> NewQueue(const CreateQueueRequest& request) {
  ORDO_RETURN_IF_ERROR(CheckQueueId(request.queue_id()));
  ORDO_ASSIGN_OR_RETURN(Queue queue, ResolveQueue(request.queue()));
  queue.set_name(absl::StrCat("queues/", request.queue_id()));
  return queue;
}

// The queue as the update would have it, with the etag of the state that the
// change was made for.
absl::StatusOr<Queue> UpdatedQueue(const scheduler::Scheduler& scheduler,
                                   const UpdateQueueRequest& request) {
  ORDO_ASSIGN_OR_RETURN(const std::string id,
                        QueueId("queue.name", request.queue().name()));
  ORDO_ASSIGN_OR_RETURN(const Queue current, scheduler.GetQueue(id));
  ORDO_ASSIGN_OR_RETURN(const Queue merged, MergeQueue(current, request.queue(),
                                                       request.update_mask()));
  ORDO_ASSIGN_OR_RETURN(Queue queue, ResolveQueue(merged));
  queue.set_name(current.name());
  queue.set_etag(request.queue().etag().empty() ? current.etag()
                                                : request.queue().etag());
  return queue;
}

// Ends a call with what the scheduler says.
scheduler::Scheduler::QueueCallback Answering(grpc::ServerUnaryReactor* reactor,
                                              Queue* response) {
  return [reactor, response](absl::StatusOr<Queue> queue) {
    if (queue.ok()) response->Swap(&*queue);
    reactor->Finish(base::ToGrpcStatus(queue.status()));
  };
}

}  // namespace

QueuesService::QueuesService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("CreateQueue", &QueuesService::CreateQueue);
  Serve("GetQueue", &QueuesService::GetQueue);
  Serve("ListQueues", &QueuesService::ListQueues);
  Serve("UpdateQueue", &QueuesService::UpdateQueue);
  Serve("DeleteQueue", &QueuesService::DeleteQueue);
}

absl::Status QueuesService::Admit(grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context));
}

absl::StatusOr<scheduler::Author> QueuesService::AuthorOf(
    grpc::CallbackServerContext* context, const std::string& reason) const {
  ORDO_RETURN_IF_ERROR(Admit(context));
  return request::AuthorOf(auth::VisitorOf(*context), reason);
}

grpc::ServerUnaryReactor* QueuesService::CreateQueue(
    grpc::CallbackServerContext* context, const CreateQueueRequest* request,
    Queue* response) {
  const auto author = AuthorOf(context, request->reason());
  if (!author.ok()) return base::Finish(context, author.status());
  const auto queue = NewQueue(*request);
  if (!queue.ok()) return base::Finish(context, queue.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.CreateQueue(*queue, *author, Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* QueuesService::GetQueue(
    grpc::CallbackServerContext* context,
    const ordo::queues::v1::GetQueueRequest* request, Queue* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(
      context, Find(*auth::ViewOf(*context, parts_.scheduler), request->name()),
      response);
}

grpc::ServerUnaryReactor* QueuesService::ListQueues(
    grpc::CallbackServerContext* context, const ListQueuesRequest* request,
    ListQueuesResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*auth::ViewOf(*context, parts_.scheduler),
                                    *request, response));
}

grpc::ServerUnaryReactor* QueuesService::UpdateQueue(
    grpc::CallbackServerContext* context, const UpdateQueueRequest* request,
    Queue* response) {
  const auto author = AuthorOf(context, request->reason());
  if (!author.ok()) return base::Finish(context, author.status());
  const auto queue = UpdatedQueue(parts_.scheduler, *request);
  if (!queue.ok()) return base::Finish(context, queue.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.UpdateQueue(*queue, *author, Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* QueuesService::DeleteQueue(
    grpc::CallbackServerContext* context,
    const ordo::queues::v1::DeleteQueueRequest* request, Queue* response) {
  const auto author = AuthorOf(context, request->reason());
  if (!author.ok()) return base::Finish(context, author.status());
  const auto id = QueueId("name", request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.scheduler.DeleteQueue(*id, request->etag(), *author,
                               Answering(reactor, response));
  return reactor;
}

}  // namespace ordo::services::queues
