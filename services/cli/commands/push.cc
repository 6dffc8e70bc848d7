#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "services/cli/commands/commands.h"
#include "services/cli/print.h"
#include "services/cli/upload.h"

namespace ordo::services::cli {
namespace {

// "tiny-llama-2" of "/models/Tiny_Llama.2/"; may be none.
std::string IdOfFolder(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string id;
  for (const char c : base::NameOf(path)) {
    const auto byte = static_cast<unsigned char>(c);
    id += absl::ascii_isalnum(byte) ? absl::ascii_tolower(byte) : '-';
  }
  id = id.substr(0, model::catalog::kMaxIdLength);
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

absl::StatusOr<std::string> JobFor(const Arguments& arguments,
                                   const std::string& folder) {
  const std::string id = arguments.Get("name", IdOfFolder(folder));
  if (model::catalog::IsId(id)) return id;
  if (arguments.Has("name")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--name: '", id, "' must be ", model::catalog::IdRule()));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no name can be made of '", folder, "'; give one with ", "--name"));
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& kind = arguments.positional()[0];
  const std::string& path = arguments.positional()[1];
  if (kind != "checkpoint") {
    return absl::InvalidArgumentError(
        absl::StrCat("'", kind, "' cannot be pushed; only checkpoints can: ",
                     "ordo push checkpoint DIR"));
  }
  context.interrupt.CatchSignals();
  ORDO_ASSIGN_OR_RETURN(const std::string job, JobFor(arguments, path));
  ORDO_ASSIGN_OR_RETURN(const LocalFolder folder,
                        ReadLocalFolder(context, path));
  if (!folder.left_out.empty() && context.output == OutputForm::kTable) {
    context.err << "ordo: not sent, since a checkpoint has none of them: "
                << absl::StrJoin(folder.left_out, ", ") << std::endl;
  }
  ORDO_ASSIGN_OR_RETURN(const auto checkpoint, Upload(context, folder, job));
  if (PrintStructured(context, checkpoint)) return ExitCode::kOk;
  context.out << checkpoint.name() << std::endl;
  return ExitCode::kOk;
}

}  // namespace

Command PushCommand() {
  Command command;
  command.name = "push";
  command.arguments = "checkpoint DIR";
  command.summary = "upload a model of Hugging Face's or a checkpoint";
  command.help =
      "  ordo push checkpoint ~/models/tiny-llama --name llama\n"
      "  ordo evaluate llama --task addition_grid\n"
      "DIR holds config.json and model.safetensors, or several *.safetensors "
      "and\n"
      "their index. It is checked before anything is sent; the server verifies "
      "each\n"
      "file by its SHA-256. An upload that was interrupted goes on where it "
      "stopped,\n"
      "when the command is repeated within a day. Jobs begin with the "
      "checkpoint by\n"
      "model: {from: NAME}.";
  command.options = {
      {"name", 0, "NAME", "what it is called; default: made of DIR's name"},
  };
  command.min_arguments = 2;
  command.max_arguments = 2;
  command.completes = "files";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
