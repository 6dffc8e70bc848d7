#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/util/message_differencer.h"
#include "model/catalog/catalog.h"
#include "report/figure.h"
#include "report/grid.h"
#include "report/html.h"
#include "report/metrics.h"
#include "report/source.h"
#include "services/cli/commands/catalogue.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/listing.h"
#include "services/cli/commands/parts.h"
#include "services/cli/commands/submission.h"
#include "services/cli/download.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using reports::v1::ListReportsRequest;
using reports::v1::ListReportsResponse;
using reports::v1::Report;
using reports::v1::ReportsService;

constexpr char kTask[] = "addition_grid";
constexpr char kResultFile[] = "result.json";
constexpr size_t kMaxResultBytes = 16 << 20;

// Whether it has one report of all that it did.
bool HasSummary(const Job& job) {
  return !job.parts().empty() || job.spec().kind() == jobs::v1::JobSpec::GATE;
}

// "addition_grid-1000" without the step.
std::string EvaluationName(const Report& report) {
  const std::string id = ShortName(report.name());
  return id.substr(0, id.rfind('-'));
}

// Of a training job the newest report of each evaluation; of an evaluating job
// all, for there each is of a checkpoint of its own.
std::vector<Report> Choose(const Job& job, const std::vector<Report>& all) {
  std::vector<Report> chosen;
  std::map<std::string, size_t> places;
  for (const Report& report : all) {  // Newest first.
    const std::string key = job.spec().kind() == jobs::v1::JobSpec::EVALUATE
                                ? report.name()
                                : EvaluationName(report);
    const auto [place, added] = places.emplace(key, chosen.size());
    if (added) {
      chosen.push_back(report);
    } else if (report.step() > chosen[place->second].step()) {
      chosen[place->second] = report;
    }
  }
  return chosen;
}

// What to do about a job without reports.
std::string AdviceWithoutReports(const Job& job) {
  const std::string name = ShortName(job.name());
  const auto kind = job.spec().kind();
  // Only these leave checkpoints. What stored jobs of no kind are is training.
  const bool trains = kind == jobs::v1::JobSpec::KIND_UNSPECIFIED ||
                      kind == jobs::v1::JobSpec::TRAIN ||
                      kind == jobs::v1::JobSpec::IMPORT;
  const bool evaluates = !trains || !job.spec().evaluations().empty();
  const std::string score =
      absl::StrCat("score a checkpoint of it with: ordo evaluate ", name,
                   evaluates ? "" : " --task TASK");
  if (!HasEnded(job.state())) {
    return evaluates
               ? absl::StrCat("so wait for it: ordo watch ", name)
               : absl::StrCat("and has no evaluations of its own; ", score);
  }
  if (job.state() == Job::SUCCEEDED) {
    return trains ? "so " + score : "see: ordo show " + name;
  }
  return absl::StrCat("why: ordo explain ", name,
                      trains ? "; if it left any, " + score : "");
}

absl::StatusOr<std::vector<Report>> FetchReports(Context& context,
                                                 const Job& job) {
  ListReportsRequest request;
  request.set_parent(job.name());
  std::vector<Report> all;
  ORDO_RETURN_IF_ERROR(
      ListPages(context,
                ListCall{context.client.reports(),
                         &ReportsService::Stub::ListReports, request},
                0,
                [&](const ListReportsResponse& page) {
                  all.insert(all.end(), page.reports().begin(),
                             page.reports().end());
                  return static_cast<int64_t>(all.size());
                })
          .status());
  if (all.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        ShortName(job.name()), " has no reports; it is ",
        Job::State_Name(job.state()), ", ", AdviceWithoutReports(job)));
  }
  return Choose(job, all);
}

// "tape (position_size=16)", of all parameters or of those that are not as by
// default.
std::string EncodingText(const training::v1::Component& encoding,
                         bool with_defaults) {
  const auto* entry =
      model::catalog::Find(model::catalog::Kind::kEncoding, encoding.name());
  std::map<std::string, std::string> params;
  for (const auto& [name, value] : encoding.params()) {
    const auto* param =
        entry == nullptr ? nullptr : model::catalog::FindParam(*entry, name);
    if (!with_defaults && param != nullptr &&
        google::protobuf::util::MessageDifferencer::Equals(
            model::catalog::DefaultValue(*param), value)) {
      continue;
    }
    params[name] = base::WriteMessage(value, base::TextForm::kJson);
  }
  std::vector<std::string> texts;
  for (auto& [name, text] : params) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    texts.push_back(absl::StrCat(name, "=", text));
  }
  std::string result = encoding.name();
  if (!texts.empty()) {
    absl::StrAppend(&result, " (", absl::StrJoin(texts, ", "), ")");
  }
  for (const auto& other : encoding.with()) {
    absl::StrAppend(&result, " + ",
                    with_defaults ? other.name() : EncodingText(other, false));
  }
  return result;
}

