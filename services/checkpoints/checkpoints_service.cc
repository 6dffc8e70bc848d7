#include "services/checkpoints/checkpoints_service.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/auth/view.h"
#include "services/checkpoints/import.h"
#include "services/checkpoints/upload_list.h"
#include "services/jobs/best_checkpoint.h"
#include "services/request/answer.h"
#include "services/request/author.h"
#include "services/request/names.h"
#include "services/request/page.h"
#include "services/spec/references.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Alias;
using ordo::checkpoints::v1::Checkpoint;
using ordo::checkpoints::v1::ListAliasesRequest;
using ordo::checkpoints::v1::ListAliasesResponse;
using ordo::checkpoints::v1::ListCheckpointsRequest;
using ordo::checkpoints::v1::ListCheckpointsResponse;
using ordo::checkpoints::v1::ReadFileRequest;
using ordo::checkpoints::v1::ReadFileResponse;
using ordo::checkpoints::v1::SetAliasRequest;
using ordo::checkpoints::v1::Upload;
using scheduler::CheckpointVerb;
using Source = files::StreamReactor<ReadFileResponse>::Source;

constexpr char kBest[] = "best";
constexpr char kLatest[] = "latest";

// The scheduler has one word for the newest.
absl::StatusOr<request::ChildName> ParseCheckpoint(const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(auto parsed,
                        request::ParseChildName("checkpoints", name));
  if (parsed.id == "last") parsed.id = kLatest;
  return parsed;
}

absl::StatusOr<Checkpoint> Find(const scheduler::Scheduler& scheduler,
                                const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(auto parsed, ParseCheckpoint(name));
  if (parsed.id == kBest) {
    ORDO_ASSIGN_OR_RETURN(const std::string best,
                          jobs::BestCheckpoint(scheduler, parsed.job));
    ORDO_ASSIGN_OR_RETURN(parsed, ParseCheckpoint(best));
  }
  return scheduler.GetCheckpoint(parsed.job, parsed.id);
}

absl::Status CheckAvailable(const Checkpoint& checkpoint) {
  if (checkpoint.state() != Checkpoint::DELETED) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(checkpoint.name(),
                   " was removed, by retention (checkpoint.keep of its job) "
                   "or a person; `ordo list checkpoints` shows what is "
                   "there"));
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

absl::StatusOr<std::string> AliasId(const std::string& name) {
  return request::ParseName("name", "aliases", name);
}

absl::StatusOr<Alias> FindAlias(const scheduler::Scheduler& scheduler,
                                const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const std::string id, AliasId(name));
  return scheduler.GetAlias(id);
}

absl::Status List(const scheduler::Scheduler& scheduler,
                  const ListAliasesRequest& request,
                  ListAliasesResponse* response) {
  const request::ListKey key{"ListAliases", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  ORDO_ASSIGN_OR_RETURN(auto listing, scheduler.ListAliases(page));
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_aliases()));
  return absl::OkStatus();
}

