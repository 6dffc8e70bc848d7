#include "base/version/version.h"

#include "base/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/commands/commands.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments&) {
  ORDO_ASSIGN_OR_RETURN(const std::string build, base::BuildId());
  google::protobuf::Struct fields;
  (*fields.mutable_fields())["build"].set_string_value(build);
  if (PrintStructured(context, fields)) return ExitCode::kOk;
  context.out << "ordo, build " << build << "\n";
  return ExitCode::kOk;
}

}  // namespace

Command VersionCommand() {
  Command command;
  command.name = "version";
  command.summary = "print the build id: the SHA-256 of this program";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
