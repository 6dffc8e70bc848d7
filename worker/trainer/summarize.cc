#include "worker/trainer/summarize.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/records/records.h"
#include "base/status/status.h"
#include "model/evaluation/report.h"
#include "model/training/durable_folder.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "report/lengths.h"
#include "report/page.h"
#include "report/summary/figures.h"
#include "report/summary/results.h"
#include "report/summary/summary.h"
#include "worker/trainer/exit_code.h"
#include "worker/trainer/part_records.h"
#include "worker/trainer/summary_report.h"

namespace ordo::worker::trainer {
namespace {

using model::training::NamedBytes;
using ordo::training::v1::ExitCode;
using ordo::training::v1::PartResult;
using ordo::training::v1::ProgressRecord;
using ordo::training::v1::SummarizeSpec;
using report::summary::Curve;
using report::summary::Summary;

constexpr size_t kMaxResultBytes = 16 << 20;

// What the attempts of a part recorded of their steps.
struct History {
  std::map<int64_t, double> losses;
  // The most of all attempts; 0: not known.
  int64_t peak_memory_bytes = 0;
};

// Adds what an attempt recorded. Its losses take the place of those that
// earlier attempts recorded of these steps.
absl::Status AddAttempt(base::Filesystem& files, const std::string& path,
                        History* history) {
  base::RecordReader reader(files, path);
  while (true) {
    ORDO_ASSIGN_OR_RETURN(const std::optional<std::string> payload,
                          reader.Next());
    if (!payload.has_value()) return absl::OkStatus();
    ProgressRecord record;
    if (!record.ParseFromString(*payload)) {
      return absl::DataLossError(
          absl::StrCat(path, " has no record at byte ", reader.offset()));
    }
    if (record.has_started()) {
      history->losses.erase(
          history->losses.upper_bound(record.started().start_step()),
          history->losses.end());
    }
    if (record.has_step()) {
      history->losses[record.step().step()] = record.step().loss();
      history->peak_memory_bytes = std::max<int64_t>(
          history->peak_memory_bytes, record.step().peak_memory_bytes());
    }
  }
}

History HistoryOf(const TrainerContext& context, const PartResult& part,
                  Progress* progress) {
  History history;
  for (int attempt = 1; attempt <= part.attempts(); ++attempt) {
    const std::string path = base::JoinPath(
        context.storage_root, absl::StrCat("jobs/", part.job(), "/attempts/",
                                           attempt, "/progress.records"));
    const absl::Status status = AddAttempt(context.files, path, &history);
    if (!status.ok()) {
      progress->Warning(absl::StrCat("the learning curve of ", part.job(),
                                     " is not whole: ", status.message()));
    }
  }
  return history;
}

// What is known of the reports of a part; of those that cannot be read nothing.
void AddSpreads(const TrainerContext& context, const PartResult& part,
                report::summary::Records* records) {
  for (const auto& counted : report::summary::CountedReports(part)) {
    const std::string& path = counted.report->path();
    const auto text = base::ReadFile(
        context.files,
        base::JoinPath(base::JoinPath(context.storage_root, path),
                       model::evaluation::kResultFile),
        kMaxResultBytes);
    if (!text.ok()) continue;
    auto of_report = report::summary::ParseSpreads(*text);
    if (of_report.ok()) records->spreads[path] = *std::move(of_report);
    const auto lengths = report::ParseLengths(*text);
    if (lengths.ok() && !lengths->tokenizer.empty()) {
      records->tokenizers.insert(lengths->tokenizer);
    }
  }
}

// All files of the report.
std::vector<NamedBytes> Render(const TrainerContext& context,
                               const SummarizeSpec& spec,
                               const Summary& summary, Progress* progress) {
  DrawnFigures drawn =
      DrawFigures(context, spec.attempt(), summary.figures, progress);
  std::vector<NamedBytes> contents = std::move(drawn.files);
  contents.push_back({"report.html", RenderPage(summary, drawn.svgs)});
  contents.push_back(
      {"report.md",
       RenderMarkdown(summary, FigureFiles(summary, drawn.svgs.size()))});
  contents.push_back({"result.json", summary.json});
  contents.push_back({"values.csv", summary.csv});
  if (!summary.differences_csv.empty()) {
    contents.push_back({"differences.csv", summary.differences_csv});
  }
  if (!summary.lengths_csv.empty()) {
    contents.push_back({"lengths.csv", summary.lengths_csv});
  }
  if (!summary.cells_csv.empty()) {
    contents.push_back({"cells.csv", summary.cells_csv});
  }
  return contents;
}

// CANCELLED when it was asked to stop.
absl::Status WriteSummary(const TrainerContext& context,
                          const SummarizeSpec& spec, const Summary& summary,
                          Progress* progress) {
  ordo::training::v1::ReportWritten report;
  report.set_id(spec.kind());
  report.set_kind(spec.kind());
  report.set_folder(absl::StrCat("results/", report.id(), "-", spec.attempt()));
  report.mutable_metrics()->insert(summary.metrics.begin(),
                                   summary.metrics.end());
  return WriteSummaryReport(context, std::move(report),
                            Render(context, spec, summary, progress), progress);
}

absl::StatusOr<ExitCode> SumUp(const TrainerContext& context,
                               const SummarizeSpec& spec, Progress* progress) {
  const auto& finished = spec.finished_reports();
  if (std::find(finished.begin(), finished.end(), spec.kind()) ==
      finished.end()) {
    report::summary::Records records;
    for (int i = 0; i < spec.parts_size(); ++i) {
      if (context.stop_requested()) return ordo::training::v1::STOPPED;
      const PartResult& part = spec.parts(i);
      const History history = HistoryOf(context, part, progress);
      // Thinned out, as a sweep has a thousand; a part that did not train has
      // none.
      Curve curve{part.part(), report::summary::ThinOut(history.losses),
                  part.job()};
      if (!curve.points.empty()) records.curves.push_back(std::move(curve));
      if (spec.kind() == "comparison") {
        records.parts.push_back(ReadPartRecords(context, part, progress));
        records.parts.back().peak_memory_bytes = history.peak_memory_bytes;
      }
      AddSpreads(context, part, &records);
      ordo::training::v1::EvaluationProgress record;
      record.set_name(spec.kind());
      record.set_done(i + 1);
      record.set_total(spec.parts_size());
      progress->Evaluation(record);
    }
    if (spec.kind() == "comparison") {
      records.items = ReadArmItems(context, spec, progress);
    }
    const std::string created = absl::StrCat(
        "Made ",
        absl::FormatTime("%Y-%m-%d %H:%M UTC", context.clock.Now(),
                         absl::UTCTimeZone()),
        " by job ", spec.job(), "; again: ordo report ", spec.job());
    ORDO_ASSIGN_OR_RETURN(const Summary summary,
                          report::summary::Summarize(spec, records, created));
    const absl::Status written = WriteSummary(context, spec, summary, progress);
    if (absl::IsCancelled(written)) return ordo::training::v1::STOPPED;
    ORDO_RETURN_IF_ERROR(written);
  }
  const bool none_failed = std::all_of(spec.parts().begin(), spec.parts().end(),
                                       report::summary::EndedAsMeant);
  return none_failed ? ordo::training::v1::FINISHED
                     : ordo::training::v1::PART_FAILED;
}

std::string MessageOf(const absl::StatusOr<ExitCode>& code,
                      const SummarizeSpec& spec) {
  if (!code.ok()) return std::string(code.status().message());
  if (*code == ordo::training::v1::STOPPED) return "stopped on request";
  std::vector<std::string> failed;
  for (const PartResult& part : spec.parts()) {
    if (!report::summary::EndedAsMeant(part)) failed.push_back(part.job());
  }
  if (failed.empty()) return "all parts are summed up";
  return absl::StrCat(failed.size(), " of ", spec.parts_size(),
                      " parts did not succeed, the first is ", failed.front());
}

}  // namespace

absl::StatusOr<ExitCode> RunSummary(const TrainerContext& context,
                                    const SummarizeSpec& spec,
                                    Progress* progress) {
  ordo::training::v1::TrainerStarted started;
  started.set_build_digest(context.build_digest);
  started.set_exact(true);
  progress->Started(started);
  const absl::StatusOr<ExitCode> code = SumUp(context, spec, progress);
  ordo::training::v1::TrainerFinished finished;
  finished.set_code(code.ok() ? *code : ExitCodeOf(code.status()));
  finished.set_message(MessageOf(code, spec));
  const absl::Status told = progress->Finished(finished);
  if (code.ok() && !told.ok()) return told;
  return code;
}

}  // namespace ordo::worker::trainer