// The model that a report is about, for people.
std::string ModelText(const Job& job, const Report& report) {
  std::string text = ShortName(job.name());
  if (job.spec().kind() != jobs::v1::JobSpec::EVALUATE) return text;
  const auto checkpoint = ParseResourceName(report.checkpoint());
  if (checkpoint.ok()) text = checkpoint->parent;
  absl::StrAppend(&text, " at step ", report.step());
  if (report.has_encoding()) {
    absl::StrAppend(&text, " under ", EncodingText(report.encoding(), false));
  }
  return text;
}

report::Metrics MetricsOf(const Job& job, const Report& report) {
  report::Metrics metrics;
  metrics.model = ModelText(job, report);
  metrics.step = report.step();
  metrics.evaluation = EvaluationName(report);
  metrics.task = report.task();
  metrics.values = {report.metrics().begin(), report.metrics().end()};
  return metrics;
}

absl::StatusOr<report::Grid> FetchGrid(Context& context, const Job& job,
                                       const Report& report) {
  ORDO_ASSIGN_OR_RETURN(const ResourceName name,
                        ParseResourceName(report.name()));
  RemoteFile file{name, {}};
  for (const auto& info : report.files()) {
    if (info.path() == kResultFile) file.info = info;
  }
  if (file.info.path().empty()) {
    return absl::NotFoundError(
        absl::StrCat(report.name(), " has no ", kResultFile));
  }
  ORDO_ASSIGN_OR_RETURN(const std::string json,
                        DownloadToMemory(context, file, kMaxResultBytes));
  absl::StatusOr<report::Grid> grid = report::ParseGrid(json);
  if (!grid.ok()) {
    return base::AddContext(grid.status(),
                            absl::StrCat(report.name(), ":", kResultFile));
  }
  grid->name = ModelText(job, report);
  if (job.spec().kind() != jobs::v1::JobSpec::EVALUATE &&
      EvaluationName(report) != kTask) {
    absl::StrAppend(&grid->name, " ", EvaluationName(report));
  }
  grid->step = report.step();
  return grid;
}

// The checkpoint that a report is about. Its digest is not known where the
// scheduler knows nothing of the checkpoint any more.
absl::StatusOr<report::SourceModel> SourceModelOf(Context& context,
                                                  const Job& job,
                                                  const Report& report) {
  if (report.checkpoint().empty()) {
    return report::SourceModel{ShortName(job.name()), ""};
  }
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name(report.checkpoint());
  const auto checkpoint = context.client.Call(
      context.client.checkpoints(),
      &checkpoints::v1::CheckpointsService::Stub::GetCheckpoint, request);
  if (absl::IsNotFound(checkpoint.status())) {
    return report::SourceModel{report.checkpoint(), ""};
  }
  ORDO_RETURN_IF_ERROR(checkpoint.status());
  return report::SourceModel{report.checkpoint(),
                             checkpoint->manifest_sha256()};
}

// What is to be shown of all jobs.
struct Results {
  // That shows it again.
  std::string command;
  // Of every evaluation, grids included.
  std::vector<report::Metrics> metrics;
  // Those that have no figure.
  std::vector<report::Metrics> plain;
  // Those that have one.
  report::Page page;
  // Of the entries of the page, in their order; one of each model.
  std::vector<report::FigureSource> sources;
};

