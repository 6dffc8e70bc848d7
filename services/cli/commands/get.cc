#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "base/units/units.h"
#include "services/cli/commands/checkpoint_names.h"
#include "services/cli/commands/commands.h"
#include "services/cli/download.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using training::v1::FileInfo;

// The file of a checkpoint that lists the others; it cannot list itself.
constexpr char kManifest[] = "MANIFEST.json";
constexpr size_t kMaxManifestBytes = 16 << 20;

// A checkpoint or report: its full name and its files.
struct Folder {
  ResourceName name;
  std::vector<FileInfo> files;
};

absl::StatusOr<Folder> Resolve(Context& context, const std::string& text) {
  ORDO_ASSIGN_OR_RETURN(ResourceName name, ParseResourceName(text));
  if (name.kind == ResourceName::Kind::kAlias) {
    ORDO_ASSIGN_OR_RETURN(const std::string named,
                          CheckpointNamed(context, text));
    ORDO_ASSIGN_OR_RETURN(name, ParseResourceName(named));
  }
  Folder folder;
  if (name.kind == ResourceName::Kind::kCheckpoint) {
    checkpoints::v1::GetCheckpointRequest request;
    request.set_name(name.ToString());
    ORDO_ASSIGN_OR_RETURN(
        const checkpoints::v1::Checkpoint checkpoint,
        context.client.Call(
            context.client.checkpoints(),
            &checkpoints::v1::CheckpointsService::Stub::GetCheckpoint,
            request));
    if (checkpoint.state() == checkpoints::v1::Checkpoint::DELETED) {
      return absl::NotFoundError(
          absl::StrCat(checkpoint.name(), " was removed; see ",
                       "'ordo list checkpoints ", name.parent, "'"));
    }
    ORDO_ASSIGN_OR_RETURN(folder.name, ParseResourceName(checkpoint.name()));
    folder.files.assign(checkpoint.files().begin(), checkpoint.files().end());
    const bool listed = std::any_of(
        folder.files.begin(), folder.files.end(),
        [](const FileInfo& file) { return file.path() == kManifest; });
    if (listed) return folder;
    // Without it nothing can load the folder.
    FileInfo manifest;
    manifest.set_path(kManifest);
    manifest.set_sha256(checkpoint.manifest_sha256());
    folder.files.push_back(manifest);
    return folder;
  }
  if (name.kind == ResourceName::Kind::kReport) {
    reports::v1::GetReportRequest request;
    request.set_name(name.ToString());
    ORDO_ASSIGN_OR_RETURN(
        const reports::v1::Report report,
        context.client.Call(context.client.reports(),
                            &reports::v1::ReportsService::Stub::GetReport,
                            request));
    ORDO_ASSIGN_OR_RETURN(folder.name, ParseResourceName(report.name()));
    folder.files.assign(report.files().begin(), report.files().end());
    return folder;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' has no files; name jobs/JOB/checkpoints/CHECKPOINT, ",
      "aliases/ALIAS or jobs/JOB/reports/REPORT"));
}

absl::StatusOr<FileInfo> FindFile(const Folder& folder,
                                  const std::string& path) {
  std::vector<std::string> paths;
  for (const FileInfo& file : folder.files) {
    if (file.path() == path) return file;
    paths.push_back(file.path());
  }
  return absl::NotFoundError(absl::StrCat(folder.name.ToString(),
                                          " has no file '", path, "'",
                                          base::SuggestName(path, paths)));
}

absl::Status GetOne(Context& context, const Folder& folder, FileInfo file,
                    const std::string& path) {
  if (file.path() == kManifest) {
    // Its size is registered nowhere.
    ORDO_ASSIGN_OR_RETURN(
        const std::string manifest,
        DownloadToMemory(context, {folder.name, file}, kMaxManifestBytes));
    file.set_size_bytes(static_cast<int64_t>(manifest.size()));
  }
  ORDO_ASSIGN_OR_RETURN(const DownloadEnd end,
                        Download(context, {folder.name, file}, path));
  if (PrintStructured(context, file)) return absl::OkStatus();
  context.out << path << "  " << base::HumanBytes(file.size_bytes())
              << (end == DownloadEnd::kWasThere ? "  was there already" : "")
              << std::endl;
  return absl::OkStatus();
}

bool IsFolder(Context& context, const std::string& path) {
  const auto info = context.files.Stat(path);
  return info.ok() && info->is_folder;
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string& argument = arguments.positional()[0];
  context.interrupt.CatchSignals();
  const size_t colon = argument.find(':');
  ORDO_ASSIGN_OR_RETURN(const Folder folder,
                        Resolve(context, argument.substr(0, colon)));
  if (colon != std::string::npos) {
    ORDO_ASSIGN_OR_RETURN(const FileInfo file,
                          FindFile(folder, argument.substr(colon + 1)));
    std::string path = arguments.Get("out", base::NameOf(file.path()));
    if (IsFolder(context, path)) {
      path = base::JoinPath(path, base::NameOf(file.path()));
    }
    ORDO_RETURN_IF_ERROR(GetOne(context, folder, file, path));
    return ExitCode::kOk;
  }
  const std::string root = arguments.Get("out", folder.name.id);
  for (const FileInfo& file : folder.files) {
    // The names come from a server: they may not lead out of the folder.
    ORDO_ASSIGN_OR_RETURN(const std::string path,
                          base::JoinUnder(root, file.path()));
    ORDO_RETURN_IF_ERROR(GetOne(context, folder, file, path));
  }
  return ExitCode::kOk;
}

}  // namespace

Command GetCommand() {
  Command command;
  command.name = "get";
  command.arguments = "NAME[:FILE]";
  command.summary = "fetch a checkpoint or report, or one file of it";
  command.help =
      "  ordo get jobs/a/checkpoints/latest:model.safetensors\n"
      "  ordo get jobs/a/reports/addition_grid-200 --out results\n"
      "  ordo get aliases/main --out model\n"
      "`latest` or `last` is a job's newest checkpoint, `best` its best.\n"
      "Without FILE everything goes into a folder named after the checkpoint "
      "or\n"
      "report. Each file is verified by its SHA-256. A download that was\n"
      "interrupted goes on where it stopped.";
  command.options = {
      {"out", 0, "PATH",
       "file or folder to write; default: the same name here"},
  };
  command.min_arguments = 1;
  command.max_arguments = 1;
  command.completes = "folders";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
