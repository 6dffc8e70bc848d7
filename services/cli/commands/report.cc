#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/util/message_differencer.h"
#include "model/catalog/catalog.h"
#include "report/figure.h"
#include "report/grid.h"
#include "report/json_values.h"
#include "report/metrics.h"
#include "report/page.h"
#include "report/runs/losses.h"
#include "report/runs/numbers.h"
#include "report/runs/runs.h"
#include "report/source.h"
#include "services/cli/commands/catalogue.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/listing.h"
#include "services/cli/commands/parts.h"
#include "services/cli/commands/report_files.h"
#include "services/cli/commands/submission.h"
#include "services/cli/download.h"
#include "services/cli/names.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

using google::protobuf::Struct;
using jobs::v1::Job;
using reports::v1::ListReportsRequest;
using reports::v1::ListReportsResponse;
using reports::v1::Report;
using reports::v1::ReportsService;

constexpr char kResultFile[] = "result.json";
constexpr char kItemsFile[] = "items.jsonl";
constexpr size_t kMaxResultBytes = 16 << 20;

// Whether it has one report of all that it did.
bool HasSummary(const Job& job) {
  return !job.parts().empty() || job.spec().kind() == jobs::v1::JobSpec::GATE;
}

// Of a training job the newest report of each evaluation; of an evaluating job
// all, for there each is of a checkpoint of its own, in the order in which they
// were evaluated.
std::vector<Report> Choose(const Job& job, const std::vector<Report>& all) {
  std::vector<Report> chosen;
  std::map<std::string, size_t> places;
  for (const Report& report : all) {  // Newest first.
    const std::string key = job.spec().kind() == jobs::v1::JobSpec::EVALUATE
                                ? report.name()
                                : EvaluationName(job, report);
    const auto [place, added] = places.emplace(key, chosen.size());
    if (added) {
      chosen.push_back(report);
    } else if (report.step() > chosen[place->second].step()) {
      chosen[place->second] = report;
    }
  }
  if (job.spec().kind() == jobs::v1::JobSpec::EVALUATE) {
    std::reverse(chosen.begin(), chosen.end());
  }
  return chosen;
}

// Of a job of which nothing is there to be shown: what to do.
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
  metrics.evaluation = EvaluationName(job, report);
  metrics.task = report.task();
  metrics.values = {report.metrics().begin(), report.metrics().end()};
  return metrics;
}

// The file of a report, or nothing where it has none of that name.
absl::StatusOr<std::string> FetchIfThere(Context& context, const Report& report,
                                         const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const ResourceName name,
                        ParseResourceName(report.name()));
  for (const auto& info : report.files()) {
    if (info.path() != path) continue;
    return DownloadToMemory(context, {name, info}, kMaxResultBytes);
  }
  return std::string();
}

// The items of an evaluation; nothing where they are too many to be fetched.
absl::StatusOr<std::string> FetchItems(Context& context, const Report& report) {
  for (const auto& info : report.files()) {
    if (info.path() != kItemsFile) continue;
    if (info.size_bytes() > static_cast<int64_t>(kMaxResultBytes)) break;
    return FetchIfThere(context, report, kItemsFile);
  }
  return std::string();
}

// What can be drawn of an evaluation. Of addition the page is made; of others
// there are the numbers all the same.
absl::Status FetchFigures(Context& context, const Report& report,
                          report::runs::Evaluated* evaluated) {
  report::runs::InsideFiles files;
  ORDO_ASSIGN_OR_RETURN(files.result,
                        FetchIfThere(context, report, kResultFile));
  ORDO_ASSIGN_OR_RETURN(files.items, FetchItems(context, report));
  if (report::runs::LooksInside(report.task())) {
    ORDO_ASSIGN_OR_RETURN(
        files.maps, FetchIfThere(context, report, report::runs::kMapsFile));
    ORDO_ASSIGN_OR_RETURN(
        files.curves, FetchIfThere(context, report, report::runs::kCurvesFile));
  }
  const absl::Status read =
      base::AddContext(report::runs::ReadFiles(files, evaluated),
                       absl::StrCat(report.name(), ":", kResultFile));
  if (read.ok() || report.task() == report::kGridTask) return read;
  context.err << "ordo: no figures: " << read.message() << "\n";
  return absl::OkStatus();
}

