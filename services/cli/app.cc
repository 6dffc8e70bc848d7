#include "services/cli/app.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <sys/random.h>
#include <sys/types.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/rpc/address.h"
#include "base/rpc/client.h"
#include "base/rpc/tls.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/trace/trace.h"
#include "services/cli/commands/commands.h"
#include "services/cli/help.h"

namespace ordo::services::cli {
namespace {

// As much as gRPC takes of metadata.
constexpr size_t kMaxTokenBytes = 8 << 10;

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

// The secret in a file; empty when none is named.
absl::StatusOr<std::string> ReadToken(App& app, const base::NamedFile& file) {
  if (file.path.empty()) return std::string();
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::AddContext(base::ReadFile(app.files, file.path, kMaxTokenBytes),
                       file.name));
  std::string secret(absl::StripAsciiWhitespace(text));
  const bool printable = std::all_of(secret.begin(), secret.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  if (printable && !secret.empty()) return secret;
  return absl::InvalidArgumentError(
      absl::StrCat(file.name, ": ", file.path,
                   " must hold one secret or JWT, of printable characters"));
}

// Of a command that is part of none, or of one that nobody can read.
std::string NewTrace() {
  char bytes[base::kTraceRandomBytes];
  // Fails only before the system has booted: then there is no trace.
  const ssize_t size = getrandom(bytes, sizeof(bytes), 0);
  return base::MakeTraceParent(
      {bytes, size < 0 ? 0 : static_cast<size_t>(size)});
}

absl::StatusOr<ClientOptions> ChooseServer(App& app,
                                           const Arguments& arguments) {
  ClientOptions options = app.client;
  if (options.user.empty()) options.user = base::LocalUser();
  options.trace_parent = base::ParseTraceParent(
      app.environment(base::kTraceParentVariable).value_or(""));
  if (options.trace_parent.empty()) options.trace_parent = NewTrace();
  const std::optional<std::string> named = app.environment("ORDO_SERVER");
  options.address = arguments.Get("server", named.value_or(options.address));
  const absl::StatusOr<base::HostPort> parsed =
      base::ParseHostPort(options.address);
  if (!parsed.ok()) {
    return base::AddContext(
        parsed.status(), arguments.Has("server") ? "--server" : "ORDO_SERVER");
  }
  const auto choose = [&](const char* option, const char* variable) {
    const std::optional<std::string> set = app.environment(variable);
    const bool from_variable = !arguments.Has(option) && set.has_value();
    return base::NamedFile{
        from_variable ? std::string(variable) : absl::StrCat("--", option),
        arguments.Get(option, set.value_or(""))};
  };
  options.tls = {choose("certificate", "ORDO_CERTIFICATE"),
                 choose("key", "ORDO_KEY"), choose("ca", "ORDO_CA")};
  ORDO_ASSIGN_OR_RETURN(
      options.bearer, ReadToken(app, choose("token-file", "ORDO_TOKEN_FILE")));
  if (!options.bearer.empty() && options.tls.ca.path.empty() &&
      !base::CheckListen(options.address, /*permitted=*/false).ok()) {
    app.err << "ordo: warning: the token goes to " << options.address
            << " without TLS, for everybody on the way to read; give --ca\n";
  }
  // One file may hold both.
  if (options.tls.key.path.empty()) options.tls.key = options.tls.certificate;
  for (const base::NamedFile& own :
       {options.tls.certificate, options.tls.key}) {
    if (own.path.empty() || !options.tls.ca.path.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(own.name, " needs ", options.tls.ca.name,
                     " beside it, the authority of the server's certificate"));
  }
  return options;
}

// Takes a switch out; whether it was there.
bool TakeOut(const std::vector<std::string>& spellings,
             std::vector<std::string>* args) {
  const auto end = std::remove_if(
      args->begin(), args->end(), [&spellings](const std::string& arg) {
        return std::count(spellings.begin(), spellings.end(), arg) > 0;
      });
  const bool found = end != args->end();
  args->erase(end, args->end());
  return found;
}

// The command's name first: options that every command takes may stand before
// it. Empty when no command is named.
absl::StatusOr<std::vector<std::string>> CommandFirst(
    const std::vector<std::string>& args) {
  std::vector<Option> table = CommonOptions();
  table.push_back({"version", 0, "", ""});
  const absl::StatusOr<size_t> count = CountLeadingOptions(table, args);
  if (!count.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(count.status().message(),
                     "; a command's own options come after its name"));
  }
  const auto command = args.begin() + static_cast<std::ptrdiff_t>(*count);
  std::vector<std::string> leading(args.begin(), command);
  std::vector<std::string> ordered(command, args.end());
  if (TakeOut({"--version"}, &leading)) {
    ordered.insert(ordered.begin(), "version");
  } else if (ordered.empty() && TakeOut({"--help", "-h"}, &leading)) {
    ordered.push_back("help");
  }
  if (ordered.empty()) return ordered;
  ordered.insert(ordered.begin() + 1, leading.begin(), leading.end());
  return ordered;
}

absl::StatusOr<ExitCode> Dispatch(App& app,
                                  const std::vector<std::string>& args) {
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> ordered,
                        CommandFirst(args));
  if (ordered.empty()) {
    app.err << Overview(Commands());
    return ExitCode::kBadInput;
  }
  ORDO_ASSIGN_OR_RETURN(const Command* command, ChooseCommand(ordered[0]));
  ORDO_ASSIGN_OR_RETURN(const Arguments arguments,
                        ParseArguments(AllOptions(*command),
                                       {ordered.begin() + 1, ordered.end()}));
  ClientOptions options;
  if (!arguments.Has("help")) {
    ORDO_RETURN_IF_ERROR(CheckCount(*command, arguments));
    ORDO_ASSIGN_OR_RETURN(options, ChooseServer(app, arguments));
  }
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
  if (arguments.Has("help")) {
    PrintHelp(context, HelpText(*command));
    return ExitCode::kOk;
  }
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
