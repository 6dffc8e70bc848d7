#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "services/cli/commands/admin_token.h"
#include "services/cli/commands/commands.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using ordo::access::v1::AccessService;
using ordo::access::v1::WhoAmIRequest;
using ordo::access::v1::WhoAmIResponse;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments&) {
  ORDO_ASSIGN_OR_RETURN(
      const WhoAmIResponse caller,
      context.client.Call(context.client.access(), &AccessService::Stub::WhoAmI,
                          WhoAmIRequest()));
  if (PrintStructured(context, caller)) return ExitCode::kOk;
  std::vector<std::pair<std::string, Cell>> lines = {
      {"User", caller.user()},
      {"Role", RoleText(caller.role())},
      {"Known by", caller.known_by()}};
  std::vector<std::string> queues;
  for (const std::string& queue : caller.queues()) {
    queues.push_back(ShortName(queue));
  }
  lines.push_back(
      {"Queues", queues.empty() ? "all" : absl::StrJoin(queues, ", ")});
  if (caller.has_expire_time()) {
    lines.push_back({"Until", FormatTime(caller.expire_time())});
  }
  context.out << KeyValueLines(lines, context.terminal);
  return ExitCode::kOk;
}

}  // namespace

Command WhoamiCommand() {
  Command command;
  command.name = "whoami";
  command.summary = "say who you are to the scheduler, and what you may do";
  command.help =
      "A certificate (--certificate) or a token (--token-file) says who you "
      "are. Where\n"
      "the scheduler asks for neither, your login name is believed.";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