// The losses that the attempts of a job recorded.
absl::StatusOr<std::map<int64_t, double>> FetchLosses(Context& context,
                                                      const Job& job) {
  std::map<int64_t, double> losses;
  for (const jobs::v1::Attempt& attempt : job.attempts()) {
    jobs::v1::ReadLogsRequest request;
    request.set_name(job.name());
    request.set_attempt(attempt.number());
    request.set_metrics(true);
    const std::unique_ptr<grpc::ClientContext> call =
        context.client.StreamContext();
    const auto reader = context.client.jobs().ReadLogs(call.get(), request);
    std::string jsonl;
    jobs::v1::ReadLogsResponse response;
    while (reader->Read(&response)) jsonl += response.data();
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return context.client.Explain(status);
    report::runs::AddLosses(jsonl, &losses);
  }
  return losses;
}

// Its digest is not known where the scheduler knows nothing of the checkpoint
// any more.
absl::StatusOr<report::SourceModel> FindCheckpoint(Context& context,
                                                   const std::string& name) {
  checkpoints::v1::GetCheckpointRequest request;
  request.set_name(name);
  const auto checkpoint = context.client.Call(
      context.client.checkpoints(),
      &checkpoints::v1::CheckpointsService::Stub::GetCheckpoint, request);
  if (absl::IsNotFound(checkpoint.status())) {
    return report::SourceModel{name, ""};
  }
  ORDO_RETURN_IF_ERROR(checkpoint.status());
  return report::SourceModel{checkpoint->name(), checkpoint->manifest_sha256()};
}

// The checkpoint that a report is about.
absl::StatusOr<report::SourceModel> SourceModelOf(Context& context,
                                                  const Job& job,
                                                  const Report& report) {
  if (report.checkpoint().empty()) {
    return report::SourceModel{ShortName(job.name()), ""};
  }
  return FindCheckpoint(context, report.checkpoint());
}

// What is to be shown of all jobs.
struct Results {
  // That shows it again.
  std::string command;
  report::runs::Runs runs;
  // Names of reports that were taken over, and of those that they are from.
  std::map<std::string, std::string> taken_from;
};

// The newest checkpoint of the job, if it has one.
absl::StatusOr<report::FigureSource> SourceOfTraining(Context& context,
                                                      const std::string& job,
                                                      const Results& results) {
  report::FigureSource source{job, {}, results.command};
  ORDO_ASSIGN_OR_RETURN(
      const report::SourceModel model,
      FindCheckpoint(context,
                     absl::StrCat("jobs/", job, "/checkpoints/latest")));
  if (!model.checkpoint_sha256.empty()) source.models.push_back(model);
  return source;
}

// Of the data of a job that trains on text; empty of others.
std::string TokenizerOf(const training::v1::Data& data) {
  constexpr char kTokenizer[] = "tokenizer";
  const auto given = data.params().find(kTokenizer);
  if (given != data.params().end()) return given->second.string_value();
  const auto* entry =
      model::catalog::Find(model::catalog::Kind::kTrainingTask, data.task());
  const auto* param = entry == nullptr
                          ? nullptr
                          : model::catalog::FindParam(*entry, kTokenizer);
  return param == nullptr ? ""
                          : model::catalog::DefaultValue(*param).string_value();
}