absl::Status CollectJob(Context& context, const std::string& name,
                        Results* results) {
  ORDO_ASSIGN_OR_RETURN(const std::string job_name, JobName(name));
  ORDO_ASSIGN_OR_RETURN(const Job job, GetJob(context, job_name));
  if (HasSummary(job)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ShortName(job.name()),
                     " has a report of its own; ask for it alone: ordo "
                     "report ",
                     ShortName(job.name())));
  }
  ORDO_ASSIGN_OR_RETURN(const std::vector<Report> reports,
                        FetchReports(context, job));
  for (const Report& report : reports) {
    if (report.kind() == Report::BENCHMARK) {
      context.err << "ordo: " << report.name()
                  << " is no evaluation; its numbers: " << ScoresText(report)
                  << "\n";
      continue;
    }
    results->metrics.push_back(MetricsOf(job, report));
    if (report.task() != kTask) {
      results->plain.push_back(results->metrics.back());
      continue;
    }
    report::PageEntry entry;
    ORDO_ASSIGN_OR_RETURN(entry.grid, FetchGrid(context, job, report));
    if (job.spec().has_encoding()) {
      entry.encoding = EncodingText(job.spec().encoding(), true);
    }
    ORDO_ASSIGN_OR_RETURN(report::SourceModel model,
                          SourceModelOf(context, job, report));
    results->sources.push_back(
        {ShortName(job.name()), {std::move(model)}, results->command});
    results->page.entries.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

void PrintTable(Context& context,
                const std::vector<report::PageEntry>& entries) {
  Table table({"MODEL", ">STEP", ">ALL LENGTHS", ">TRAINED", ">LONGER",
               ">EQUAL LENGTHS", ">LONGEST 95 %"});
  for (const report::PageEntry& entry : entries) {
    const report::GridSummary summary = report::Summarize(entry.grid);
    table.AddRow({entry.grid.name, absl::StrCat(entry.grid.step),
                  report::ShareText(summary.all),
                  report::ShareText(summary.trained),
                  report::ShareText(summary.outside),
                  report::ShareText(summary.diagonal),
                  absl::StrCat(summary.largest_95)});
  }
  context.out
      << table.ToString(context.terminal)
      << "right answers, with 95 % intervals over the questions asked\n";
}

void PrintMetrics(Context& context, const std::vector<report::Metrics>& all) {
  Table table({"MODEL", ">STEP", "EVALUATION", "METRIC", ">VALUE"});
  for (const report::Metrics& one : all) {
    for (const auto& [name, value] : one.values) {
      table.AddRow({one.model, absl::StrCat(one.step), one.evaluation, name,
                    report::MetricText(value)});
    }
  }
  context.out << table.ToString(context.terminal);
}

void SetShare(const std::string& name, const report::GridScore& score,
              google::protobuf::Struct* json) {
  if (score.samples == 0) return;
  auto& fields =
      *(*json->mutable_fields())[name].mutable_struct_value()->mutable_fields();
  fields["right"].set_number_value(static_cast<double>(score.right));
  fields["samples"].set_number_value(static_cast<double>(score.samples));
  fields["value"].set_number_value(score.share.value);
  fields["low"].set_number_value(score.share.low);
  fields["high"].set_number_value(score.share.high);
}

void SetMetrics(const std::vector<report::Metrics>& all,
                google::protobuf::ListValue* list) {
  for (const report::Metrics& one : all) {
    auto& fields =
        *list->add_values()->mutable_struct_value()->mutable_fields();
    fields["model"].set_string_value(one.model);
    fields["step"].set_number_value(static_cast<double>(one.step));
    fields["evaluation"].set_string_value(one.evaluation);
    fields["task"].set_string_value(one.task);
    auto& metrics = *fields["metrics"].mutable_struct_value()->mutable_fields();
    for (const auto& [name, value] : one.values) {
      metrics[name].set_number_value(value);
    }
  }
}

google::protobuf::Struct ToStruct(const Results& results,
                                  const std::string& html) {
  google::protobuf::Struct json;
  const std::vector<report::PageEntry>& entries = results.page.entries;
  if (!entries.empty()) {
    (*json.mutable_fields())["html"].set_string_value(html);
  }
  SetMetrics(results.metrics,
             (*json.mutable_fields())["evaluations"].mutable_list_value());
  auto* models = (*json.mutable_fields())["models"].mutable_list_value();
  for (size_t i = 0; i < entries.size(); ++i) {
    const report::PageEntry& entry = entries[i];
    const report::SourceModel& source = results.sources[i].models.front();
    const report::GridSummary summary = report::Summarize(entry.grid);
    google::protobuf::Struct* model =
        models->add_values()->mutable_struct_value();
    auto& fields = *model->mutable_fields();
    fields["name"].set_string_value(entry.grid.name);
    fields["encoding"].set_string_value(entry.encoding);
    fields["step"].set_number_value(static_cast<double>(entry.grid.step));
    fields["checkpoint"].set_string_value(source.name);
    fields["checkpoint_sha256"].set_string_value(source.checkpoint_sha256);
    fields["longest_95"].set_number_value(summary.largest_95);
    SetShare("all", summary.all, model);
    SetShare("trained", summary.trained, model);
    SetShare("longer", summary.outside, model);
    SetShare("equal", summary.diagonal, model);
  }
  return json;
}

// A file name made of letters, digits and dashes.
std::string FileStem(const std::string& name) {
  std::string stem;
  for (const char c : name) {
    stem += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '-';
  }
  return stem;
}

// What a figure of all models is made of.
report::FigureSource SourceOfAll(const Results& results) {
  report::FigureSource all;
  all.command = results.command;
  std::vector<std::string> jobs;
  for (const report::FigureSource& each : results.sources) {
    if (jobs.empty() || jobs.back() != each.job) jobs.push_back(each.job);
    all.models.push_back(each.models.front());
  }
  all.job = absl::StrJoin(jobs, " ");
  return all;
}

// Draws one figure as PNG beside the page and gives it back as SVG.
absl::StatusOr<std::string> DrawBoth(Context& context, report::Figure figure,
                                     const report::FigureSource& source,
                                     const std::string& stem) {
  figure.source = report::SourceText(source);
  ORDO_RETURN_IF_ERROR(report::Draw(context.files, figure,
                                    report::FigureForm::kPng, stem + ".png"));
  ORDO_RETURN_IF_ERROR(report::Draw(context.files, figure,
                                    report::FigureForm::kSvg, stem + ".svg"));
  return base::ReadFile(context.files, stem + ".svg", 64 << 20);
}

// The path without .html, which everything beside the page begins with.
std::string StemOf(const std::string& html) {
  return absl::EndsWith(html, ".html") ? html.substr(0, html.size() - 5) : html;
}

absl::Status WriteTables(Context& context, const std::string& stem,
                         const std::vector<report::Metrics>& metrics) {
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(base::FolderOf(stem)));
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(context.files, stem + ".csv",
                                         report::MetricsCsv(metrics)));
  return base::AtomicWrite(context.files, stem + ".md",
                           report::MetricsMarkdown(metrics));
}

