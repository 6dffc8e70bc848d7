#include "worker/trainer/summary_report.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "report/figure.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using model::training::NamedBytes;

constexpr size_t kMaxFigureBytes = 32 << 20;
constexpr size_t kMaxManifestBytes = 16 << 20;

// Draws a figure in the attempt's folder, adds both of its forms to `contents`,
// and returns the SVG.
absl::StatusOr<std::string> AddFigure(base::Filesystem& files,
                                      const std::string& folder,
                                      const report::NamedFigure& figure,
                                      std::vector<NamedBytes>* contents) {
  std::string svg;
  for (const auto& [form, extension] :
       {std::pair(report::FigureForm::kSvg, ".svg"),
        std::pair(report::FigureForm::kPng, ".png")}) {
    const std::string name = figure.name + extension;
    const std::string path = base::JoinPath(folder, name);
    ORDO_RETURN_IF_ERROR(report::Draw(files, figure.figure, form, path));
    ORDO_ASSIGN_OR_RETURN(std::string bytes,
                          base::ReadFile(files, path, kMaxFigureBytes));
    ORDO_RETURN_IF_ERROR(files.RemoveFile(path));
    if (form == report::FigureForm::kSvg) svg = bytes;
    contents->push_back({name, std::move(bytes)});
  }
  return svg;
}

}  // namespace

std::string DigestOfCheckpoint(const TrainerContext& context,
                               const std::string& name) {
  const std::string folder =
      absl::StrContains(name, '/')
          ? base::JoinPath(context.storage_root, name)
          : base::JoinPath(CheckpointsFolder(context), name);
  const auto manifest = base::ReadFile(
      context.files, base::JoinPath(folder, model::training::kManifestFile),
      kMaxManifestBytes);
  return manifest.ok() ? base::Sha256Hex(*manifest) : "";
}

DrawnFigures DrawFigures(const TrainerContext& context, int attempt,
                         const std::vector<report::NamedFigure>& figures,
                         Progress* progress) {
  DrawnFigures drawn;
  for (const auto& figure : figures) {
    if (context.stop_requested()) break;
    auto svg = AddFigure(context.files, AttemptFolder(context, attempt), figure,
                         &drawn.files);
    if (!svg.ok()) {
      progress->Warning(absl::StrCat("no figures are drawn: ",
                                     std::string(svg.status().message())));
      break;
    }
    drawn.svgs.push_back(*std::move(svg));
  }
  return drawn;
}

absl::Status WriteSummaryReport(const TrainerContext& context,
                                ordo::training::v1::ReportWritten report,
                                const std::vector<NamedBytes>& contents,
                                Progress* progress) {
  if (context.stop_requested()) return absl::CancelledError();
  ORDO_RETURN_IF_ERROR(progress->CheckFolder());
  const auto infos = model::training::WriteFolder(
      context.files, base::JoinPath(context.job_folder, report.folder()),
      contents);
  ORDO_RETURN_IF_ERROR(
      WithExitCode(base::AddContext(infos.status(),
                                    absl::StrCat("write report ", report.id())),
                   ordo::training::v1::STORAGE_ERROR));
  report.mutable_files()->Assign(infos->begin(), infos->end());
  progress->Report(report, report.id());
  base::LogInfo("report written", {{"id", report.id()}});
  return absl::OkStatus();
}

}  // namespace ordo::worker::trainer