// Whether there are any.
absl::StatusOr<bool> CollectLosses(Context& context, const Job& job,
                                   Results* results) {
  report::runs::Trained trained;
  trained.model = ShortName(job.name());
  auto losses = FetchLosses(context, job);
  if (!losses.ok()) {
    context.err << "ordo: no training losses of " << trained.model << ": "
                << losses.status().message() << "\n";
    return false;
  }
  if (losses->empty()) return false;
  trained.losses = *std::move(losses);
  trained.tokenizer = TokenizerOf(job.spec().data());
  ORDO_ASSIGN_OR_RETURN(trained.source,
                        SourceOfTraining(context, trained.model, *results));
  results->runs.trained.push_back(std::move(trained));
  return true;
}

// Among them that the scores of an evaluation may mean nothing.
void AddNotices(const Job& job, report::runs::Runs* runs) {
  for (const std::string& notice : job.notices()) {
    runs->notices.push_back(
        absl::StrCat(ShortName(job.name()), ": ", Printable(notice)));
  }
}

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
    report::runs::Evaluated evaluated;
    evaluated.metrics = MetricsOf(job, report);
    if (!report.taken_from().empty()) {
      results->taken_from[report.name()] = report.taken_from();
    }
    if (job.spec().has_encoding()) {
      evaluated.encoding = EncodingText(job.spec().encoding(), true);
    }
    ORDO_ASSIGN_OR_RETURN(report::SourceModel model,
                          SourceModelOf(context, job, report));
    evaluated.source = {
        ShortName(job.name()), {std::move(model)}, results->command};
    ORDO_RETURN_IF_ERROR(FetchFigures(context, report, &evaluated));
    const std::string& evaluation = evaluated.metrics.evaluation;
    if (evaluated.grid.has_value() &&
        job.spec().kind() != jobs::v1::JobSpec::EVALUATE &&
        evaluation != report::kGridTask) {
      absl::StrAppend(&evaluated.grid->name, " ", evaluation);
    }
    results->runs.evaluations.push_back(std::move(evaluated));
  }
  AddNotices(job, &results->runs);
  bool has_losses = false;
  if (job.spec().kind() != jobs::v1::JobSpec::EVALUATE) {
    ORDO_ASSIGN_OR_RETURN(has_losses, CollectLosses(context, job, results));
  }
  if (!reports.empty() || has_losses) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      ShortName(job.name()), " has no reports; it is ",
      Job::State_Name(job.state()), ", ", AdviceWithoutReports(job)));
}

// Of addition.
void PrintGrids(Context& context, const report::runs::Runs& runs) {
  Table table({"MODEL", ">STEP", ">ALL LENGTHS", ">TRAINED", ">LONGER",
               ">EQUAL LENGTHS", ">LONGEST 95 %", ">SUMS"});
  bool has_grid = false;
  for (const report::runs::Evaluated& each : runs.evaluations) {
    if (!each.grid.has_value()) continue;
    has_grid = true;
    const report::GridSummary summary = report::Summarize(*each.grid);
    table.AddRow(
        {each.grid->name, absl::StrCat(each.grid->step),
         report::ShareText(summary.all), report::ShareText(summary.trained),
         report::ShareText(summary.outside),
         report::ShareText(summary.diagonal), absl::StrCat(summary.largest_95),
         absl::StrCat(summary.all.samples)});
  }
  if (!has_grid) return;
  context.out
      << table.ToString(context.terminal)
      << "right answers, with 95 % intervals over the questions asked\n";
}

