#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/listing.h"
#include "services/cli/local_data.h"
#include "services/cli/names.h"
#include "services/cli/print.h"
#include "services/cli/upload.h"

namespace ordo::services::cli {
namespace {

// Of more files that are left out only so many are named.
constexpr size_t kMaxLeftOutTold = 20;

// "tiny-llama-2" of "Tiny_Llama.2"; may be none.
std::string IdOf(const std::string& name) {
  std::string id;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    id += absl::ascii_isalnum(byte) ? absl::ascii_tolower(byte) : '-';
  }
  id = id.substr(0, model::catalog::kMaxIdLength);
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

// The last part of "/models/Tiny_Llama.2/".
std::string LastPart(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return base::NameOf(path);
}

// What is pushed is called as was said, or by an id made of `name`.
absl::StatusOr<std::string> IdFor(const Arguments& arguments,
                                  const std::string& name) {
  const std::string id = arguments.Get("name", IdOf(name));
  if (model::catalog::IsId(id)) return id;
  if (arguments.Has("name")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--name: '", id, "' must be ", model::catalog::IdRule()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no name can be made of '", arguments.positional()[1],
                   "'; give one with ", "--name"));
}

void TellLeftOut(Context& context, const LocalFolder& folder,
                 const std::string& why) {
  if (folder.left_out.empty() || context.output != OutputForm::kTable) return;
  std::vector<std::string> told = folder.left_out;
  std::string more;
  if (told.size() > kMaxLeftOutTold) {
    more = absl::StrCat(" and ", told.size() - kMaxLeftOutTold, " more");
    told.resize(kMaxLeftOutTold);
  }
  context.err << "ordo: not sent, since " << why << ": "
              << absl::StrJoin(told, ", ") << more << std::endl;
}

absl::StatusOr<ExitCode> PushCheckpoint(Context& context,
                                        const Arguments& arguments) {
  const std::string& path = arguments.positional()[1];
  ORDO_ASSIGN_OR_RETURN(const std::string job,
                        IdFor(arguments, LastPart(path)));
  ORDO_ASSIGN_OR_RETURN(const LocalFolder folder,
                        ReadLocalFolder(context, path));
  TellLeftOut(context, folder, "a checkpoint has none of them");
  ORDO_ASSIGN_OR_RETURN(const auto checkpoint, Upload(context, folder, job));
  if (PrintStructured(context, checkpoint)) return ExitCode::kOk;
  context.out << checkpoint.name() << std::endl;
  return ExitCode::kOk;
}

// The version that a name stands for; empty: there is none, or that cannot
// be told, which is no reason not to push.
std::string CurrentVersion(Context& context, const std::string& id) {
  std::string current;
  int64_t num_seen = 0;
  const auto listed =
      ListPages(context,
                ListCall{context.client.data(),
                         &ordo::data::v1::DataService::Stub::ListData,
                         ordo::data::v1::ListDataRequest()},
                0, [&](const ordo::data::v1::ListDataResponse& page) {
                  for (const ordo::data::v1::Data& data : page.data()) {
                    const std::string name = ShortName(data.name());
                    const bool is_of_it = name.substr(0, name.find('@')) == id;
                    if (is_of_it && data.current()) current = name;
                  }
                  num_seen += page.data_size();
                  return num_seen;
                });
  return listed.ok() ? current : "";
}

absl::StatusOr<ExitCode> PushAsData(Context& context,
                                    const Arguments& arguments) {
  const std::string& path = arguments.positional()[1];
  ORDO_ASSIGN_OR_RETURN(const auto info, context.files.Stat(path));
  // Of a file without what says how it is written.
  std::string name = LastPart(path);
  if (!info.is_folder) name = name.substr(0, name.find('.'));
  ORDO_ASSIGN_OR_RETURN(const std::string id, IdFor(arguments, name));
  ORDO_ASSIGN_OR_RETURN(const LocalFolder folder, ReadLocalData(context, path));
  TellLeftOut(context, folder, "they are empty or begin with a dot");
  const std::string before = CurrentVersion(context, id);
  ORDO_ASSIGN_OR_RETURN(const auto data, PushData(context, folder, id));
  if (PrintStructured(context, data)) return ExitCode::kOk;
  context.err << "ordo: jobs name it " << id;
  if (!info.is_folder) {
    context.err << ", and its file " << id << "/" << LastPart(path);
  }
  context.err << std::endl;
  if (!before.empty() && before != ShortName(data.name())) {
    context.err << "ordo: until now " << id << " stood for " << before
                << ", which is still there by that name; its files are not "
                   "among those of "
                << id << " now, unless they were pushed again" << std::endl;
  }
  context.out << ShortName(data.name()) << std::endl;
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& kind = arguments.positional()[0];
  if (kind != "checkpoint" && kind != "data") {
    return absl::InvalidArgumentError(
        absl::StrCat("'", kind, "' cannot be pushed; checkpoints and data ",
                     "can: ordo push checkpoint DIR, ordo push data PATH"));
  }
  context.interrupt.CatchSignals();
  return kind == "data" ? PushAsData(context, arguments)
                        : PushCheckpoint(context, arguments);
}

}  // namespace

Command PushCommand() {
  Command command;
  command.name = "push";
  command.arguments = "checkpoint DIR, data PATH";
  command.summary = "upload a model, a checkpoint or data";
  command.help =
      "  ordo push checkpoint ~/models/tiny-llama --name llama\n"
      "  ordo evaluate llama --task addition_grid\n"
      "DIR holds config.json and model.safetensors, or several *.safetensors "
      "and\n"
      "their index. Jobs begin with the checkpoint by model: {from: NAME}.\n"
      "\n"
      "  ordo push data ~/books               # data: [books]\n"
      "  ordo push data my.model --name mine  # tokenizer: mine/my.model\n"
      "PATH is a file, or a folder of which all files count: text, JSON lines, "
      "token\n"
      "files, each also as .gz or .zst, tokenizers, files of questions. Pushed "
      "again\n"
      "under its name, data gets a new version, NAME@VERSION, which has only "
      "what was\n"
      "pushed last; a job keeps the one that NAME stood for when it was "
      "submitted.\n"
      "\n"
      "All is checked before anything is sent; the server verifies each file "
      "by its\n"
      "SHA-256. An upload that was interrupted goes on where it stopped, when "
      "the\n"
      "command is repeated within a day.";
  command.options = {
      {"name", 0, "NAME", "what it is called; default: made of the path"},
  };
  command.min_arguments = 2;
  command.max_arguments = 2;
  command.completes = "files";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
