#include "report/summary/lengths.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "report/lengths.h"
#include "report/stats/arms.h"
#include "report/summary/control.h"
#include "report/summary/score_kind.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::SummarizeSpec;

constexpr char kError[] = "error";
constexpr int kWidthPx = 720;
constexpr int kHeightPx = 400;
// Each length at least so many times the one before: they grow by factors.
constexpr double kFactor = 1.5;
// Perplexities that differ so many times do not fit one plain axis.
constexpr double kManyTimes = 10;
// Beside the least and the greatest length, on a plain axis as a share of what
// is between them, on a logarithmic one as a factor.
constexpr double kRoom = 0.03;
constexpr double kLogRoom = 1.2;
// Between two arms at one length, and between the outermost at most, as shares
// of what is between neighbouring lengths: few pixels, so that a point is still
// read as one of its length.
constexpr double kBeside = 0.02;
constexpr double kMaxBeside = 0.1;

// What the runs of one evaluation scored, by seed and arm.
using Runs = std::map<uint64_t, std::map<std::string, Lengths>>;

std::map<std::string, Runs> RunsByEvaluation(
    const SummarizeSpec& spec, const Comparison& comparison,
    const std::vector<PartRecords>& records) {
  std::map<std::string, Runs> runs;
  for (const auto& [part, counted, of_part] : RecordedReports(spec, records)) {
    const auto found = of_part->lengths.find(counted.report->path());
    if (found == of_part->lengths.end() || found->second.values.empty()) {
      continue;
    }
    const bool is_by_byte =
        KindOf(found->second.score).is_by_token &&
        TokenizersDiffer(comparison.tokenizers, counted.evaluation);
    runs[counted.evaluation][part->seed()][part->part()] =
        is_by_byte ? InBitsPerByte(found->second) : found->second;
  }
  return runs;
}

// The lengths that all have.
std::set<int64_t> CommonLengths(const std::vector<const Lengths*>& all) {
  std::set<int64_t> common;
  for (const auto& [length, value] : all.front()->values) {
    const bool in_all = std::all_of(all.begin(), all.end(),
                                    [length = length](const Lengths* each) {
                                      return each->values.count(length) > 0;
                                    });
    if (in_all) common.insert(length);
  }
  return common;
}

LengthPoint PointOf(int64_t length, const stats::ArmSummary& of_seeds) {
  return {length, of_seeds.mean, of_seeds.interval.low, of_seeds.interval.high};
}

// Nothing where no seed has all arms, scored alike.
ComparedLengths CompareRuns(const Comparison& comparison, const Runs& runs) {
  ComparedLengths compared;
  std::vector<const Lengths*> all;
  // By tokenizer the arms.
  std::map<std::string, std::vector<std::string>> tokenizers;
  std::vector<const std::map<std::string, Lengths>*> seeds;
  for (const auto& [seed, of_seed] : runs) {
    if (of_seed.size() < comparison.arms.size()) continue;
    seeds.push_back(&of_seed);
    for (const auto& [arm, lengths] : of_seed) {
      all.push_back(&lengths);
      tokenizers[lengths.tokenizer].push_back(arm);
    }
  }
  if (all.empty()) return compared;
  for (auto& [tokenizer, owners] : tokenizers) {
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  }
  compared.tokenizers = TokenizersText(tokenizers);
  const Lengths& first = *all.front();
  for (const Lengths* each : all) {
    if (each->by != first.by || each->score != first.score) return compared;
    compared.left_out.insert(each->left_out.begin(), each->left_out.end());
  }
  compared.by = first.by;
  compared.score = first.score;
  compared.num_seeds = static_cast<int>(seeds.size());
  compared.confidence = comparison.confidence;
  const bool is_same_trained = std::all_of(
      all.begin(), all.end(),
      [&](const Lengths* each) { return each->trained == first.trained; });
  if (is_same_trained) compared.trained = first.trained;
  const std::set<int64_t> lengths = CommonLengths(all);
  if (lengths.empty()) return compared;
  for (const std::string& arm : comparison.arms) {
    LengthCurve& curve = compared.arms.emplace_back();
    curve.arm = arm;
    for (const int64_t length : lengths) {
      std::vector<double> values;
      for (const auto* of_seed : seeds) {
        values.push_back(of_seed->at(arm).values.at(length));
      }
      curve.points.push_back(PointOf(
          length, stats::SummarizeArm({arm, values}, comparison.confidence)));
    }
  }
  return compared;
}

