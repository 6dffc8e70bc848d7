#include "services/access/access_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "services/access/token_check.h"
#include "services/request/names.h"
#include "services/request/page.h"

namespace ordo::services::access {
namespace {

using ordo::access::v1::CreateTokenRequest;
using ordo::access::v1::CreateTokenResponse;
using ordo::access::v1::JoinRequest;
using ordo::access::v1::JoinResponse;
using ordo::access::v1::ListTokensRequest;
using ordo::access::v1::ListTokensResponse;
using ordo::access::v1::RevokeTokenRequest;
using ordo::access::v1::Token;
using ordo::access::v1::WhoAmIRequest;
using ordo::access::v1::WhoAmIResponse;

constexpr size_t kMaxSigningRequestBytes = 16 << 10;

absl::Status List(const auth::Tokens& tokens, const ListTokensRequest& request,
                  ListTokensResponse* response) {
  const request::ListKey key{"ListTokens", ""};
  ORDO_ASSIGN_OR_RETURN(
      const scheduler::Page page,
      request::ParsePage(key, request.page_size(), request.page_token()));
  scheduler::Listing<Token> listing;
  for (Token& token : tokens.List()) {
    if (token.name() <= page.before) continue;
    if (listing.items.size() == static_cast<size_t>(page.size)) {
      listing.next = listing.items.back().name();
      break;
    }
    listing.items.push_back(std::move(token));
  }
  response->set_next_page_token(
      request::FillPage(key, std::move(listing), response->mutable_tokens()));
  return absl::OkStatus();
}

// NOT_FOUND names the first queue that does not exist: a token that is bound to
// none by mistake shows nothing.
absl::Status CheckQueues(const scheduler::Scheduler& scheduler,
                         const Token& token) {
  for (const std::string& name : token.queues()) {
    ORDO_RETURN_IF_ERROR(scheduler.GetQueue(name.substr(name.find('/') + 1)));
  }
  return absl::OkStatus();
}

WhoAmIResponse Described(const auth::Visitor& visitor) {
  WhoAmIResponse response;
  response.set_user(visitor.owner.user());
  response.set_role(visitor.role);
  response.set_known_by(visitor.known_by);
  if (visitor.queues.has_value()) {
    for (const std::string& queue : *visitor.queues) {
      response.add_queues(absl::StrCat("queues/", queue));
    }
  }
  if (visitor.expiry != absl::InfiniteFuture()) {
    *response.mutable_expire_time() = base::ToTimestamp(visitor.expiry);
  }
  return response;
}

}  // namespace

AccessService::AccessService(const Parts& parts)
    : Guarded(parts.guard), parts_(parts) {
  Serve("CreateToken", &AccessService::CreateToken);
  Serve("ListTokens", &AccessService::ListTokens);
  Serve("RevokeToken", &AccessService::RevokeToken);
  Serve("WhoAmI", &AccessService::WhoAmI);
  Serve("Join", &AccessService::Join);
}

absl::Status AccessService::Admit(grpc::CallbackServerContext* context) const {
  return parts_.limits.TakeCalls(auth::CallerOf(*context));
}

grpc::ServerUnaryReactor* AccessService::CreateToken(
    grpc::CallbackServerContext* context, const CreateTokenRequest* request,
    CreateTokenResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  auto token = NewTokenOf(*request, parts_.clock.Now());
  if (!token.ok()) return base::Finish(context, token.status());
  const absl::Status queues = CheckQueues(parts_.scheduler, *token);
  if (!queues.ok()) return base::Finish(context, queues);
  token->set_creator(auth::VisitorOf(*context).owner.user());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.tokens.Create(
      *token, [reactor, response](absl::StatusOr<auth::NewToken> made) {
        if (made.ok()) {
          response->mutable_token()->Swap(&made->token);
          response->set_secret(made->secret);
        }
        reactor->Finish(base::ToGrpcStatus(made.status()));
      });
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::ListTokens(
    grpc::CallbackServerContext* context, const ListTokensRequest* request,
    ListTokensResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  return base::Finish(context, List(parts_.tokens, *request, response));
}

grpc::ServerUnaryReactor* AccessService::RevokeToken(
    grpc::CallbackServerContext* context, const RevokeTokenRequest* request,
    Token* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auto id = request::ParseName("name", "tokens", request->name());
  if (!id.ok()) return base::Finish(context, id.status());
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.tokens.Revoke(*id, auth::VisitorOf(*context).owner.user(),
                       [reactor, response](absl::StatusOr<Token> token) {
                         if (token.ok()) response->Swap(&*token);
                         reactor->Finish(base::ToGrpcStatus(token.status()));
                       });
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::WhoAmI(
    grpc::CallbackServerContext* context, const WhoAmIRequest*,
    WhoAmIResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  *response = Described(auth::VisitorOf(*context));
  return base::Finish(context, absl::OkStatus());
}

absl::StatusOr<WorkerCertificateOrder> AccessService::ParseJoin(
    const auth::Visitor& visitor, const JoinRequest& request) const {
  ORDO_ASSIGN_OR_RETURN(
      const std::string worker,
      request::ParseName("worker", "workers", request.worker()));
  if (request.signing_request_pem().empty() ||
      request.signing_request_pem().size() > kMaxSigningRequestBytes) {
    return base::InvalidField(
        "signing_request_pem",
        absl::StrCat("must have 1..", kMaxSigningRequestBytes, " bytes, has ",
                     request.signing_request_pem().size()));
  }
  if (!visitor.worker.empty() && visitor.worker != worker) {
    return absl::PermissionDeniedError(
        absl::StrCat("join as ", worker, ": the ", visitor.known_by,
                     " is for the worker ", visitor.worker, " alone"));
  }
  // A new name takes nothing from anybody; a known one may be another's.
  if (visitor.worker.empty() && !visitor.is_believed &&
      parts_.scheduler.GetWorker(worker).ok()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "join as ", worker, ": there is a worker of this name, and the ",
        visitor.known_by,
        " is for new ones; an administrator makes one for it "
        "with: ordo admin token create NAME --role worker --worker ",
        worker));
  }
  return WorkerCertificateOrder{request.signing_request_pem(), worker};
}

grpc::ServerUnaryReactor* AccessService::Join(
    grpc::CallbackServerContext* context, const JoinRequest* request,
    JoinResponse* response) {
  if (const absl::Status admitted = Admit(context); !admitted.ok()) {
    return base::Finish(context, admitted);
  }
  const auth::Visitor& visitor = auth::VisitorOf(*context);
  const auto order = ParseJoin(visitor, *request);
  if (!order.ok()) return base::Finish(context, order.status());
  if (!parts_.sign_worker) {
    return base::Finish(
        context, absl::FailedPreconditionError(
                     "the scheduler was given no certificate authority; give "
                     "the worker a certificate that ordo admin certs made"));
  }
  // First: a request that cannot be signed uses nothing up.
  const auto made = parts_.sign_worker(*order);
  if (!made.ok()) return base::Finish(context, made.status());
  response->set_certificate_pem(made->certificate_pem);
  response->set_ca_pem(made->ca_pem);
  if (!visitor.HasOneTimeToken()) {
    return base::Finish(context, absl::OkStatus());
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  parts_.tokens.UseUp(visitor.token, order->worker,
                      [reactor, response](absl::StatusOr<Token> token) {
                        if (!token.ok()) response->Clear();
                        reactor->Finish(base::ToGrpcStatus(token.status()));
                      });
  return reactor;
}

}  // namespace ordo::services::access
