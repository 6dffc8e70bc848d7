#include "services/checkpoints/checkpoints_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "services/checkpoints/import.h"
#include "services/checkpoints/upload_list.h"
#include "services/request/answer.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::ListCheckpointsRequest;
using ordo::checkpoints::v1::ListCheckpointsResponse;
using ordo::checkpoints::v1::ReadFileRequest;
using ordo::checkpoints::v1::ReadFileResponse;
using ordo::checkpoints::v1::Upload;
using Source = files::StreamReactor<ReadFileResponse>::Source;

absl::StatusOr<Checkpoint> Find(const scheduler::Scheduler& scheduler,
                                const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const auto parsed,
                        request::ParseChildName("checkpoints", name));
  return scheduler.GetCheckpoint(parsed.job, parsed.id);
}

absl::Status CheckAvailable(const Checkpoint& checkpoint) {
  if (checkpoint.state() != Checkpoint::DELETED) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(checkpoint.name(),
                   " was removed by retention (checkpoint.keep of its job); "
                   "`ordo list checkpoints` shows what is there"));
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListCheckpointsRequest& request,
                  ListCheckpointsResponse* response) {
  ORDO_ASSIGN_OR_RETURN(const std::string job,
                        request::ParseParent(request.parent()));
  const request::ListKey key{"ListCheckpoints", request.parent()};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  if (!job.empty()) ORDO_RETURN_IF_ERROR(scheduler.GetOwner(job));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListCheckpoints(job, page));
  response->set_next_page_token(request::FillPage(
      key, std::move(listing), response->mutable_checkpoints()));
  return absl::OkStatus();
}

absl::StatusOr<Upload> Create(Uploads& uploads, Upload upload) {
  ORDO_RETURN_IF_ERROR(CheckUploadList(upload));
  upload.clear_kind();
  return uploads.Create(std::move(upload));
}

absl::StatusOr<Source> OpenFile(const scheduler::Scheduler& scheduler,
                                const files::Storage& storage,
                                const ReadFileRequest& request) {
  ORDO_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                        Find(scheduler, request.name()));
  ORDO_RETURN_IF_ERROR(CheckAvailable(checkpoint));
  // The manifest lists the other files and so is none of them.
  auto known = checkpoint.files();
  training::v1::FileInfo* manifest = known.Add();
  manifest->set_path(kManifestFile);
  manifest->set_size_bytes(files::kUnknownSize);
  manifest->set_sha256(checkpoint.manifest_sha256());
  ORDO_ASSIGN_OR_RETURN(const auto info,
                        files::FindFile(known, request.path()));
  // The folder has the path of the resource name.
  ORDO_ASSIGN_OR_RETURN(
      auto reader, files::RegisteredFileReader::Make(storage, checkpoint.name(),
                                                     info, request.offset()));
  const Source source = files::SendFile<ReadFileResponse>(std::move(reader));
  return [&scheduler, source, name = checkpoint.name()](
             ReadFileResponse* response) -> absl::StatusOr<files::StreamStep> {
    const auto step = source(response);
    if (step.ok()) return step;
    // It may have been removed since the call came in.
    const auto now = Find(scheduler, name);
    if (now.ok()) ORDO_RETURN_IF_ERROR(CheckAvailable(*now));
    return step;
  };
}

}  // namespace

absl::Status CheckpointsService::Admit(
    grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(base::GetCaller(*context));
}

grpc::ServerUnaryReactor* CheckpointsService::GetCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::GetCheckpointRequest* request,
    Checkpoint* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(context, Find(parts_.scheduler, request->name()),
                         response);
}

grpc::ServerUnaryReactor* CheckpointsService::ListCheckpoints(
    grpc::CallbackServerContext* context, const ListCheckpointsRequest* request,
    ListCheckpointsResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(parts_.scheduler, *request, response));
}

grpc::ServerWriteReactor<ReadFileResponse>* CheckpointsService::ReadFile(
    grpc::CallbackServerContext* context, const ReadFileRequest* request) {
  using Reactor = files::StreamReactor<ReadFileResponse>;
  const auto open = parts_.limits.Open(base::GetCaller(*context));
  if (!open.ok()) return new Reactor(parts_.queue, open.status());
  auto source = OpenFile(parts_.scheduler, parts_.storage, *request);
  if (!source.ok()) return new Reactor(parts_.queue, source.status());
  return new Reactor(parts_.queue, *std::move(source), *open);
}

grpc::ServerUnaryReactor* CheckpointsService::CreateUpload(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::CreateUploadRequest* request,
    ordo::checkpoints::v1::Upload* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto place = parts_.upload_queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.upload_queue.Run([this, place = *place, reactor, request, response] {
    auto upload = Create(parts_.uploads, request->upload());
    if (upload.ok()) response->Swap(&*upload);
    reactor->Finish(base::ToGrpcStatus(upload.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* CheckpointsService::WriteUpload(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::WriteUploadRequest* request,
    ordo::checkpoints::v1::WriteUploadResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto id = request::ParseName("name", "uploads", request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  // Before it has a place: it is held in memory while it waits.
  if (const absl::Status size = CheckWriteSize(*request); !size.ok()) {
    return base::Finish(context, size);
  }
  const auto place = parts_.upload_queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.upload_queue.Run([this, place = *place, reactor, request, response] {
    const auto held = parts_.uploads.Write(*request);
    if (held.ok()) response->set_held_bytes(*held);
    reactor->Finish(base::ToGrpcStatus(held.status()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* CheckpointsService::CommitUpload(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::CommitUploadRequest* request,
    Checkpoint* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto owner = parts_.authenticator.Identify(base::GetCaller(*context));
  if (!owner.ok()) return base::Finish(context, owner.status());
  const auto order = ParseImport(*request, *owner);
  if (!order.ok()) return base::Finish(context, order.status());
  const auto place = parts_.upload_queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  Import({parts_.scheduler, parts_.uploads, parts_.upload_queue}, *order,
         [place = *place, reactor,
          response](absl::StatusOr<Checkpoint> checkpoint) {
           if (checkpoint.ok()) response->Swap(&*checkpoint);
           reactor->Finish(base::ToGrpcStatus(checkpoint.status()));
         });
  return reactor;
}

}  // namespace ordo::services::checkpoints
