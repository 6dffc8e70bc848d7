#include "report/summary/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"
#include "report/source.h"
#include "report/summary/comparison.h"
#include "report/summary/comparison_figures.h"
#include "report/summary/grids.h"
#include "report/summary/items.h"
#include "report/summary/lengths.h"
#include "report/summary/results.h"
#include "report/summary/tables.h"
#include "report/summary/tuning.h"
#include "report/table.h"

namespace ordo::report::summary {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using ordo::training::v1::PartResult;
using ordo::training::v1::SummarizeSpec;

constexpr char kComparisonMethod[] =
    "A seed is the unit: mean and deviation are over seeds, and a difference "
    "is taken seed by seed between runs that saw the same data. Intervals are "
    "Student's, and bootstrap intervals come of resampling seeds "
    "(studentized); both hold for all arms together. p values are of the "
    "paired t test and of the sign-flip test, corrected for the number of arms "
    "(Holm: the least of k is multiplied by k), not for the number of scores. "
    "So n seeds let p (flips) not fall below k 2^(1-n), with 3 seeds 0.25 of "
    "one arm and 1 of four; where that is above what is to be shown, only "
    "Student's t tells arms apart, which takes differences to be about normal. "
    "Costs are over the seeds of which all arms finished. What needs "
    "more seeds than there are is -: most things need two, a bootstrap "
    "interval at 0.95 at least four. So are the intervals of seeds that score, "
    "or differ, alike, whose p (t) is 1: how far other seeds would vary is not "
    "known. Figures cut intervals where values end, of shares at 0 and 1, of "
    "their differences at -1 and 1, of costs at 0; tables do not.";
constexpr char kItemMethod[] =
    " Differences by item are of the checkpoints that these seeds made, and "
    "say "
    "nothing of other seeds: an item's score under the arm less that under the "
    "baseline, more being better, seed by seed. Their intervals are those of "
    "a gate over units, which are items, or what items are drawn with, each "
    "with all its seeds: of right and wrong answers by the counts that got "
    "better and worse (Tango's score, corrected); of other scores by "
    "resampling units (studentized), and where fewer than 20 units differ by "
    "the exact bounds of the shares of units that got better and worse, each "
    "by as much as the score allows, which never leave out 0, and are - where "
    "scores have no bounds. They hold for all arms of an evaluation together.";
// Name of the figure that shows each run, whatever became of it.
constexpr char kCurvesOfRuns[] = "learning-curves";
constexpr char kSweepMethod[] = "Each row of scores is one job; ";
constexpr char kPipelineMethod[] =
    "Each row of scores is one score of one checkpoint; ";
constexpr char kOtherMethod[] =
    "brackets, where there are some, hold 95 % intervals over the questions, "
    "of shares Wilson's, which say nothing about another seed. Means "
    "over seeds are of runs that succeeded and differ in nothing but "
    "training.seed; their intervals, Student's at 95 %, are over seeds, and - "
    "where these score alike: how far others would vary is not known.";

// Which parts a figure shows.
struct Shown {
  // Those that did not succeed, or are no runs, too.
  bool is_all = false;
  // Of this arm alone; empty: of any.
  std::string arm = {};
};

// The newest checkpoint of each part that trained, by its job, and those that
// the others evaluated, each once.
FigureSource SourceOf(const SummarizeSpec& spec, const Shown& shown) {
  FigureSource source{spec.job(), {}, absl::StrCat("ordo report ", spec.job())};
  std::vector<const PartResult*> others;
  std::set<std::string> named;
  for (const PartResult& part : spec.parts()) {
    const bool is_compared = HasSucceeded(part) && IsRun(part);
    const bool is_of_arm = shown.arm.empty() || part.part() == shown.arm;
    if (!is_of_arm || (!shown.is_all && !is_compared)) continue;
    if (part.checkpoint().name().empty()) {
      others.push_back(&part);
      continue;
    }
    named.insert(part.checkpoint().name());
    source.models.push_back({part.job(), part.checkpoint().manifest_sha256()});
  }
  for (const PartResult* part : others) {
    for (const PartResult::Report& report : part->reports()) {
      if (!report.checkpoint().empty() &&
          named.insert(report.checkpoint()).second) {
        source.models.push_back(
            {report.checkpoint(), report.checkpoint_sha256()});
      }
    }
  }
  return source;
}

Value IntervalValue(const stats::Interval& interval) {
  return ListOf(std::vector<double>{interval.low, interval.high}, NumberOrNull);
}

Value ArmValue(const stats::ArmSummary& arm) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["arm"] = TextValue(arm.name);
  map["mean"] = NumberOrNull(arm.mean);
  map["deviation"] = NumberOrNull(arm.deviation);
  map["interval"] = IntervalValue(arm.interval);
  return StructValue(std::move(fields));
}

