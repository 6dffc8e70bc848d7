#include "worker/trainer/job_page.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "model/training/checkpoint.h"
#include "report/figure.h"
#include "report/json_values.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/runs/losses.h"
#include "report/runs/numbers.h"
#include "report/runs/runs.h"
#include "worker/trainer/summary_report.h"

namespace ordo::worker::trainer {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using report::JsonField;
using report::runs::Evaluated;

// Of one file; of what is larger the page says nothing.
constexpr size_t kMaxFileBytes = 64 << 20;
constexpr size_t kMaxSvgBytes = 32 << 20;

// Empty where it cannot be read.
std::string ReadIfThere(base::Filesystem& files, const std::string& path) {
  auto text = base::ReadFile(files, path, kMaxFileBytes);
  if (text.ok()) return *std::move(text);
  if (!absl::IsNotFound(text.status())) {
    base::LogWarning("a file is left out of the job's page",
                     {{"path", path}, {"error", text.status()}});
  }
  return "";
}

report::FigureSource SourceOf(const TrainerContext& context,
                              const JobPage& about,
                              const std::string& checkpoint) {
  report::FigureSource source{about.job, {}, "ordo report " + about.job};
  if (checkpoint.empty()) return source;
  const std::string name =
      absl::StrContains(checkpoint, '/')
          ? checkpoint
          : absl::StrCat("jobs/", about.job, "/checkpoints/", checkpoint);
  source.models.push_back({name, DigestOfCheckpoint(context, checkpoint)});
  return source;
}

// The model that a result is of, for people.
std::string ModelText(const JobPage& about, const Struct& result) {
  if (!about.shows_all) return about.job;
  const std::string checkpoint = JsonField(result, "checkpoint").string_value();
  const std::vector<std::string> path = absl::StrSplit(checkpoint, '/');
  const double step = JsonField(result, "step").number_value();
  std::string text =
      absl::StrCat(path.size() == 4 && path[0] == "jobs" ? path[1] : checkpoint,
                   " at step ", static_cast<int64_t>(step));
  const std::string encoding =
      JsonField(JsonField(result, "encoding").struct_value(), "name")
          .string_value();
  if (!encoding.empty()) absl::StrAppend(&text, " under ", encoding);
  return text;
}

// A report of the job, as its folder holds it.
absl::StatusOr<Evaluated> ReadReport(const TrainerContext& context,
                                     const JobPage& about,
                                     const std::string& folder) {
  base::Filesystem& files = context.files;
  report::runs::InsideFiles texts;
  ORDO_ASSIGN_OR_RETURN(
      texts.result, base::ReadFile(files, base::JoinPath(folder, "result.json"),
                                   kMaxFileBytes));
  Struct result;
  ORDO_RETURN_IF_ERROR(
      base::ReadMessage(texts.result, base::TextForm::kJson, &result));
  Evaluated evaluated;
  report::Metrics& metrics = evaluated.metrics;
  metrics.model = ModelText(about, result);
  metrics.step = static_cast<int64_t>(JsonField(result, "step").number_value());
  metrics.task = JsonField(result, "task").string_value();
  metrics.evaluation = JsonField(result, "name").string_value();
  if (metrics.evaluation.empty()) metrics.evaluation = metrics.task;
  const Struct& values = JsonField(result, "metrics").struct_value();
  for (const auto& [name, value] : values.fields()) {
    if (value.kind_case() == Value::kNumberValue) {
      metrics.values[name] = value.number_value();
    }
  }
  evaluated.encoding = about.encoding;
  evaluated.source =
      SourceOf(context, about, JsonField(result, "checkpoint").string_value());
  texts.items = ReadIfThere(files, base::JoinPath(folder, "items.jsonl"));
  if (report::runs::LooksInside(metrics.task)) {
    texts.maps =
        ReadIfThere(files, base::JoinPath(folder, report::runs::kMapsFile));
    texts.curves =
        ReadIfThere(files, base::JoinPath(folder, report::runs::kCurvesFile));
  }
  ORDO_RETURN_IF_ERROR(report::runs::ReadFiles(texts, &evaluated));
  return evaluated;
}

// Folders of the job's own reports, of each report that of its newest attempt.
std::vector<std::string> FoldersOfReports(const TrainerContext& context,
                                          const JobPage& about) {
  const std::string results = base::JoinPath(context.job_folder, "results");
  const auto names = context.files.List(results);
  if (!names.ok()) return {};
  std::map<std::string, std::pair<int32_t, std::string>> newest;
  for (const std::string& name : *names) {
    const size_t dash = name.rfind('-');
    int32_t attempt = 0;
    if (dash == std::string::npos ||
        !absl::SimpleAtoi(name.substr(dash + 1), &attempt) ||
        about.attempts.count(attempt) == 0) {
      continue;
    }
    auto& [of, folder] = newest[name.substr(0, dash)];
    if (attempt < of) continue;
    of = attempt;
    folder = base::JoinPath(results, name);
  }
  std::vector<std::string> folders;
  for (const auto& [id, report] : newest) folders.push_back(report.second);
  return folders;
}

std::vector<Evaluated> ReadReports(const TrainerContext& context,
                                   const JobPage& about) {
  std::vector<Evaluated> shown;
  std::map<std::string, size_t> places;
  for (const std::string& folder : FoldersOfReports(context, about)) {
    auto evaluated = ReadReport(context, about, folder);
    if (!evaluated.ok()) {
      base::LogWarning("a report is left out of the job's page",
                       {{"folder", folder}, {"error", evaluated.status()}});
      continue;
    }
    const std::string key =
        about.shows_all ? folder : evaluated->metrics.evaluation;
    const auto [place, added] = places.emplace(key, shown.size());
    if (added) {
      shown.push_back(*std::move(evaluated));
    } else if (evaluated->metrics.step > shown[place->second].metrics.step) {
      shown[place->second] = *std::move(evaluated);
    }
  }
  return shown;
}

report::runs::Trained ReadLosses(const TrainerContext& context,
                                 const JobPage& about) {
  report::runs::Trained trained;
  trained.model = about.job;
  const auto ids = model::training::ListCheckpoints(context.files,
                                                    CheckpointsFolder(context));
  trained.source =
      SourceOf(context, about, ids.ok() && !ids->empty() ? ids->front() : "");
  for (const int32_t attempt : about.attempts) {
    report::runs::AddLosses(
        ReadIfThere(
            context.files,
            base::JoinPath(AttemptFolder(context, attempt), "metrics.jsonl")),
        &trained.losses);
  }
  return trained;
}

// The SVG of each figure that was drawn beside the page.
std::vector<std::string> DrawBeside(const TrainerContext& context,
                                    const std::string& folder,
                                    const report::Page& page) {
  std::vector<std::string> svgs;
  for (const report::NamedFigure& named : page.figures) {
    const std::string stem = base::JoinPath(folder, named.name);
    absl::Status status = report::Draw(context.files, named.figure,
                                       report::FigureForm::kPng, stem + ".png");
    if (status.ok()) {
      status = report::Draw(context.files, named.figure,
                            report::FigureForm::kSvg, stem + ".svg");
    }
    auto svg = status.ok()
                   ? base::ReadFile(context.files, stem + ".svg", kMaxSvgBytes)
                   : absl::StatusOr<std::string>(status);
    if (!svg.ok()) {
      base::LogWarning("the job's page has no figures",
                       {{"error", svg.status()}});
      break;
    }
    svgs.push_back(*std::move(svg));
  }
  return svgs;
}

absl::Status Write(const TrainerContext& context, const JobPage& about) {
  report::runs::Runs runs;
  runs.evaluations = ReadReports(context, about);
  report::runs::Trained trained = ReadLosses(context, about);
  if (runs.evaluations.empty() && trained.losses.empty()) {
    return absl::OkStatus();
  }
  runs.trained.push_back(std::move(trained));
  report::Page page = report::runs::MakePage(runs);
  page.created =
      absl::StrCat("Made ",
                   absl::FormatTime("%Y-%m-%d %H:%M UTC", context.clock.Now(),
                                    absl::UTCTimeZone()),
                   " by job ", about.job, "; again: ordo report ", about.job);
  base::Filesystem& files = context.files;
  const std::string folder = base::JoinPath(context.job_folder, "results");
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  const std::vector<std::string> svgs = DrawBeside(context, folder, page);
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(files,
                                         base::JoinPath(folder, "metrics.csv"),
                                         report::runs::MetricsCsv(runs)));
  const std::string losses = report::runs::LossesCsv(runs);
  if (!losses.empty()) {
    ORDO_RETURN_IF_ERROR(
        base::AtomicWrite(files, base::JoinPath(folder, "losses.csv"), losses));
  }
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, base::JoinPath(folder, "report.json"),
      base::WriteMessage(report::runs::ToJson(runs), base::TextForm::kJson)));
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, base::JoinPath(folder, "report.md"),
      report::RenderMarkdown(page, report::FigureFiles(page, svgs.size()))));
  return base::AtomicWrite(files, base::JoinPath(folder, "report.html"),
                           report::RenderPage(page, svgs));
}

}  // namespace

void WriteJobPage(const TrainerContext& context, const JobPage& about) {
  const absl::Status status = Write(context, about);
  if (!status.ok()) {
    base::LogWarning("the job's page could not be written",
                     {{"error", status}});
  }
}

}  // namespace ordo::worker::trainer