bool GrowByFactors(const std::vector<LengthPoint>& points) {
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i - 1].length < 1 ||
        static_cast<double>(points[i].length) <
            kFactor * static_cast<double>(points[i - 1].length)) {
      return false;
    }
  }
  return points.size() > 2;
}

// What an axis of scores shows, and how.
struct ScoreAxis {
  double low = 0;
  double high = 0;
  bool is_logarithmic = false;

  double Place(double value) const {
    return std::min(std::max(value, low), high);
  }
};

ScoreAxis AxisOf(const ComparedLengths& compared) {
  ScoreAxis axis;
  if (compared.score == kError) {
    axis.high = 1;
    return axis;
  }
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const LengthCurve& curve : compared.arms) {
    for (const LengthPoint& point : curve.points) {
      least = std::min(least, point.mean);
      most = std::max(most, point.mean);
    }
  }
  axis.is_logarithmic = least > 0 && most > kManyTimes * least;
  // An interval may reach far beyond what was measured.
  axis.low = axis.is_logarithmic ? least / 2 : 0;
  axis.high = 2 * most;
  return axis;
}

// Where lengths stand on their axis, and arms beside them.
struct LengthAxis {
  bool is_logarithmic = false;
  // Between neighbouring arms, as a difference of lengths or of their
  // logarithms.
  double beside = 0;
  double num_arms = 0;

  // Of an arm, from 0.
  double Place(int64_t length, double arm) const {
    const double moved = beside * (arm - (num_arms - 1) / 2);
    const auto plain = static_cast<double>(length);
    return is_logarithmic ? plain * std::exp(moved) : plain + moved;
  }
  // Before and behind those of all arms.
  double Before(int64_t length) const { return Place(length, -0.5); }
  double Behind(int64_t length) const { return Place(length, num_arms - 0.5); }
};

LengthAxis LengthAxisOf(const ComparedLengths& compared) {
  const std::vector<LengthPoint>& points = compared.arms.front().points;
  LengthAxis axis;
  axis.is_logarithmic = GrowByFactors(points);
  axis.num_arms = static_cast<double>(compared.arms.size());
  double gap = std::numeric_limits<double>::infinity();
  for (size_t i = 1; i < points.size(); ++i) {
    const auto before = static_cast<double>(points[i - 1].length);
    const auto length = static_cast<double>(points[i].length);
    gap = std::min(
        gap, axis.is_logarithmic ? std::log(length / before) : length - before);
  }
  // A single length has no neighbours.
  if (points.size() == 1) gap = 1;
  axis.beside = gap * std::min(kBeside, kMaxBeside / axis.num_arms);
  return axis;
}

bool ShowsTrained(const ComparedLengths& compared) {
  const std::vector<LengthPoint>& points = compared.arms.front().points;
  return compared.trained > 0 && compared.trained >= points.front().length &&
         compared.trained <= points.back().length;
}

// How the intervals of a curve are drawn.
enum class Drawn { kNot, kBars, kBand };

// A band would shrink to nothing towards a length without an interval, as if
// the mean were known exactly there.
Drawn IntervalsOf(const ComparedLengths& compared, const LengthCurve& curve) {
  if (compared.has_bars) return Drawn::kBars;
  if (compared.num_seeds < 2) return Drawn::kNot;
  const auto has = [](const LengthPoint& point) {
    return std::isfinite(point.low) && std::isfinite(point.high);
  };
  if (std::all_of(curve.points.begin(), curve.points.end(), has)) {
    return Drawn::kBand;
  }
  return std::any_of(curve.points.begin(), curve.points.end(), has)
             ? Drawn::kBars
             : Drawn::kNot;
}

