#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "services/cli/commands/admin_certs.h"
#include "services/cli/commands/admin_token.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& subject = arguments.positional()[0];
  const std::vector<std::string> words(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  if (subject == "certs") {
    for (const char* option : {"role", "queue", "ttl", "out"}) {
      if (!arguments.Has(option)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, " has no meaning for 'ordo admin certs'"));
    }
    ORDO_RETURN_IF_ERROR(RunAdminCerts(context, arguments, words));
    return ExitCode::kOk;
  }
  if (subject == "token") {
    for (const char* option : {"host", "days"}) {
      if (!arguments.Has(option)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, " has no meaning for 'ordo admin token'"));
    }
    ORDO_RETURN_IF_ERROR(RunAdminToken(context, arguments, words));
    return ExitCode::kOk;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'ordo admin ", subject, "' is no command",
                   base::SuggestName(subject, {"certs", "token"})));
}

}  // namespace

Command AdminCommand() {
  Command command;
  command.name = "admin";
  command.arguments =
      "certs init|add|renew DIR, token create|list|revoke [NAME]";
  command.summary = "certificates and tokens of a deployment";
  command.help =
      "certs init   makes an authority of the deployment in DIR, and "
      "certificates of it\n"
      "             for the scheduler, workers and people\n"
      "certs add    makes certificates for further workers and people\n"
      "certs renew  makes all, or those in FILEs of DIR, anew with the names "
      "they have;\n"
      "             servers take them over without a restart\n"
      "Each file but ca.pem holds a private key. Without a server: DIR may be "
      "on a\n"
      "machine that no other reaches.\n"
      "  ordo admin certs init tls --host ordo.example.org --worker node-1\n"
      "token create  makes a token: whoever has its secret is --user, by "
      "default NAME,\n"
      "              with its role; one of the role worker lets a worker join, "
      "once\n"
      "token list    shows all, token revoke ends one\n"
      "  ordo admin token create ci --role user --queue night --out ci.token";
  command.options = AdminCertsOptions();
  for (Option& option : AdminTokenOptions()) {
    command.options.push_back(std::move(option));
  }
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "certs token";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