bool IsDigest(const std::string& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<scheduler::AliasSetting> SettingOf(
    const SetAliasRequest& request) {
  scheduler::AliasSetting setting;
  ORDO_ASSIGN_OR_RETURN(setting.alias, AliasId(request.name()));
  std::vector<base::FieldViolation> violations;
  if (!model::catalog::IsId(setting.alias)) {
    violations.push_back(
        {"name", absl::StrCat("the id must be ", model::catalog::IdRule())});
  }
  setting.checkpoint = request.checkpoint();
  spec::ResolveReference("checkpoint", &setting.checkpoint, &violations);
  setting.if_digest = request.if_digest();
  if (!setting.if_digest.empty() && setting.if_digest != scheduler::kNoDigest &&
      !IsDigest(setting.if_digest)) {
    violations.push_back(
        {"if_digest",
         absl::StrCat("must be the SHA-256 of the MANIFEST.json of what the "
                      "alias names (ordo alias get), or `",
                      scheduler::kNoDigest,
                      "` for an alias that is not there yet")});
  }
  setting.etag = request.etag();
  if (!violations.empty()) return base::InvalidFields(violations);
  return setting;
}

// Whether the visitor may undo what `user` did, which begins `attempted`.
absl::Status MayUndo(const auth::Visitor& visitor, const std::string& user,
                     const std::string& attempted) {
  ordo::jobs::v1::Owner owner;
  owner.set_user(user);
  return visitor.MayChange(owner, attempted);
}

// Whether the visitor may move the alias that `setting` names, or delete it, as
// `verb` says: it is whose who set it last. The setting is then of the alias as
// it is now, or of none.
absl::Status CheckMayMove(const auth::Visitor& visitor,
                          const scheduler::Scheduler& view,
                          const std::string& verb,
                          scheduler::AliasSetting* setting) {
  if (visitor.MayChangeAll()) return absl::OkStatus();
  const absl::StatusOr<Alias> alias = view.GetAlias(setting->alias);
  if (absl::IsNotFound(alias.status())) {
    if (setting->if_digest.empty()) setting->if_digest = scheduler::kNoDigest;
    return absl::OkStatus();
  }
  ORDO_RETURN_IF_ERROR(alias.status());
  if (!alias->changes().empty()) {
    ORDO_RETURN_IF_ERROR(MayUndo(visitor, alias->changes().rbegin()->user(),
                                 absl::StrCat(verb, " ", alias->name())));
  }
  if (setting->etag.empty()) setting->etag = alias->etag();
  return absl::OkStatus();
}

// Ends a call with what the scheduler says.
template <typename Resource>
std::function<void(absl::StatusOr<Resource>)> Answering(
    grpc::ServerUnaryReactor* reactor, Resource* response) {
  return [reactor, response](absl::StatusOr<Resource> resource) {
    if (resource.ok()) response->Swap(&*resource);
    reactor->Finish(base::ToGrpcStatus(resource.status()));
  };
}

// The checkpoint that a request for a change names; `latest` and `last` may
// stand for the newest and `best` for the best, but not for what is to be
// deleted: it would be another at the second try.
absl::StatusOr<request::ChildName> ToChange(const std::string& name,
                                            CheckpointVerb verb) {
  ORDO_ASSIGN_OR_RETURN(auto parsed, ParseCheckpoint(name));
  if (verb == CheckpointVerb::kDelete &&
      (parsed.id == kLatest || parsed.id == kBest)) {
    return base::InvalidField(
        "name", absl::StrCat("must name one checkpoint, {step}-{attempt}: the ",
                             parsed.id == kBest ? "best" : "newest",
                             " is another once it is deleted; see: ordo list "
                             "checkpoints"));
  }
  return parsed;
}

absl::StatusOr<Source> OpenFile(
    const std::shared_ptr<const scheduler::Scheduler>& scheduler,
    const files::Storage& storage, const ReadFileRequest& request) {
  ORDO_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                        Find(*scheduler, request.name()));
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
  return [scheduler, source, name = checkpoint.name()](
             ReadFileResponse* response) -> absl::StatusOr<files::StreamStep> {
    const auto step = source(response);
    if (step.ok()) return step;
    // It may have been removed since the call came in.
    const auto now = Find(*scheduler, name);
    if (now.ok()) ORDO_RETURN_IF_ERROR(CheckAvailable(*now));
    return step;
  };
}

}  // namespace

CheckpointsService::CheckpointsService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("GetCheckpoint", &CheckpointsService::GetCheckpoint);
  Serve("ListCheckpoints", &CheckpointsService::ListCheckpoints);
  Serve("ReadFile", &CheckpointsService::ReadFile);
  Serve("CreateUpload", &CheckpointsService::CreateUpload);
  Serve("WriteUpload", &CheckpointsService::WriteUpload);
  Serve("CommitUpload", &CheckpointsService::CommitUpload);
  Serve("PinCheckpoint", &CheckpointsService::PinCheckpoint);
  Serve("UnpinCheckpoint", &CheckpointsService::UnpinCheckpoint);
  Serve("ThinCheckpoint", &CheckpointsService::ThinCheckpoint);
  Serve("DeleteCheckpoint", &CheckpointsService::DeleteCheckpoint);
  Serve("GetAlias", &CheckpointsService::GetAlias);
  Serve("ListAliases", &CheckpointsService::ListAliases);
  Serve("SetAlias", &CheckpointsService::SetAlias);
  Serve("DeleteAlias", &CheckpointsService::DeleteAlias);
}

std::shared_ptr<scheduler::Scheduler> CheckpointsService::ViewFor(
    grpc::CallbackServerContext* context) const {
  return auth::ViewOf(*context, parts_.scheduler);
}

absl::Status CheckpointsService::Admit(
    grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context));
}

grpc::ServerUnaryReactor* CheckpointsService::GetCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::GetCheckpointRequest* request,
    Checkpoint* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(context, Find(*ViewFor(context), request->name()),
                         response);
}

grpc::ServerUnaryReactor* CheckpointsService::ListCheckpoints(
    grpc::CallbackServerContext* context, const ListCheckpointsRequest* request,
    ListCheckpointsResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*ViewFor(context), *request, response));
}