// What is drawn of a bound: nothing beside the mean where there is none.
double Bound(double bound, double mean) {
  return std::isfinite(bound) ? bound : mean;
}

// What the lines are, and what is drawn around them.
std::string PlotTitle(const ComparedLengths& compared) {
  std::vector<std::string> parts;
  if (!compared.evaluation.empty()) parts.push_back(compared.evaluation);
  if (compared.num_seeds > 1) {
    parts.push_back(absl::StrCat("means over ", compared.num_seeds, " seeds"));
  }
  std::set<Drawn> drawn;
  for (const LengthCurve& curve : compared.arms) {
    drawn.insert(IntervalsOf(compared, curve));
  }
  drawn.erase(Drawn::kNot);
  if (!drawn.empty()) {
    const char* around = drawn.size() > 1                 ? "bands and bars"
                         : *drawn.begin() == Drawn::kBars ? "bars"
                                                          : "bands";
    parts.push_back(absl::StrFormat("%s: %.6g %% intervals over %s", around,
                                    100 * compared.confidence,
                                    compared.has_bars ? "questions" : "seeds"));
  }
  return absl::StrJoin(parts, "; ");
}

std::string PlacesText(const std::vector<LengthPoint>& points) {
  return absl::StrJoin(points, ", ",
                       [](std::string* out, const LengthPoint& point) {
                         absl::StrAppend(out, point.length);
                       });
}

std::string AxesScript(const ComparedLengths& compared, const ScoreAxis& axis,
                       const LengthAxis& lengths) {
  const std::vector<LengthPoint>& points = compared.arms.front().points;
  std::string script = absl::StrFormat(
      "set title \"%s\" font ',11'\n"
      "set xlabel \"%s\"\nset ylabel \"%s\"\n"
      "set grid ytics linecolor rgb '#dddddd'\n"
      "set key outside top center horizontal\n"
      "set tics nomirror\nset border 3\n",
      GnuplotText(PlotTitle(compared)), GnuplotText(compared.by),
      GnuplotText(ScoreText(compared)));
  if (compared.score == kError) {
    absl::StrAppend(&script, "set yrange [-0.03:1.03]\n");
  } else if (axis.is_logarithmic) {
    absl::StrAppend(&script, "set logscale y\n");
  } else {
    absl::StrAppend(&script, "set yrange [0:*]\n");
  }
  const double first = lengths.Before(points.front().length);
  const double last = lengths.Behind(points.back().length);
  if (lengths.is_logarithmic) {
    absl::StrAppendFormat(
        &script, "set logscale x\nset xtics (%s)\nset xrange [%.6g:%.6g]\n",
        PlacesText(points), first / kLogRoom, last * kLogRoom);
  } else {
    const double room = std::max(0.5, kRoom * (last - first));
    absl::StrAppendFormat(&script, "set xrange [%.6g:%.6g]\n", first - room,
                          last + room);
    if (points.size() == 2) {
      // Round numbers between them, where gnuplot sets tics, are none of them.
      absl::StrAppend(&script, "set xtics (", PlacesText(points), ")\n");
    } else if (last - first <= kFewTics) {
      script += "set xtics 1\n";
    }
  }
  if (ShowsTrained(compared)) {
    absl::StrAppendFormat(
        &script,
        "set arrow 1 from first %1$.8g,graph 0 to first %1$.8g,graph 1 nohead "
        "dashtype 2 linecolor rgb '#888888'\n",
        static_cast<double>(compared.trained));
  }
  return script;
}

}  // namespace

