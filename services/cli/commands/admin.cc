#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "services/cli/commands/admin_certs.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& subject = arguments.positional()[0];
  const std::vector<std::string> words(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  if (subject != "certs") {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo admin ", subject, "' is no command",
                     base::SuggestName(subject, {"certs"})));
  }
  ORDO_RETURN_IF_ERROR(RunAdminCerts(context, arguments, words));
  return ExitCode::kOk;
}

}  // namespace

Command AdminCommand() {
  Command command;
  command.name = "admin";
  command.arguments = "certs init|add DIR, certs renew DIR [FILE...]";
  command.summary = "certificates of a deployment";
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
      "  ordo admin certs init tls --host ordo.example.org --worker node-1";
  command.options = AdminCertsOptions();
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "certs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