// Of all others.
void PrintMetrics(Context& context, const report::runs::Runs& runs) {
  const bool has_tokenizer = std::any_of(
      runs.evaluations.begin(), runs.evaluations.end(),
      [](const auto& each) { return !each.metrics.tokenizer.empty(); });
  std::vector<std::string> headings = {"MODEL",  ">STEP",  "EVALUATION",
                                       "METRIC", ">VALUE", ">STANDARD ERROR",
                                       ">ITEMS"};
  if (has_tokenizer) headings.push_back("TOKENIZER");
  Table table(std::move(headings));
  bool has_metrics = false;
  bool has_items = false;
  for (const report::runs::Evaluated& each : runs.evaluations) {
    if (each.grid.has_value()) continue;
    has_metrics = true;
    has_items = has_items || !each.metrics.sampled.empty();
    const report::Metrics shown = report::WithoutCopies(each.metrics);
    for (const auto& [name, value] : report::InOrder(shown.values)) {
      std::vector<Cell> row = {each.metrics.model,
                               absl::StrCat(each.metrics.step),
                               each.metrics.evaluation,
                               name,
                               report::ValueText(each.metrics, name),
                               report::ErrorText(each.metrics, name),
                               report::ItemsText(each.metrics, name)};
      if (has_tokenizer) row.push_back(each.metrics.tokenizer);
      table.AddRow(std::move(row));
    }
  }
  if (has_metrics) context.out << table.ToString(context.terminal);
  if (has_items) context.out << report::kAboutItems << "\n";
}

// Of a job that trained, and of which nothing was evaluated.
void PrintTraining(Context& context, const report::runs::Runs& runs) {
  Table table({"MODEL", ">LAST STEP", ">TRAINING LOSS"});
  bool has_losses = false;
  for (const report::runs::Trained& each : runs.trained) {
    if (each.losses.empty()) continue;
    has_losses = true;
    const auto& [step, loss] = *each.losses.rbegin();
    table.AddRow({each.model, absl::StrCat(step), report::NumberText(loss)});
  }
  if (has_losses && runs.evaluations.empty()) {
    context.out << table.ToString(context.terminal);
  }
}

// Which of the results were evaluated by another job, and what was worth
// knowing of the jobs when they were submitted.
void PrintRemarks(Context& context, const Results& results) {
  for (const auto& [report, source] : results.taken_from) {
    context.out << report << " was taken over from " << source << "\n";
  }
  for (const std::string& notice : results.runs.notices) {
    context.out << notice << "\n";
  }
}

Struct ToStruct(const Results& results, const std::string& html) {
  Struct json = report::runs::ToJson(results.runs);
  auto& fields = *json.mutable_fields();
  fields["html"] = report::TextValue(html);
  if (!results.taken_from.empty()) {
    Struct taken_from;
    for (const auto& [name, source] : results.taken_from) {
      (*taken_from.mutable_fields())[name] = report::TextValue(source);
    }
    fields["taken_from"] = report::StructValue(std::move(taken_from));
  }
  return json;
}

// Draws one figure as PNG beside the page and gives it back as SVG.
absl::StatusOr<std::string> DrawBoth(Context& context,
                                     const report::Figure& figure,
                                     const std::string& stem) {
  ORDO_RETURN_IF_ERROR(report::Draw(context.files, figure,
                                    report::FigureForm::kPng, stem + ".png"));
  ORDO_RETURN_IF_ERROR(report::Draw(context.files, figure,
                                    report::FigureForm::kSvg, stem + ".svg"));
  return base::ReadFile(context.files, stem + ".svg", 64 << 20);
}

// Beside the page: as CSV and JSON. Adds their paths.
absl::Status WriteNumbers(Context& context, const std::string& html,
                          const Results& results,
                          std::set<std::string>* paths) {
  const std::string stem = StemOf(html);
  const auto write = [&](const std::string& path, const std::string& text) {
    paths->insert(path);
    return base::AtomicWrite(context.files, path, text);
  };
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(base::FolderOf(html)));
  ORDO_RETURN_IF_ERROR(
      write(stem + "-metrics.csv", report::runs::MetricsCsv(results.runs)));
  const std::string losses = report::runs::LossesCsv(results.runs);
  if (!losses.empty()) {
    ORDO_RETURN_IF_ERROR(write(stem + "-losses.csv", losses));
  }
  return write(stem + ".json", base::WriteMessage(ToStruct(results, html),
                                                  base::TextForm::kJson));
}

