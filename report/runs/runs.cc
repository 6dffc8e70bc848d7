#include "report/runs/runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "report/figure.h"
#include "report/summary/figures.h"
#include "report/summary/lengths.h"
#include "report/summary/score_kind.h"
#include "report/table.h"
#include "report/uncertainty.h"

namespace ordo::report::runs {
namespace {

constexpr char kMethod[] =
    "Each model was trained once: intervals and standard errors, where there "
    "are some, say what another draw of questions could give, and nothing "
    "about another seed of training. An error is one less "
    "the share that is right; its bars are Wilson's intervals of as many "
    "independent questions as have its standard error.";
constexpr char kGridMethod[] =
    " A sum counts as right when every digit of the answer is, found by greedy "
    "decoding; brackets hold 95 % intervals (Wilson's score interval over the "
    "pooled samples), as if all lengths were one. The standard error of a mean "
    "is of cells of given lengths: it may be smaller, and is 0 where each cell "
    "is all right or all wrong.";

// What figures of several models are made of.
FigureSource Together(const std::vector<const FigureSource*>& sources) {
  FigureSource all;
  std::vector<std::string> jobs;
  for (const FigureSource* source : sources) {
    if (std::find(jobs.begin(), jobs.end(), source->job) == jobs.end()) {
      jobs.push_back(source->job);
    }
    all.models.insert(all.models.end(), source->models.begin(),
                      source->models.end());
    all.command = source->command;
  }
  all.job = absl::StrJoin(jobs, " ");
  return all;
}

bool HasFigure(const Page& page, const std::string& name) {
  return std::any_of(
      page.figures.begin(), page.figures.end(),
      [&name](const NamedFigure& each) { return each.name == name; });
}

void Add(NamedFigure figure, const FigureSource& source, Page* page) {
  figure.figure.source = SourceText(source);
  // Two checkpoints of one step have one title.
  const std::string name = figure.name;
  for (int n = 2; HasFigure(*page, figure.name); ++n) {
    figure.name = absl::StrCat(name, "-", n);
  }
  page->figures.push_back(std::move(figure));
}

std::vector<const Evaluated*> WithGrid(const Runs& runs) {
  std::vector<const Evaluated*> with;
  for (const Evaluated& each : runs.evaluations) {
    if (each.grid.has_value()) with.push_back(&each);
  }
  return with;
}

Table GridTable(const std::vector<const Evaluated*>& all) {
  Table table;
  table.title = "Sums";
  table.num_text_columns = 2;
  table.header = {"model",         "encoding",          "step",
                  "all lengths",   "trained lengths",   "longer than trained",
                  "equal lengths", "longest with 95 %", "sums"};
  for (const Evaluated* each : all) {
    const GridSummary summary = Summarize(*each->grid);
    table.rows.push_back(
        {each->grid->name, each->encoding, absl::StrCat(each->grid->step),
         ShareText(summary.all), ShareText(summary.trained),
         ShareText(summary.outside), ShareText(summary.diagonal),
         absl::StrCat(summary.largest_95), absl::StrCat(summary.all.samples)});
  }
  return table;
}

// Every cell in numbers.
Table CellTable(const Grid& grid) {
  Table table;
  table.title = absl::StrCat("Right answers of ", grid.name, " in numbers (%)");
  table.header = {"A \\ B"};
  for (int b = 1; b <= grid.max_digits; ++b) {
    table.header.push_back(absl::StrCat(b));
  }
  for (int a = 1; a <= grid.max_digits; ++a) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(absl::StrCat(a));
    for (int b = 1; b <= grid.max_digits; ++b) {
      row.push_back(absl::StrFormat("%.0f", 100 * grid.At(a, b)));
    }
  }
  table.is_folded = true;
  return table;
}

std::string CaptionOf(const Grid& grid) {
  std::string text =
      absl::StrCat(grid.name, ": share of sums that are right in every digit, ",
                   grid.samples, " per cell.");
  if (grid.trained_digits > 0) {
    absl::StrAppend(&text, " Trained on up to ", grid.trained_digits,
                    grid.trained_digits < grid.max_digits
                        ? " digits: the outlined square."
                        : " digits.");
  }
  return text;
}

void AddGrids(const std::vector<const Evaluated*>& all, Page* page) {
  if (all.empty()) return;
  std::vector<Grid> grids;
  std::vector<const FigureSource*> sources;
  for (const Evaluated* each : all) {
    Add({FileStem(each->grid->name), CaptionOf(*each->grid),
         HeatMap(*each->grid)},
        each->source, page);
    grids.push_back(*each->grid);
    sources.push_back(&each->source);
  }
  std::string caption =
      "A and B with the same number of digits; bars are 95 % intervals.";
  if (MarkedDigits(grids) > 0) {
    caption +=
        " Right of the dashed line the sums are longer than those of training.";
  }
  Add({"equal-lengths", std::move(caption), EqualLengths(grids)},
      Together(sources), page);
}

// What models have to agree in to stand in one figure.
using LengthsKey =
    std::tuple<std::string, std::string, std::string, std::set<int64_t>>;

LengthsKey KeyOf(const Evaluated& evaluated) {
  std::set<int64_t> lengths;
  for (const auto& [length, value] : evaluated.lengths.values) {
    lengths.insert(length);
  }
  return {evaluated.metrics.evaluation, evaluated.lengths.by,
          evaluated.lengths.score, std::move(lengths)};
}

// Each model is what an arm with one seed is.
summary::ComparedLengths LengthsOf(const std::vector<const Evaluated*>& all) {
  const Lengths& first = all.front()->lengths;
  summary::ComparedLengths compared;
  compared.evaluation = all.front()->metrics.evaluation;
  compared.by = first.by;
  compared.score = first.score;
  compared.num_seeds = 1;
  compared.trained = first.trained;
  std::map<std::string, std::vector<std::string>> tokenizers;
  for (const Evaluated* each : all) {
    if (each->lengths.trained != first.trained) compared.trained = 0;
    tokenizers[each->lengths.tokenizer].push_back(each->metrics.model);
    compared.left_out.insert(each->lengths.left_out.begin(),
                             each->lengths.left_out.end());
    summary::LengthCurve& curve = compared.arms.emplace_back();
    curve.arm = each->metrics.model;
    const auto& intervals = each->lengths.intervals;
    for (const auto& [length, value] : each->lengths.values) {
      const auto found = intervals.find(length);
      const bool has = found != intervals.end();
      curve.points.push_back({length, value, has ? found->second.low : value,
                              has ? found->second.high : value});
      compared.has_bars = compared.has_bars || has;
    }
  }
  compared.tokenizers = summary::TokenizersText(tokenizers);
  return compared;
}

std::string CaptionOf(const summary::ComparedLengths& compared) {
  std::string caption =
      absl::StrCat(compared.evaluation, ": ", summary::ScoreText(compared),
                   " against ", compared.by, ", of one run of each model.");
  caption += summary::TrainedText(compared);
  if (compared.has_bars) {
    absl::StrAppend(&caption, " Bars are 95 % intervals.");
  }
  if (!compared.tokenizers.empty()) {
    absl::StrAppend(&caption, " Tokenizer: ", compared.tokenizers, ".");
  }
  if (!compared.left_out.empty()) {
    absl::StrAppend(&caption, " Left out, without a finite score: ",
                    absl::StrJoin(compared.left_out, ", "), ".");
  }
  return caption;
}

// Those of an evaluation of several tokenizers in bits per byte.
std::vector<Evaluated> Comparable(const Runs& runs) {
  std::map<std::string, std::set<std::string>> tokenizers;
  for (const Evaluated& each : runs.evaluations) {
    if (each.lengths.tokenizer.empty()) continue;
    tokenizers[each.metrics.evaluation].insert(each.lengths.tokenizer);
  }
  std::vector<Evaluated> comparable = runs.evaluations;
  for (Evaluated& each : comparable) {
    const bool is_by_token = summary::KindOf(each.lengths.score).is_by_token;
    if (is_by_token && tokenizers[each.metrics.evaluation].size() > 1) {
      each.lengths = InBitsPerByte(std::move(each.lengths));
    }
  }
  return comparable;
}

void AddLengths(const Runs& runs, Page* page) {
  std::map<LengthsKey, std::vector<const Evaluated*>> alike;
  const std::vector<Evaluated> comparable = Comparable(runs);
  for (const Evaluated& each : comparable) {
    if (each.grid.has_value() || each.lengths.values.empty()) continue;
    alike[KeyOf(each)].push_back(&each);
  }
  int number = 0;
  for (const auto& [key, all] : alike) {
    const summary::ComparedLengths compared = LengthsOf(all);
    std::vector<const FigureSource*> sources;
    for (const Evaluated* each : all) sources.push_back(&each->source);
    Add({absl::StrCat("lengths-", ++number), CaptionOf(compared),
         summary::LengthPlot(compared)},
        Together(sources), page);
  }
}

// "a copies", for figures of one evaluation of one model.
std::string TitleOf(const Evaluated& evaluated) {
  return absl::StrCat(evaluated.metrics.model, " ",
                      evaluated.metrics.evaluation);
}

void AddCells(const Evaluated& evaluated, Page* page) {
  const Cells& cells = evaluated.cells;
  if (cells.shares.empty()) return;
  const std::string title = TitleOf(evaluated);
  const bool is_outlined = cells.trained_columns > 0 && cells.trained_rows > 0;
  Add({absl::StrCat(FileStem(title), "-cells"),
       absl::StrCat(title, ": share that is right by ", cells.y_label, " and ",
                    cells.x_label, ".",
                    is_outlined ? " Trained on what is outlined." : ""),
       CellPlot(title, cells)},
      evaluated.source, page);
}

void AddGroups(const Evaluated& evaluated, Page* page) {
  if (evaluated.groups.rows.empty()) return;
  const std::string title = TitleOf(evaluated);
  Add({absl::StrCat(FileStem(title), "-groups"),
       absl::StrCat(title, ": ", evaluated.groups.score,
                    " of each group of questions."),
       GroupPlot(title, evaluated.groups)},
      evaluated.source, page);
}

void AddInside(const Evaluated& evaluated, Page* page) {
  if (!evaluated.inside.has_value()) return;
  const std::string title = TitleOf(evaluated);
  for (NamedFigure& figure :
       InsideFigures(*evaluated.inside, title, FileStem(title))) {
    Add(std::move(figure), evaluated.source, page);
  }
}

void AddCurves(const Runs& runs, Page* page) {
  // Losses by other tokens cannot be compared.
  std::map<std::string, std::vector<const Trained*>> by_tokenizer;
  for (const Trained& each : runs.trained) {
    if (!each.losses.empty()) by_tokenizer[each.tokenizer].push_back(&each);
  }
  for (const auto& [tokenizer, all] : by_tokenizer) {
    std::vector<summary::Curve> curves;
    std::vector<const FigureSource*> sources;
    for (const Trained* each : all) {
      curves.push_back(
          {each->model, summary::ThinOut(each->losses), each->model});
      sources.push_back(&each->source);
    }
    Add({"learning-curves",
         tokenizer.empty()
             ? "Training loss."
             : absl::StrCat("Training loss, by token of ", tokenizer, "."),
         summary::LearningCurves(curves)},
        Together(sources), page);
  }
}

// What there is to say of losses without a figure.
Table TrainedTable(const Runs& runs) {
  Table table;
  table.title = "Training";
  table.header = {"model", "last step", "loss there", "lowest loss"};
  const bool has_tokenizer =
      std::any_of(runs.trained.begin(), runs.trained.end(),
                  [](const Trained& each) { return !each.tokenizer.empty(); });
  if (has_tokenizer) table.header.push_back("tokenizer");
  for (const Trained& each : runs.trained) {
    if (each.losses.empty()) continue;
    double lowest = INFINITY;
    for (const auto& [step, loss] : each.losses) {
      lowest = std::min(lowest, loss);
    }
    const auto& [step, loss] = *each.losses.rbegin();
    table.rows.push_back(
        {each.model, absl::StrCat(step), NumberText(loss), NumberText(lowest)});
    if (has_tokenizer) table.rows.back().push_back(each.tokenizer);
  }
  return table;
}

// "Results of a, b".
std::string TitleOf(const Runs& runs) {
  std::vector<std::string> models;
  const auto add = [&models](const std::string& model) {
    if (std::find(models.begin(), models.end(), model) == models.end()) {
      models.push_back(model);
    }
  };
  for (const Evaluated& each : runs.evaluations) add(each.metrics.model);
  // Names of evaluated checkpoints say more than those of their jobs.
  if (models.empty()) {
    for (const Trained& each : runs.trained) add(each.model);
  }
  return absl::StrCat("Results of ", absl::StrJoin(models, ", "));
}

}  // namespace