Value DifferenceValue(const stats::ArmDifference& difference, double relative) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["arm"] = TextValue(difference.name);
  map["mean"] = NumberOrNull(difference.mean);
  map["relative"] = NumberOrNull(relative);
  map["deviation"] = NumberOrNull(difference.deviation);
  map["interval"] = IntervalValue(difference.interval);
  map["bootstrap"] = IntervalValue(difference.bootstrap);
  map["t_p"] = NumberOrNull(difference.t_p);
  map["t_p_adjusted"] = NumberOrNull(difference.t_p_adjusted);
  map["flip_p"] = NumberOrNull(difference.flip_p);
  map["flip_p_adjusted"] = NumberOrNull(difference.flip_p_adjusted);
  return StructValue(std::move(fields));
}

Value CostValue(const ArmCost& cost) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["seeds"] = NumberOrNull(cost.num_seeds);
  map["parameters"] = NumberOrNull(static_cast<double>(cost.num_parameters));
  map["encoding_parameters"] =
      NumberOrNull(static_cast<double>(cost.num_encoding_parameters));
  map["step_flops"] = NumberOrNull(cost.step_flops);
  map["step_device_seconds"] = NumberOrNull(cost.step_device_seconds);
  map["device_seconds"] = NumberOrNull(cost.device_seconds);
  map["peak_memory_bytes"] = NumberOrNull(cost.peak_memory_bytes);
  return StructValue(std::move(fields));
}

Value TrialValue(const Trial& trial) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["arm"] = TextValue(trial.part->trial_of());
  map["job"] = TextValue(trial.part->job());
  map["learning_rate"] = NumberOrNull(trial.part->control().learning_rate());
  map["score"] = NumberOrNull(trial.score);
  map["chosen"] = BoolValue(trial.is_chosen);
  return StructValue(std::move(fields));
}

Value MetricValue(const Comparison& comparison, const ComparedMetric& metric) {
  Struct fields;
  auto& map = *fields.mutable_fields();
  map["evaluation"] = TextValue(metric.key.evaluation);
  map["score"] = TextValue(metric.key.metric);
  map["values"] = ListOf(metric.scores, [](const auto& row) {
    return ListOf(row, [](const std::optional<Scored>& score) {
      return NumberOrNull(score.has_value() ? score->value : NAN);
    });
  });
  if (metric.comparison.has_value()) {
    map["seeds"] = NumberOrNull(metric.comparison->num_seeds);
    if (metric.num_items > 0) {
      map["items"] = NumberOrNull(static_cast<double>(metric.num_items));
    }
    map["arms"] = ListOf(metric.comparison->arms, ArmValue);
    map["differences"] = ListOf(
        metric.comparison->differences,
        [&](const stats::ArmDifference& difference) {
          return DifferenceValue(
              difference, RelativeDifference(comparison, metric, difference));
        });
  }
  return StructValue(std::move(fields));
}

Value PartValue(const PartResult& part) {
  Value value;
  // As its message is written: the same names as everywhere.
  const auto status =
      base::ReadMessage(base::WriteMessage(part, base::TextForm::kJson),
                        base::TextForm::kJson, value.mutable_struct_value());
  if (!status.ok()) value = TextValue(part.job());
  return value;
}

void AddComparison(const Comparison& comparison, Struct* json) {
  auto& map = *json->mutable_fields();
  const Control& control = comparison.control;
  map["controlled"] = BoolValue(control.reasons.empty());
  map["why_not_controlled"] = ListOf(control.reasons, TextValue);
  map["differs_as_asked"] = ListOf(control.differences, TextValue);
  map["arms"] = ListOf(comparison.arms, TextValue);
  map["baseline"] = TextValue(comparison.arms[comparison.baseline]);
  map["seeds"] = ListOf(comparison.seeds, [](uint64_t seed) {
    return TextValue(absl::StrCat(seed));
  });
  map["confidence"] = NumberOrNull(comparison.confidence);
  const auto value_of = [&](const ComparedMetric& metric) {
    return MetricValue(comparison, metric);
  };
  map["scores"] = ListOf(comparison.metrics, value_of);
  // In the order of the arms.
  map["costs"] = ListOf(comparison.costs, CostValue);
  map["compared_costs"] = ListOf(comparison.compared_costs, value_of);
}