absl::Status WritePage(Context& context, const std::string& html,
                       Results* results) {
  report::Page* page = &results->page;
  const std::string stem = StemOf(html);
  page->title =
      "Addition: " +
      absl::StrJoin(page->entries, ", ",
                    [](std::string* out, const report::PageEntry& entry) {
                      out->append(entry.grid.name);
                    });
  page->created = "Written by Ordo on " +
                  absl::FormatTime("%Y-%m-%d %H:%M %Z", context.clock.Now(),
                                   absl::LocalTimeZone());
  std::vector<report::Grid> grids;
  for (size_t i = 0; i < page->entries.size(); ++i) {
    report::PageEntry& entry = page->entries[i];
    ORDO_ASSIGN_OR_RETURN(
        entry.heat_map_svg,
        DrawBoth(context, report::HeatMap(entry.grid), results->sources[i],
                 absl::StrCat(stem, "-", FileStem(entry.grid.name))));
    grids.push_back(entry.grid);
  }
  ORDO_ASSIGN_OR_RETURN(
      page->equal_lengths_svg,
      DrawBoth(context, report::EqualLengths(grids), SourceOfAll(*results),
               stem + "-equal-lengths"));
  return base::AtomicWrite(context.files, html, report::RenderHtml(*page));
}

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const std::string html = arguments.Get("html", "report.html");
  if (arguments.positional().size() == 1) {
    ORDO_ASSIGN_OR_RETURN(const std::string name,
                          JobName(arguments.positional()[0]));
    ORDO_ASSIGN_OR_RETURN(const Job job, GetJob(context, name));
    if (HasSummary(job)) {
      ORDO_RETURN_IF_ERROR(FetchSummary(context, job, html));
      return ExitCode::kOk;
    }
  }
  Results results;
  results.command =
      absl::StrCat("ordo report ", absl::StrJoin(arguments.positional(), " "));
  for (const std::string& name : arguments.positional()) {
    ORDO_RETURN_IF_ERROR(CollectJob(context, name, &results));
  }
  if (results.metrics.empty()) {
    return absl::FailedPreconditionError(
        "there is no report of an evaluation; make one with 'ordo evaluate "
        "JOB --task TASK'");
  }
  const bool has_page = !results.page.entries.empty();
  if (context.output == OutputForm::kTable) {
    if (has_page) PrintTable(context, results.page.entries);
    if (!results.plain.empty()) PrintMetrics(context, results.plain);
  }
  const std::string stem = StemOf(html) + "-metrics";
  ORDO_RETURN_IF_ERROR(WriteTables(context, stem, results.metrics));
  if (has_page) ORDO_RETURN_IF_ERROR(WritePage(context, html, &results));
  if (PrintStructured(context, ToStruct(results, html))) {
    return ExitCode::kOk;
  }
  context.out << "wrote " << stem << ".csv and " << stem << ".md\n";
  if (has_page) {
    context.out << "wrote " << html
                << "; the figures lie beside it as PNG and SVG\n";
  }
  return ExitCode::kOk;
}

}  // namespace

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.arguments = "JOB...";
  command.summary = "results of jobs as a table and a page with figures";
  command.help =
      "Prints the metrics of every evaluation and writes them as CSV and "
      "Markdown.\n"
      "Of addition_grid it prints 95 % intervals and writes one HTML file that "
      "needs\n"
      "nothing else, with heat maps over the lengths of both operands; the "
      "figures\n"
      "lie beside it as PNG and SVG. Figures need gnuplot-nox.\n"
      "Of a sweep, comparison or pipeline it prints the report that was "
      "written\n"
      "when its parts had ended, of a gate the one with its verdict, or with "
      "-o json\n"
      "its numbers, and writes its page in place of an earlier one.";
  command.options = {
      {"html", 0, "FILE",
       "page to write, tables beside it; default report.html"},
  };
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