absl::Status ReadFiles(const InsideFiles& files, Evaluated* evaluated) {
  if (files.result.empty()) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(evaluated->metrics.standard_errors,
                        ParseStandardErrors(files.result));
  ORDO_ASSIGN_OR_RETURN(evaluated->metrics.sampled, ParseSampled(files.result));
  AddItemErrors(files.items, &evaluated->metrics);
  if (evaluated->metrics.task == kGridTask) {
    ORDO_ASSIGN_OR_RETURN(Grid grid, ParseGrid(files.result));
    grid.name = evaluated->metrics.model;
    grid.step = evaluated->metrics.step;
    evaluated->grid = std::move(grid);
    return absl::OkStatus();
  }
  if (LooksInside(evaluated->metrics.task)) {
    ORDO_ASSIGN_OR_RETURN(evaluated->inside, ParseInside(files));
    return absl::OkStatus();
  }
  ORDO_ASSIGN_OR_RETURN(evaluated->lengths, ParseLengths(files.result));
  evaluated->metrics.tokenizer = evaluated->lengths.tokenizer;
  ORDO_ASSIGN_OR_RETURN(evaluated->cells, ParseCells(files.result));
  ORDO_ASSIGN_OR_RETURN(evaluated->groups, ParseGroups(files.result));
  return absl::OkStatus();
}

