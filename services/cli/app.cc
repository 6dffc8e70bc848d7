#include "services/cli/app.h"

#include "absl/strings/str_cat.h"
#include "base/rpc/address.h"
#include "base/rpc/client.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "services/cli/commands/commands.h"
#include "services/cli/help.h"

namespace ordo::services::cli {
namespace {

// One line that says what is wrong and what to do; a line more for each field.
void PrintError(App& app, const absl::Status& status) {
  app.err << Paint(app.error_terminal, Color::kRed, "ordo:") << " ";
  const std::vector<base::FieldViolation> violations =
      base::FieldViolations(status);
  if (violations.empty()) {
    app.err << Printable(std::string(status.message()));
    if (ExitCodeOf(status) == ExitCode::kBug) {
      app.err << " [" << absl::StatusCodeToString(status.code()) << "]";
    }
    app.err << "\n";
    return;
  }
  app.err << "refused; "
          << (violations.size() == 1
                  ? std::string("one thing is wrong:")
                  : absl::StrCat(violations.size(), " things are wrong:"))
          << "\n";
  for (const base::FieldViolation& violation : violations) {
    app.err << "  " << Printable(violation.field)
            << (violation.field.empty() ? "" : ": ")
            << Printable(violation.description) << "\n";
  }
}

absl::Status CheckCount(const Command& command, const Arguments& arguments) {
  const int count = static_cast<int>(arguments.positional().size());
  if (count >= command.min_arguments && count <= command.max_arguments) {
    return absl::OkStatus();
  }
  const std::string usage =
      absl::StrCat("usage: ordo ", command.name,
                   command.arguments.empty() ? "" : " ", command.arguments);
  if (count < command.min_arguments) {
    return absl::InvalidArgumentError("an argument is missing; " + usage);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unexpected argument '", arguments.positional()[command.max_arguments],
      "'; ", usage));
}

absl::StatusOr<const Command*> ChooseCommand(const std::string& name) {
  const Command* command = FindCommand(name);
  if (command != nullptr) return command;
  std::vector<std::string> names;
  for (const Command& known : Commands()) names.push_back(known.name);
  return absl::InvalidArgumentError(absl::StrCat("unknown command '", name, "'",
                                                 base::SuggestName(name, names),
                                                 "; see 'ordo help'"));
}

absl::StatusOr<ClientOptions> ChooseServer(App& app,
                                           const Arguments& arguments) {
  ClientOptions options = app.client;
  if (options.user.empty()) options.user = base::LocalUser();
  const std::optional<std::string> named = app.environment("ORDO_SERVER");
  options.address = arguments.Get("server", named.value_or(options.address));
  const absl::StatusOr<base::HostPort> parsed =
      base::ParseHostPort(options.address);
  if (!parsed.ok()) {
    return base::AddContext(
        parsed.status(), arguments.Has("server") ? "--server" : "ORDO_SERVER");
  }
  return options;
}

absl::StatusOr<ExitCode> Dispatch(App& app,
                                  const std::vector<std::string>& args) {
  if (args.empty()) {
    app.err << Overview(Commands());
    return ExitCode::kBadInput;
  }
  std::string name = args[0];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  ORDO_ASSIGN_OR_RETURN(const Command* command, ChooseCommand(name));
  ORDO_ASSIGN_OR_RETURN(
      const Arguments arguments,
      ParseArguments(AllOptions(*command), {args.begin() + 1, args.end()}));
  if (arguments.Has("help")) {
    app.out << HelpText(*command);
    return ExitCode::kOk;
  }
  ORDO_RETURN_IF_ERROR(CheckCount(*command, arguments));
  ORDO_ASSIGN_OR_RETURN(const ClientOptions options,
                        ChooseServer(app, arguments));
  Client client(options, app.interrupt);
  const std::string form = arguments.Get("output", "table");
  Context context{app.in,
                  app.out,
                  app.err,
                  app.terminal,
                  form == "json"   ? OutputForm::kJson
                  : form == "yaml" ? OutputForm::kYaml
                                   : OutputForm::kTable,
                  client,
                  app.interrupt,
                  app.files,
                  app.clock,
                  app.environment};
  return command->run(context, arguments);
}

}  // namespace

int RunApp(App& app, const std::vector<std::string>& args) {
  const absl::StatusOr<ExitCode> code = Dispatch(app, args);
  app.out << std::flush;
  if (code.ok() && app.out.fail()) {
    PrintError(app, absl::ResourceExhaustedError(
                        "cannot write the output; is the disk full?"));
    return static_cast<int>(ExitCode::kBadInput);
  }
  if (code.ok()) return static_cast<int>(*code);
  PrintError(app, code.status());
  return static_cast<int>(ExitCodeOf(code.status()));
}

}  // namespace ordo::services::cli