void AddComparedMetrics(const Comparison& comparison, Summary* summary) {
  summary->metrics["controlled"] = comparison.control.reasons.empty() ? 1 : 0;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (!metric.comparison.has_value()) continue;
    for (const auto& difference : metric.comparison->differences) {
      summary->metrics[absl::StrCat("difference_", metric.key.evaluation, "_",
                                    metric.key.metric, "_", difference.name)] =
          difference.mean;
    }
  }
}

void AddLead(const Control& control, Summary* summary) {
  std::vector<std::string>& lead = summary->lead;
  if (control.reasons.empty()) {
    lead.push_back(
        "Controlled: for each seed the runs saw the same data in the same "
        "order, began with the same values outside of the encoding and were "
        "asked the same questions, with one build of the trainer, the same "
        "libraries and threads, on one kind of device, in one precision; "
        "computing them again gives the same, and "
        "each attempt went on exactly where the one before was.");
  } else {
    lead.push_back("Not controlled:");
    lead.insert(lead.end(), control.reasons.begin(), control.reasons.end());
  }
  if (control.differences.empty()) return;
  lead.push_back("But for this, in which the arms are to differ:");
  lead.insert(lead.end(), control.differences.begin(),
              control.differences.end());
}

absl::Status AddItems(const std::vector<ArmItems>& items, double confidence,
                      Summary* summary, Struct* json) {
  if (items.empty()) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const auto differences,
                        CompareItems(items, confidence));
  summary->tables.push_back(ItemTable(differences));
  summary->method += kItemMethod;
  (*json->mutable_fields())["item_differences"] =
      ListOf(differences, ItemValue);
  return absl::OkStatus();
}

void Append(std::vector<NamedFigure> figures, Summary* summary) {
  summary->figures.insert(summary->figures.end(),
                          std::make_move_iterator(figures.begin()),
                          std::make_move_iterator(figures.end()));
}

// Each names the checkpoints of its arm alone.
std::vector<NamedFigure> GridFiguresOfArms(const SummarizeSpec& runs,
                                           const std::vector<ArmGrid>& grids) {
  std::vector<NamedFigure> figures = GridFigures(grids);
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i].figure.source =
        SourceText(SourceOf(runs, {false, grids[i].grid.name}));
  }
  return figures;
}

// Which tokenizers there are, and what is not compared over several.
void AddTokenizers(const Tokenizers& all, Summary* summary) {
  for (const auto& [evaluation, tokenizers] : all) {
    summary->lead.push_back(
        TokenizersDiffer(all, evaluation)
            ? absl::StrCat("Tokenizers of ", evaluation,
                           " differ: nothing by token, such as perplexity and "
                           "training loss, is compared, and figures by length "
                           "are in bits per byte.")
            : absl::StrCat("Tokenizer of ", evaluation, ": ",
                           tokenizers.begin()->first, "."));
  }
}

// Whether one of the evaluations says so: losses are by token.
bool AnyTokenizersDiffer(const Tokenizers& all) {
  return std::any_of(all.begin(), all.end(), [&all](const auto& of_evaluation) {
    return TokenizersDiffer(all, of_evaluation.first);
  });
}

void AddCurvesOfRuns(const std::vector<Curve>& curves, Summary* summary) {
  if (curves.empty()) return;
  summary->figures.push_back({kCurvesOfRuns,
                              "Training loss of each run; runs of one part "
                              "have one colour.",
                              LearningCurves(curves)});
}

absl::Status AddComparison(const SummarizeSpec& spec, const Records& records,
                           Summary* summary, Struct* json) {
  const SummarizeSpec runs = RunsOf(spec);
  const std::vector<PartRecords> of_runs = RecordsOfRuns(spec, records.parts);
  ORDO_ASSIGN_OR_RETURN(Comparison comparison,
                        Compare(runs, of_runs, records.spreads));
  CheckTuning(spec, records.parts, &comparison.control);
  summary->method = kComparisonMethod;
  AddLead(comparison.control, summary);
  AddTokenizers(comparison.tokenizers, summary);
  summary->tables = {ComparisonTable(comparison)};
  ORDO_RETURN_IF_ERROR(
      AddItems(records.items, comparison.confidence, summary, json));
  if (const auto trials = TrialsOf(spec); !trials.empty()) {
    summary->tables.push_back(TuningTable(spec));
    (*json->mutable_fields())["trials"] = ListOf(trials, TrialValue);
  }
  summary->tables.push_back(CostTable(comparison));
  if (!comparison.compared_costs.empty()) {
    summary->tables.push_back(CostComparisonTable(comparison));
  }
  summary->differences_csv = ToCsv(DifferenceTable(comparison));
  const auto lengths = CompareLengths(runs, comparison, of_runs);
  if (!lengths.empty()) summary->lengths_csv = ToCsv(LengthTable(lengths));
  const auto grids = ArmGrids(runs, comparison, of_runs);
  if (!grids.empty()) summary->cells_csv = ToCsv(CellTable(grids));
  // Those first that are looked at first.
  Append(DifferenceFigures(comparison), summary);
  Append(LengthFigures(lengths), summary);
  Append(GridFiguresOfArms(runs, grids), summary);
  Append(StepFigures(runs, comparison), summary);
  if (!AnyTokenizersDiffer(comparison.tokenizers)) {
    Append(LossFigures(spec, records.curves), summary);
    AddCurvesOfRuns(records.curves, summary);
  }
  Append(CostFigures(comparison), summary);
  AddComparedMetrics(comparison, summary);
  AddComparison(comparison, json);
  return absl::OkStatus();
}

