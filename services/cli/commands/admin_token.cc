#include "services/cli/commands/admin_token.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/secret_file.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/units/proto_time.h"
#include "services/cli/commands/listing.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using ordo::access::v1::AccessService;
using ordo::access::v1::CreateTokenRequest;
using ordo::access::v1::CreateTokenResponse;
using ordo::access::v1::ListTokensRequest;
using ordo::access::v1::ListTokensResponse;
using ordo::access::v1::RevokeTokenRequest;
using ordo::access::v1::Role;
using ordo::access::v1::Token;

// "ci" of "ci" or "tokens/ci".
std::string TokenName(const std::string& argument) {
  return absl::StrCat("tokens/", ShortName(argument));
}

// Whether it lets somebody in now.
std::string StateText(const Token& token, absl::Time now) {
  if (token.has_revoke_time()) {
    return absl::StrCat(
        token.role() == ordo::access::v1::WORKER ? "used up or " : "",
        "revoked by ", token.revoker());
  }
  return base::ToTime(token.expire_time()) <= now ? "expired" : "holds";
}

std::string QueuesText(const Token& token) {
  if (token.role() == ordo::access::v1::WORKER) return token.worker();
  if (token.queues().empty()) return "all";
  return absl::StrJoin(token.queues(), ", ",
                       [](std::string* out, const std::string& queue) {
                         absl::StrAppend(out, ShortName(queue));
                       });
}

absl::StatusOr<CreateTokenRequest> RequestOf(const Arguments& arguments,
                                             const std::string& name) {
  CreateTokenRequest request;
  request.set_token_id(ShortName(name));
  Token& token = *request.mutable_token();
  Role role = ordo::access::v1::ROLE_UNSPECIFIED;
  ordo::access::v1::Role_Parse(
      absl::AsciiStrToUpper(arguments.Get("role", "user")), &role);
  token.set_role(role);
  token.set_user(arguments.Get("user", ""));
  for (const std::string& queue : arguments.All("queue")) {
    ORDO_ASSIGN_OR_RETURN(*token.add_queues(), QueueName(queue));
  }
  if (arguments.Has("worker")) {
    ORDO_ASSIGN_OR_RETURN(const std::string worker,
                          WorkerName(arguments.Get("worker", "")));
    token.set_worker(worker);
  }
  if (arguments.Has("ttl")) {
    ORDO_ASSIGN_OR_RETURN(const absl::Duration ttl,
                          arguments.GetDuration("ttl", absl::ZeroDuration()));
    *request.mutable_ttl() = base::ToProtoDuration(ttl);
  }
  return request;
}

// The secret goes to a file that its owner alone reads, or, without one, out:
// once, and never as an argument of a program.
absl::Status Create(Context& context, const Arguments& arguments,
                    const std::string& name) {
  ORDO_ASSIGN_OR_RETURN(const CreateTokenRequest request,
                        RequestOf(arguments, name));
  ORDO_ASSIGN_OR_RETURN(
      CreateTokenResponse made,
      context.client.Call(context.client.access(),
                          &AccessService::Stub::CreateToken, request));
  const std::string file = arguments.Get("out", "");
  if (!file.empty()) {
    ORDO_RETURN_IF_ERROR(base::AddContext(
        base::WriteSecretFile(file, made.secret() + "\n"),
        absl::StrCat("write the secret of ", made.token().name(),
                     ", which is lost: revoke it, and make another")));
    made.clear_secret();
  }
  if (PrintStructured(context, made)) return absl::OkStatus();
  context.err << ShortName(made.token().name()) << " holds until "
              << FormatTime(made.token().expire_time()) << "; "
              << (file.empty() ? "its secret is shown this once:"
                               : absl::StrCat("its secret is in ", file))
              << "\n";
  if (file.empty()) context.out << made.secret() << "\n";
  return absl::OkStatus();
}

absl::Status List(Context& context) {
  ListTokensResponse all;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.access(),
                         &AccessService::Stub::ListTokens, ListTokensRequest()},
                0,
                [&](const ListTokensResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.tokens_size();
                })
          .status());
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", "ROLE", "USER", "QUEUES", "EXPIRES", "STATE", "BY"});
  for (const Token& token : all.tokens()) {
    table.AddRow({ShortName(token.name()), RoleText(token.role()), token.user(),
                  QueuesText(token), FormatTime(token.expire_time()),
                  StateText(token, context.clock.Now()), token.creator()});
  }
  context.out << table.ToString(context.terminal);
  return absl::OkStatus();
}

absl::Status Revoke(Context& context, const std::string& name) {
  RevokeTokenRequest request;
  request.set_name(TokenName(name));
  ORDO_ASSIGN_OR_RETURN(
      const Token token,
      context.client.Call(context.client.access(),
                          &AccessService::Stub::RevokeToken, request));
  if (PrintStructured(context, token)) return absl::OkStatus();
  context.out << ShortName(token.name()) << " revoked\n";
  return absl::OkStatus();
}

}  // namespace

std::string RoleText(Role role) {
  return role == ordo::access::v1::ROLE_UNSPECIFIED
             ? "nobody"
             : absl::AsciiStrToLower(ordo::access::v1::Role_Name(role));
}

absl::Status RunAdminToken(Context& context, const Arguments& arguments,
                           const std::vector<std::string>& words) {
  const std::vector<std::string> verbs = {"create", "list", "revoke"};
  const std::string verb = words.empty() ? "" : words[0];
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo admin token ", verb, "' is no command",
                     base::SuggestName(verb, verbs)));
  }
  const size_t num_names = verb == "list" ? 0 : 1;
  if (words.size() != 1 + num_names) {
    return absl::InvalidArgumentError(absl::StrCat(
        "usage: ordo admin token ", verb, num_names == 0 ? "" : " NAME"));
  }
  for (const char* option : {"role", "queue", "ttl", "out", "user", "worker"}) {
    if (verb == "create" || !arguments.Has(option)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", option, " has no meaning for 'ordo admin token ", verb, "'"));
  }
  if (verb == "create") return Create(context, arguments, words[1]);
  if (verb == "revoke") return Revoke(context, words[1]);
  return List(context);
}

std::vector<Option> AdminTokenOptions() {
  return {
      {"role",
       0,
       "ROLE",
       "viewer, user (default), admin or worker",
       false,
       {"viewer", "user", "admin", "worker"}},
      {"queue", 0, "QUEUE", "sees and submits to this alone", true},
      {"ttl", 0, "TIME", "how long it holds; default 30d, of a worker 1h"},
      {"out", 0, "FILE", "where its secret goes; default: shown"},
  };
}

}  // namespace ordo::services::cli