grpc::ServerWriteReactor<ReadFileResponse>* CheckpointsService::ReadFile(
    grpc::CallbackServerContext* context, const ReadFileRequest* request) {
  using Reactor = files::StreamReactor<ReadFileResponse>;
  const auto open = parts_.limits.Open(auth::CallerOf(*context));
  if (!open.ok()) return new Reactor(parts_.queue, open.status());
  auto source = OpenFile(ViewFor(context), parts_.storage, *request);
  if (!source.ok()) return new Reactor(parts_.queue, source.status());
  return new Reactor(parts_.queue, *std::move(source), *open, context);
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
  const auth::Visitor& visitor = auth::VisitorOf(*context);
  auto order = ParseImport(*request, visitor.owner);
  if (!order.ok()) return base::Finish(context, order.status());
  // Who does not see the default queue gets it where they see it.
  if (!visitor.MaySee(order->queue) && !visitor.queues->empty()) {
    order->queue = *visitor.queues->begin();
  }
  const auto place = parts_.upload_queue.Admit();
  if (!place.ok()) return base::Finish(context, place.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto view = ViewFor(context);
  Import({*view, parts_.scheduler, parts_.uploads, parts_.upload_queue}, *order,
         [view, place = *place, reactor,
          response](absl::StatusOr<Checkpoint> checkpoint) {
           if (checkpoint.ok()) response->Swap(&*checkpoint);
           reactor->Finish(base::ToGrpcStatus(checkpoint.status()));
         });
  return reactor;
}

absl::StatusOr<scheduler::Author> CheckpointsService::AuthorOf(
    grpc::CallbackServerContext* context, const std::string& reason) const {
  ORDO_RETURN_IF_ERROR(Admit(context));
  return request::AuthorOf(auth::VisitorOf(*context), reason);
}

template <typename Request>
grpc::ServerUnaryReactor* CheckpointsService::Change(
    grpc::CallbackServerContext* context, CheckpointVerb verb,
    const Request& request, Checkpoint* response) {
  const auto author = AuthorOf(context, request.reason());
  if (!author.ok()) return base::Finish(context, author.status());
  const auto named = ToChange(request.name(), verb);
  if (!named.ok()) return base::Finish(context, named.status());
  if (verb == CheckpointVerb::kThin || verb == CheckpointVerb::kDelete) {
    const auto owner = ViewFor(context)->GetOwner(named->job);
    if (!owner.ok()) return base::Finish(context, owner.status());
    const absl::Status may = auth::VisitorOf(*context).MayChange(
        *owner,
        absl::StrCat(verb == CheckpointVerb::kThin ? "thin " : "delete ",
                     request.name()));
    if (!may.ok()) return base::Finish(context, may);
  }
  if (verb == CheckpointVerb::kUnpin) {
    const auto pinned = ViewFor(context)->GetCheckpoint(named->job, named->id);
    if (!pinned.ok()) return base::Finish(context, pinned.status());
    const absl::Status may =
        pinned->has_pin()
            ? MayUndo(auth::VisitorOf(*context), pinned->pin().user(),
                      absl::StrCat("unpin ", request.name()))
            : absl::OkStatus();
    if (!may.ok()) return base::Finish(context, may);
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  ViewFor(context)->ChangeCheckpoint(
      verb, absl::StrCat("jobs/", named->job, "/checkpoints/", named->id),
      *author, Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* CheckpointsService::PinCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::PinCheckpointRequest* request,
    Checkpoint* response) {
  return Change(context, CheckpointVerb::kPin, *request, response);
}

grpc::ServerUnaryReactor* CheckpointsService::UnpinCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::UnpinCheckpointRequest* request,
    Checkpoint* response) {
  return Change(context, CheckpointVerb::kUnpin, *request, response);
}

grpc::ServerUnaryReactor* CheckpointsService::ThinCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::ThinCheckpointRequest* request,
    Checkpoint* response) {
  return Change(context, CheckpointVerb::kThin, *request, response);
}

grpc::ServerUnaryReactor* CheckpointsService::DeleteCheckpoint(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::DeleteCheckpointRequest* request,
    Checkpoint* response) {
  return Change(context, CheckpointVerb::kDelete, *request, response);
}

grpc::ServerUnaryReactor* CheckpointsService::GetAlias(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::GetAliasRequest* request, Alias* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return request::Answer(context, FindAlias(*ViewFor(context), request->name()),
                         response);
}

grpc::ServerUnaryReactor* CheckpointsService::ListAliases(
    grpc::CallbackServerContext* context, const ListAliasesRequest* request,
    ListAliasesResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(*ViewFor(context), *request, response));
}

grpc::ServerUnaryReactor* CheckpointsService::SetAlias(
    grpc::CallbackServerContext* context, const SetAliasRequest* request,
    Alias* response) {
  const auto author = AuthorOf(context, request->reason());
  if (!author.ok()) return base::Finish(context, author.status());
  auto setting = SettingOf(*request);
  if (!setting.ok()) return base::Finish(context, setting.status());
  const auto view = ViewFor(context);
  const absl::Status may =
      CheckMayMove(auth::VisitorOf(*context), *view, "set", &*setting);
  if (!may.ok()) return base::Finish(context, may);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  view->SetAlias(*setting, *author, Answering(reactor, response));
  return reactor;
}

grpc::ServerUnaryReactor* CheckpointsService::DeleteAlias(
    grpc::CallbackServerContext* context,
    const ordo::checkpoints::v1::DeleteAliasRequest* request, Alias* response) {
  const auto author = AuthorOf(context, request->reason());
  if (!author.ok()) return base::Finish(context, author.status());
  const auto id = AliasId(request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  scheduler::AliasSetting deleted;
  deleted.alias = *id;
  deleted.etag = request->etag();
  const auto view = ViewFor(context);
  const absl::Status may =
      CheckMayMove(auth::VisitorOf(*context), *view, "delete", &deleted);
  if (!may.ok()) return base::Finish(context, may);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  view->DeleteAlias(deleted.alias, deleted.etag, *author,
                    Answering(reactor, response));
  return reactor;
}

}  // namespace ordo::services::checkpoints