void AddVerdicts(const SummarizeSpec& spec, Summary* summary) {
  for (const PartResult& part : spec.parts()) {
    const std::string verdict = VerdictOf(part);
    if (verdict.empty()) continue;
    summary->lead.push_back(absl::StrCat("Gate ", part.part(), ": ", verdict,
                                         " Its own report: ordo report ",
                                         part.job()));
  }
}

// Of a sweep or pipeline.
absl::Status AddScores(const SummarizeSpec& spec, const Results& results,
                       const Records& records, Summary* summary) {
  if (spec.kind() != "sweep" && spec.kind() != "pipeline") {
    return base::InvalidField(
        "kind", absl::StrCat("must be sweep, comparison or pipeline, is '",
                             spec.kind(), "'"));
  }
  const bool is_pipeline = spec.kind() == "pipeline";
  summary->method =
      absl::StrCat(is_pipeline ? kPipelineMethod : kSweepMethod, kOtherMethod);
  summary->tables = {is_pipeline ? StageTable(spec, records.spreads)
                                 : ScoreTable(spec, results)};
  AddVerdicts(spec, summary);
  Table seeds = SeedTable(spec, results);
  if (!seeds.rows.empty()) summary->tables.push_back(std::move(seeds));
  if (records.tokenizers.size() > 1) {
    summary->lead.push_back(absl::StrCat(
        "Tokenizers differ (", absl::StrJoin(records.tokenizers, ", "),
        "): perplexities are not to be compared by token, nor are training "
        "losses, of which there is no figure; bits per byte are."));
    return absl::OkStatus();
  }
  if (!records.tokenizers.empty()) {
    summary->lead.push_back(
        absl::StrCat("Tokenizer: ", *records.tokenizers.begin(), "."));
  }
  AddCurvesOfRuns(records.curves, summary);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Summary> Summarize(const SummarizeSpec& spec,
                                  const Records& records,
                                  const std::string& created) {
  Summary summary;
  summary.title = absl::StrCat(spec.kind(), " ", spec.job());
  summary.created = created;
  Struct json;
  auto& map = *json.mutable_fields();
  map["job"] = TextValue(spec.job());
  map["attempt"] = NumberOrNull(spec.attempt());
  map["kind"] = TextValue(spec.kind());
  const Results results = Tabulate(spec, records.spreads);
  ORDO_RETURN_IF_ERROR(spec.kind() == "comparison"
                           ? AddComparison(spec, records, &summary, &json)
                           : AddScores(spec, results, records, &summary));
  summary.tables.push_back(PartTable(spec));
  for (NamedFigure& named : summary.figures) {
    if (!named.figure.source.empty()) continue;
    named.figure.source =
        SourceText(SourceOf(spec, {named.name == kCurvesOfRuns}));
  }
  int num_failed = 0;
  int num_stopped_early = 0;
  for (const PartResult& part : spec.parts()) {
    num_stopped_early += WasStoppedEarly(part) ? 1 : 0;
    if (EndedAsMeant(part)) continue;
    ++num_failed;
    summary.lead.push_back(absl::StrCat(part.job(), " did not succeed (",
                                        part.state(), "): ", part.message()));
  }
  summary.metrics["num_parts"] = spec.parts_size();
  summary.metrics["num_failed"] = num_failed;
  if (num_stopped_early > 0) {
    summary.metrics["num_stopped_early"] = num_stopped_early;
    summary.lead.push_back(absl::StrCat(
        num_stopped_early, " of ", spec.parts_size(),
        num_stopped_early == 1 ? " runs was" : " runs were",
        " stopped early, behind the others; what they score is of the step "
        "where that was."));
  }
  summary.csv = ToCsv(ValueTable(spec, results));
  map["parts"] = ListOf(spec.parts(), PartValue);
  summary.json = base::WriteMessage(json, base::TextForm::kJson);
  return summary;
}

}  // namespace ordo::report::summary
