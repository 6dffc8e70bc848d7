#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "services/cli/commands/caller.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/each.h"
#include "services/cli/commands/listing.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::Alias;
using checkpoints::v1::CheckpointsService;
using checkpoints::v1::ListAliasesRequest;
using checkpoints::v1::ListAliasesResponse;

// Of a digest, in a table.
constexpr size_t kShownDigest = 12;

absl::Status List(Context& context) {
  ListAliasesResponse all;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.checkpoints(),
                         &CheckpointsService::Stub::ListAliases,
                         ListAliasesRequest()},
                0,
                [&](const ListAliasesResponse& page) {
                  all.MergeFrom(page);
                  all.set_next_page_token(page.next_page_token());
                  return all.aliases_size();
                })
          .status());
  if (PrintStructured(context, all)) return absl::OkStatus();
  Table table({"NAME", "CHECKPOINT", "DIGEST", ">AGE", "BY"});
  for (const Alias& alias : all.aliases()) {
    table.AddRow(
        {ShortName(alias.name()), alias.checkpoint(),
         alias.manifest_sha256().substr(0, kShownDigest),
         FormatAge(alias.update_time(), context.clock),
         alias.changes().empty() ? "" : alias.changes().rbegin()->user()});
  }
  context.out << table.ToString(context.terminal);
  return absl::OkStatus();
}

// One that is no longer as it was to be, when the answer to the first try was
// lost, is done if it names what was asked for, and we were the last to set it.
absl::Status Set(Context& context, const Arguments& arguments) {
  checkpoints::v1::SetAliasRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(),
                        AliasName(arguments.positional()[1]));
  ORDO_ASSIGN_OR_RETURN(*request.mutable_checkpoint(),
                        CheckpointNamed(context, arguments.positional()[2]));
  request.set_if_digest(arguments.Get("if-digest", ""));
  request.set_etag(arguments.Get("etag", ""));
  request.set_reason(arguments.Get("reason", ""));
  bool maybe_done = false;
  absl::StatusOr<Alias> alias = context.client.Call(
      context.client.checkpoints(), &CheckpointsService::Stub::SetAlias,
      request, &maybe_done);
  if (maybe_done && absl::IsAborted(alias.status())) {
    const absl::StatusOr<Alias> there = GetAlias(context, request.name());
    const absl::StatusOr<std::string> user = CallerName(context);
    if (there.ok() && there->checkpoint() == request.checkpoint() &&
        !there->changes().empty() && user.ok() &&
        there->changes().rbegin()->user() == *user) {
      alias = there;
    }
  }
  ORDO_RETURN_IF_ERROR(alias.status());
  if (PrintStructured(context, *alias)) return absl::OkStatus();
  context.out << ShortName(alias->name()) << " is " << alias->checkpoint()
              << "\n";
  return absl::OkStatus();
}

// Gone at the second try, when the answer to the first was lost, is done.
absl::Status Delete(Context& context, const std::string& argument,
                    const Arguments& arguments) {
  checkpoints::v1::DeleteAliasRequest request;
  ORDO_ASSIGN_OR_RETURN(*request.mutable_name(), AliasName(argument));
  request.set_etag(arguments.Get("etag", ""));
  request.set_reason(arguments.Get("reason", ""));
  bool maybe_done = false;
  absl::StatusOr<Alias> alias = context.client.Call(
      context.client.checkpoints(), &CheckpointsService::Stub::DeleteAlias,
      request, &maybe_done);
  if (maybe_done && absl::IsNotFound(alias.status())) {
    alias.emplace();
    alias->set_name(request.name());
  }
  ORDO_RETURN_IF_ERROR(alias.status());
  if (PrintStructured(context, *alias)) return absl::OkStatus();
  context.out << ShortName(alias->name()) << " deleted\n";
  return absl::OkStatus();
}

// Options that the verb makes nothing of are mistakes.
absl::Status CheckOptions(const std::string& verb, const Arguments& arguments) {
  const bool changes = verb == "set" || verb == "delete";
  std::string wrong;
  if (arguments.Has("reason") && !changes) wrong = "reason";
  if (arguments.Has("etag") && !changes) wrong = "etag";
  if (arguments.Has("if-digest") && verb != "set") wrong = "if-digest";
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", wrong, " has no meaning for 'ordo alias ", verb, "'"));
}

absl::Status CheckNumber(const std::string& verb, size_t num_names) {
  const bool fits = verb == "list"  ? num_names == 0
                    : verb == "set" ? num_names == 2
                                    : num_names > 0;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("usage: ordo alias ", verb,
                                                 verb == "list" ? ""
                                                 : verb == "set"
                                                     ? " ALIAS CHECKPOINT"
                                                     : " ALIAS..."));
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::vector<std::string> verbs = {"list", "get", "set", "delete"};
  const std::string& verb = arguments.positional()[0];
  const std::vector<std::string> names(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo alias ", verb, "' is no command",
                     base::SuggestName(verb, verbs)));
  }
  ORDO_RETURN_IF_ERROR(CheckOptions(verb, arguments));
  ORDO_RETURN_IF_ERROR(CheckNumber(verb, names.size()));
  if (verb == "list" || verb == "set") {
    ORDO_RETURN_IF_ERROR(verb == "list" ? List(context)
                                        : Set(context, arguments));
    return ExitCode::kOk;
  }
  return ForEach(context, names,
                 [&](Context& each, const std::string& text) -> absl::Status {
                   if (verb == "delete") return Delete(each, text, arguments);
                   ORDO_ASSIGN_OR_RETURN(const std::string name,
                                         AliasName(text));
                   return ShowAlias(each, name);
                 });
}

}  // namespace

Command AliasCommand() {
  Command command;
  command.name = "alias";
  command.arguments = "list, get|delete ALIAS..., set ALIAS CHECKPOINT";
  command.summary = "what checkpoints are called";
  command.help =
      "A job may name `aliases/ALIAS` wherever it names a checkpoint; it keeps "
      "what\n"
      "that is when the job is created. A CHECKPOINT is "
      "jobs/JOB/checkpoints/ID, JOB\n"
      "for its newest, or aliases/ALIAS. What an alias names is not removed. "
      "With\n"
      "--if-digest it is set only if it names a checkpoint of that digest, "
      "with "
      "`none`\n"
      "only if there is no such alias yet:\n"
      "  ordo alias set main jobs/a/checkpoints/200-1 --if-digest none\n"
      "  ordo alias get main -o json | jq -r .manifest_sha256\n"
      "  ordo alias set main jobs/b/checkpoints/200-1 --if-digest SHA256";
  command.options = {
      {"if-digest", 0, "SHA256", "only if it names that; `none`: if it is new"},
      {"etag", 0, "ETAG", "only if it is still as `get` said"},
      {"reason", 0, "TEXT", "why, for others to read"},
  };
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "list get set delete";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
