#include "report/forest.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ordo::report {
namespace {

constexpr int kWidthPx = 720;
constexpr int kRowHeightPx = 34;
constexpr int kFramePx = 110;
// A name that is longer stands in two lines, in rows of this height.
constexpr size_t kLongName = 20;
constexpr int kHighRowPx = 48;
// Beside long names more tics would touch each other.
constexpr double kMostTics = 6;

FigureRange RangeOf(const Forest& forest) {
  FigureRange range(0);
  for (const ForestRow& row : forest.rows) {
    range.Add(row.mean);
    range.Add(row.low);
    range.Add(row.high);
  }
  for (const double mark : forest.marks) range.Add(mark);
  return range;
}

bool HasBar(const ForestRow& row) {
  return std::isfinite(row.low) || std::isfinite(row.high);
}

// The name in two lines, broken at the space next to its middle, if it is long
// and has one.
std::vector<std::string> LinesOf(const std::string& name) {
  if (name.size() <= kLongName) return {name};
  const size_t before = name.rfind(' ', name.size() / 2);
  const size_t behind = name.find(' ', name.size() / 2);
  size_t place = before;
  if (before == std::string::npos ||
      (behind != std::string::npos &&
       behind - name.size() / 2 < name.size() / 2 - before)) {
    place = behind;
  }
  if (place == std::string::npos) return {name};
  return {name.substr(0, place), name.substr(place + 1)};
}

// "\"rope\" 2", one tic of a list.
std::string NamedTic(const std::string& name, int place) {
  const auto as_text = [](std::string* out, const std::string& line) {
    out->append(GnuplotText(line));
  };
  return absl::StrCat("\"", absl::StrJoin(LinesOf(name), "\\n", as_text), "\" ",
                      place);
}

// 1, 2 or 5 times a power of ten.
double TicStep(double width) {
  const double least = width / kMostTics;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

}  // namespace

void FigureRange::Add(double value) {
  if (!std::isfinite(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

double FigureRange::Clip(double value) const {
  return std::min(std::max(value, low()), high());
}

double FigureRange::Room() const {
  const double width = high_ - low_;
  return width > 0 ? 0.08 * width : std::max(1e-3, 0.08 * std::fabs(low_));
}

Figure ForestPlot(const Forest& forest) {
  const int num_rows = static_cast<int>(forest.rows.size());
  const FigureRange range = RangeOf(forest);
  const bool has_long_names = std::any_of(
      forest.rows.begin(), forest.rows.end(),
      [](const ForestRow& row) { return row.name.size() > kLongName; });
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px =
      kFramePx + (has_long_names ? kHighRowPx : kRowHeightPx) * num_rows;
  std::string& script = figure.script;
  absl::StrAppendFormat(
      &script,
      "set title \"%s\"\nset xlabel \"%s\"\n"
      "set xrange [%.6g:%.6g]\nset yrange [0.4:%d.6]\nunset key\n"
      "set border 1\nset xtics nomirror %.6g\nset grid xtics linecolor rgb "
      "'#dddddd'\nset arrow 1 from 0,0.4 to 0,%d.6 nohead dashtype 2 linecolor "
      "rgb '#888888'\n",
      GnuplotText(forest.title), GnuplotText(forest.x_label), range.low(),
      range.high(), num_rows, TicStep(range.high() - range.low()), num_rows);
  for (size_t i = 0; i < forest.marks.size(); ++i) {
    absl::StrAppendFormat(
        &script,
        "set arrow %d from %.6g,0.4 to %.6g,%d.6 nohead dashtype 3 linecolor "
        "rgb '#888888'\n",
        i + 2, forest.marks[i], forest.marks[i], num_rows);
  }
  std::vector<std::string> names;
  std::string bars;
  std::string points;
  for (int i = 0; i < num_rows; ++i) {
    const ForestRow& row = forest.rows[static_cast<size_t>(i)];
    const int place = num_rows - i;
    names.push_back(NamedTic(row.name, place));
    if (HasBar(row)) {
      absl::StrAppendFormat(&bars, "%.6g %d %.6g %.6g\n", row.mean, place,
                            range.Clip(row.low), range.Clip(row.high));
    } else {
      absl::StrAppendFormat(&points, "%.6g %d\n", row.mean, place);
    }
  }
  absl::StrAppend(&script, "set ytics scale 0 (", absl::StrJoin(names, ", "),
                  ")\n");
  const std::string style = absl::StrCat(
      " linewidth 2 pointtype 7 linecolor rgb '", LineColor(0), "'");
  std::vector<std::string> plots;
  if (!bars.empty()) {
    absl::StrAppend(&script, "$bars << EOD\n", bars, "EOD\n");
    plots.push_back(absl::StrCat("$bars using 1:2:3:4 with xerrorbars", style));
  }
  if (!points.empty()) {
    absl::StrAppend(&script, "$points << EOD\n", points, "EOD\n");
    plots.push_back(absl::StrCat("$points using 1:2 with points", style));
  }
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

}  // namespace ordo::report