Page MakePage(const Runs& runs) {
  Page page;
  page.title = TitleOf(runs);
  page.lead = runs.notices;
  const std::vector<const Evaluated*> grids = WithGrid(runs);
  if (!grids.empty()) page.tables.push_back(GridTable(grids));
  std::vector<Metrics> metrics;
  for (const Evaluated& each : runs.evaluations) {
    metrics.push_back(WithoutCopies(each.metrics));
  }
  const Table trained = TrainedTable(runs);
  if (!metrics.empty() || trained.rows.empty()) {
    page.tables.push_back(ScoreTable(metrics));
    page.tables.back().title = "Scores";
  }
  if (!trained.rows.empty()) page.tables.push_back(trained);
  AddGrids(grids, &page);
  AddLengths(runs, &page);
  for (const Evaluated& each : runs.evaluations) {
    AddCells(each, &page);
    AddGroups(each, &page);
    AddInside(each, &page);
  }
  AddCurves(runs, &page);
  for (const Evaluated* each : grids) {
    page.tables.push_back(CellTable(*each->grid));
  }
  page.method = kMethod;
  if (!grids.empty()) page.method += kGridMethod;
  return page;
}

std::string FileStem(const std::string& name) {
  std::string stem;
  for (const char c : name) {
    stem += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '-';
  }
  return stem;
}

}  // namespace ordo::report::runs