// The SVG of each figure that was drawn beside the page, whose paths it adds;
// says which trouble there was with the others.
std::vector<std::string> DrawBeside(Context& context, const std::string& html,
                                    const report::Page& page,
                                    std::set<std::string>* paths) {
  std::vector<std::string> svgs;
  for (const report::NamedFigure& named : page.figures) {
    const std::string stem = absl::StrCat(StemOf(html), "-", named.name);
    auto svg = DrawBoth(context, named.figure, stem);
    if (!svg.ok()) {
      context.err << "ordo: the page lacks figures: " << svg.status().message()
                  << "\n";
      break;
    }
    paths->insert({stem + ".png", stem + ".svg"});
    svgs.push_back(*std::move(svg));
  }
  return svgs;
}

// As HTML and as Markdown; adds their paths and those of the figures, and gives
// how many figures these have.
absl::StatusOr<size_t> WritePage(Context& context, const std::string& html,
                                 report::Page page,
                                 std::set<std::string>* paths) {
  page.created = "Written by Ordo on " +
                 absl::FormatTime("%Y-%m-%d %H:%M %Z", context.clock.Now(),
                                  absl::LocalTimeZone());
  const std::vector<std::string> svgs = DrawBeside(context, html, page, paths);
  const std::vector<std::string> figures =
      report::FigureFiles(page, svgs.size(), base::NameOf(StemOf(html)) + "-");
  const std::string markdown = StemOf(html) + ".md";
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      context.files, markdown, report::RenderMarkdown(page, figures)));
  ORDO_RETURN_IF_ERROR(
      base::AtomicWrite(context.files, html, report::RenderPage(page, svgs)));
  paths->insert({markdown, html});
  return svgs.size();
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
  const report::runs::Runs& runs = results.runs;
  if (context.output == OutputForm::kTable) {
    PrintGrids(context, runs);
    PrintMetrics(context, runs);
    PrintTraining(context, runs);
    PrintRemarks(context, results);
  }
  std::set<std::string> paths;
  ORDO_RETURN_IF_ERROR(WriteNumbers(context, html, results, &paths));
  ORDO_ASSIGN_OR_RETURN(
      const size_t num_figures,
      WritePage(context, html, report::runs::MakePage(runs), &paths));
  ORDO_RETURN_IF_ERROR(ReplaceReport(context, html, paths));
  if (PrintStructured(context, ToStruct(results, html))) return ExitCode::kOk;
  const std::string stem = StemOf(html);
  context.out << "wrote " << html << ", " << stem << ".md, " << stem
              << ".json and " << stem << "-metrics.csv"
              << (num_figures == 0
                      ? "\n"
                      : "; the figures lie beside them as PNG and SVG\n");
  return ExitCode::kOk;
}

}  // namespace

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.arguments = "JOB...";
  command.summary = "results of jobs as a table and a page with figures";
  command.help =
      "Prints the metrics of every evaluation, with standard errors where "
      "they\n"
      "are known, and writes them as CSV and JSON, and one HTML file that "
      "needs\n"
      "nothing else, and Markdown, with the figures of each task: training\n"
      "losses; error or perplexity against length (over several tokenizers "
      "bits\n"
      "per byte), with the trained length\n"
      "marked; heat maps of operands or depths; scores by group; attention\n"
      "maps, and what stability and position_similarity saw. The figures lie\n"
      "beside it as PNG and SVG; they need gnuplot-nox, without which they "
      "are\n"
      "left out.\n"
      "Of a sweep, comparison or pipeline it prints the report that was "
      "written\n"
      "when its parts had ended, of a gate the one with its verdict, or with "
      "-o json\n"
      "its numbers, and writes its page and, beside it, its other files.\n"
      "All files of the report before it, which report-files.txt names, are\n"
      "replaced or removed.";
  command.options = {
      {"html", 0, "FILE",
       "page to write, others beside it; default report.html"},
  };
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