std::string TokenizersText(
    const std::map<std::string, std::vector<std::string>>& owners) {
  if (owners.size() == 1) return owners.begin()->first;
  std::vector<std::string> texts;
  for (const auto& [tokenizer, names] : owners) {
    if (tokenizer.empty()) continue;
    texts.push_back(
        absl::StrCat(tokenizer, " (", absl::StrJoin(names, ", "), ")"));
  }
  return texts.size() > 1 ? absl::StrJoin(texts, ", ") : "";
}

std::vector<ComparedLengths> CompareLengths(
    const SummarizeSpec& spec, const Comparison& comparison,
    const std::vector<PartRecords>& records) {
  std::vector<ComparedLengths> all;
  for (const auto& [evaluation, runs] :
       RunsByEvaluation(spec, comparison, records)) {
    ComparedLengths compared = CompareRuns(comparison, runs);
    if (compared.arms.empty()) continue;
    compared.evaluation = evaluation;
    all.push_back(std::move(compared));
  }
  return all;
}

std::string ScoreText(const ComparedLengths& compared) {
  return compared.score == kBitsPerByte ? "bits per byte" : compared.score;
}

Table LengthTable(const std::vector<ComparedLengths>& all) {
  Table table;
  table.header = {"evaluation", "by",    "length", "trained", "arm",
                  "seeds",      "score", "mean",   "low",     "high"};
  for (const ComparedLengths& compared : all) {
    for (const LengthCurve& curve : compared.arms) {
      for (const LengthPoint& point : curve.points) {
        table.rows.push_back(
            {compared.evaluation, compared.by, absl::StrCat(point.length),
             compared.trained > 0 ? absl::StrCat(compared.trained) : "",
             curve.arm, absl::StrCat(compared.num_seeds), compared.score,
             ExactText(point.mean), ExactText(point.low),
             ExactText(point.high)});
      }
    }
  }
  return table;
}

std::string TrainedText(const ComparedLengths& compared) {
  if (compared.trained <= 0) return "";
  return absl::StrCat(" Trained on up to ", compared.trained,
                      ShowsTrained(compared) ? ": the dashed line." : ".");
}

Figure LengthPlot(const ComparedLengths& compared) {
  const ScoreAxis axis = AxisOf(compared);
  const LengthAxis lengths = LengthAxisOf(compared);
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kHeightPx;
  figure.script = AxesScript(compared, axis, lengths);
  std::vector<std::string> bands;
  std::vector<std::string> lines;
  for (size_t c = 0; c < compared.arms.size(); ++c) {
    const LengthCurve& curve = compared.arms[c];
    absl::StrAppend(&figure.script, "$arm", c, " << EOD\n");
    for (const LengthPoint& point : curve.points) {
      absl::StrAppendFormat(&figure.script, "%.8g %.6g %.6g %.6g\n",
                            lengths.Place(point.length, static_cast<double>(c)),
                            axis.Place(point.mean),
                            axis.Place(Bound(point.low, point.mean)),
                            axis.Place(Bound(point.high, point.mean)));
    }
    absl::StrAppend(&figure.script, "EOD\n");
    const std::string color = LineColor(c);
    const Drawn drawn = IntervalsOf(compared, curve);
    if (drawn == Drawn::kBand) {
      bands.push_back(absl::StrFormat(
          "$arm%d using 1:3:4 with filledcurves fillcolor rgb '%s' fillstyle "
          "transparent solid 0.15 noborder notitle",
          c, color));
    }
    lines.push_back(absl::StrFormat(
        "$arm%d using %s linewidth 2 pointtype %d linecolor rgb '%s' title "
        "\"%s\"",
        c,
        drawn == Drawn::kBars ? "1:2:3:4 with yerrorlines"
                              : "1:2 with linespoints",
        5 + 2 * (c % 4), color, GnuplotText(curve.arm)));
  }
  // Lines in front of all bands.
  bands.insert(bands.end(), lines.begin(), lines.end());
  absl::StrAppend(&figure.script, "plot ", absl::StrJoin(bands, ", "), "\n");
  return figure;
}

}  // namespace ordo::report::summary
