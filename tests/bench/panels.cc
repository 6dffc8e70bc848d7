#include "tests/bench/panels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::tests::bench {
namespace {

// Colours that the colour-blind can tell apart (Okabe and Ito); lines differ in
// their marks too.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73",
                                   "#cc79a7", "#e69f00", "#56b4e9"};
constexpr int kMarks[] = {7, 5, 9, 13, 11, 6};

constexpr int kMaxColumns = 4;
constexpr int kPanelHeight = 150;
// Above and below all panels, in pixels: title with legend, labels.
constexpr int kTop = 102;
constexpr int kBottom = 58;
constexpr int kWidth = 1000;

int ColumnsOf(const Panels& panels) {
  return std::min(kMaxColumns, static_cast<int>(panels.all().size()));
}

int RowsOf(const Panels& panels) {
  const int columns = ColumnsOf(panels);
  return (static_cast<int>(panels.all().size()) + columns - 1) / columns;
}

// Names of lines beside their marks, in one row below the title.
std::string Legend(const Panels& panels, const Frame& frame, int height) {
  struct Sample {
    std::string text;
    std::string color;
    int mark;
  };
  std::vector<Sample> samples;
  const std::vector<std::string> titles = panels.Titles();
  for (size_t i = 0; i < titles.size(); ++i) {
    samples.push_back({titles[i], kColors[i % std::size(kColors)],
                       kMarks[i % std::size(kMarks)]});
  }
  if (panels.HasDashed()) {
    samples.push_back({"dashed: " + frame.dashed, "#555555", 0});
  }
  if (frame.level > 0) samples.push_back({"grey: " + frame.grey, "#555555", 0});
  std::string text;
  double x = 0.095;
  const double y = 1 - 62.0 / height;
  for (const Sample& sample : samples) {
    if (sample.mark != 0) {
      absl::StrAppendFormat(
          &text,
          "set label \"\" at screen %.4f, screen %.4f point pointtype %d "
          "pointsize 1.4 linecolor rgb '%s'\n",
          x, y, sample.mark, sample.color);
      x += 0.014;
    }
    absl::StrAppendFormat(&text,
                          "set label \"%s\" at screen %.4f, screen %.4f left "
                          "font \",10\" textcolor rgb '%s'\n",
                          report::GnuplotText(sample.text), x, y, sample.color);
    x += 0.03 + 0.0075 * static_cast<double>(sample.text.size());
  }
  return text;
}

std::string DataOf(const Panels& panels) {
  std::string data;
  for (size_t p = 0; p < panels.all().size(); ++p) {
    const auto& lines = panels.all()[p].lines;
    for (size_t i = 0; i < lines.size(); ++i) {
      absl::StrAppend(&data, "$line", p, "_", i, " << EOD\n");
      for (const Point& point : lines[i].points) {
        absl::StrAppendFormat(&data, "%d %.4g %.4g %.4g\n", point.length,
                              point.y, point.low, point.high);
      }
      absl::StrAppend(&data, "EOD\n");
    }
  }
  return data;
}

// Round numbers in an interval of a logarithmic axis, some of which are to be
// read whatever it is: powers of two where it is long, else equal steps.
std::string Ticks(double low, double high) {
  constexpr double kMost = 8;
  std::vector<std::string> ticks;
  // Nothing is drawn there.
  if (low <= 0) return "";
  const auto add = [&](double y) {
    ticks.push_back(absl::StrFormat("%.6g", y));
  };
  constexpr double kLong = 4;
  if (high / low >= kLong) {
    double factor = 2;
    while (std::log(high / low) / std::log(factor) > kMost) factor *= 2;
    const double first = std::ceil(std::log(low) / std::log(factor));
    for (double y = std::pow(factor, first); y <= high; y *= factor) add(y);
  } else {
    double step = std::pow(10, std::floor(std::log10(high - low)) - 1);
    for (int i = 0; (high - low) / step > kMost; ++i) {
      // 1, 2, 5, 10, 20, ...
      constexpr double kFactors[] = {2, 2.5, 2};
      step *= kFactors[i % std::size(kFactors)];
    }
    for (double i = std::ceil(low / step); i * step <= high; ++i) add(i * step);
  }
  return absl::StrJoin(ticks, ", ");
}

// Of all points and the level: N and y, so that panels can be compared.
std::string Ranges(const Panels& panels, double level) {
  const Point first = panels.all()[0].lines[0].points[0];
  int64_t shortest = first.length, longest = first.length;
  std::set<int64_t> lengths;
  double lowest = 1, highest = 1;
  bool is_first = true;
  for (const Panel& panel : panels.all()) {
    for (const Line& line : panel.lines) {
      for (const Point& point : line.points) {
        lengths.insert(point.length);
        shortest = std::min(shortest, point.length);
        longest = std::max(longest, point.length);
        lowest = is_first ? point.low : std::min(lowest, point.low);
        highest = is_first ? point.high : std::max(highest, point.high);
        is_first = false;
      }
    }
  }
  if (level > 0) {
    lowest = std::min(lowest, level);
    highest = std::max(highest, level);
  }
  constexpr double kMargin = 1.25;
  return absl::StrFormat(
      "set xrange [%.6g:%.6g]\nset xtics (%s)\nset yrange [%.4g:%.4g]\n"
      "set ytics (%s)\n",
      static_cast<double>(shortest) / kMargin,
      static_cast<double>(longest) * kMargin, absl::StrJoin(lengths, ", "),
      lowest / kMargin, highest * kMargin,
      Ticks(lowest / kMargin, highest * kMargin));
}

// Whether there is more than one sample behind a point.
bool IsSpread(const Line& line) {
  return std::any_of(line.points.begin(), line.points.end(),
                     [](const Point& point) { return point.low < point.high; });
}

std::string PlotOf(const Panels& panels, size_t p, const Frame& frame) {
  const std::vector<std::string> titles = panels.Titles();
  std::vector<std::string> plots;
  if (frame.level > 0) {
    plots.push_back(absl::StrFormat(
        "%.4g with lines linewidth 1.5 linecolor rgb '#888888' notitle",
        frame.level));
  }
  const auto& lines = panels.all()[p].lines;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto place = static_cast<size_t>(
        std::find(titles.begin(), titles.end(), lines[i].title) -
        titles.begin());
    const std::string color = kColors[place % std::size(kColors)];
    if (IsSpread(lines[i])) {
      plots.push_back(absl::StrFormat(
          "$line%d_%d using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb "
          "'%s' notitle",
          p, i, color));
    }
    plots.push_back(absl::StrFormat(
        "$line%d_%d using 1:2 with linespoints pointtype %d pointsize 1.1 "
        "linecolor rgb '%s' linewidth 1.5 dashtype %d notitle",
        p, i, kMarks[place % std::size(kMarks)], color,
        lines[i].dashed ? 2 : 1));
  }
  const size_t count = panels.all().size();
  const auto columns = static_cast<size_t>(ColumnsOf(panels));
  const bool is_left = p % columns == 0;
  // No panel stands below it.
  const bool is_lowest = p + columns >= count;
  return absl::StrCat(
      "set title \"", report::GnuplotText(panels.all()[p].title),
      "\" font \",11\" offset 0,-0.8\n", "set format y \"",
      is_left ? "%.3g" : "", "\"\n", "set format x \"", is_lowest ? "%.0f" : "",
      "\"\n", "set xlabel \"", is_lowest ? "tokens N" : "",
      "\" font \",10\" offset 0,0.6\n", "plot ", absl::StrJoin(plots, ", "),
      "\n",
      // Once is enough.
      p == 0 ? "unset label\n" : "");
}

}  // namespace

void Panel::Add(const std::string& line, bool dashed, const Point& point) {
  for (Line& other : lines) {
    if (other.title != line || other.dashed != dashed) continue;
    other.points.push_back(point);
    return;
  }
  lines.push_back({line, dashed, {point}});
}

Panel& Panels::Of(const std::string& title) {
  for (Panel& panel : panels_) {
    if (panel.title == title) return panel;
  }
  panels_.push_back({title, {}});
  return panels_.back();
}

std::vector<std::string> Panels::Titles() const {
  std::vector<std::string> titles;
  for (const Panel& panel : panels_) {
    for (const Line& line : panel.lines) {
      if (std::find(titles.begin(), titles.end(), line.title) == titles.end()) {
        titles.push_back(line.title);
      }
    }
  }
  return titles;
}

bool Panels::HasDashed() const {
  for (const Panel& panel : panels_) {
    for (const Line& line : panel.lines) {
      if (line.dashed) return true;
    }
  }
  return false;
}

report::Figure DrawPanels(const Panels& panels, const Frame& frame) {
  report::Figure figure;
  if (panels.all().empty()) return figure;
  const int rows = RowsOf(panels);
  figure.width_px = kWidth;
  figure.height_px = kTop + kBottom + rows * kPanelHeight;
  const double height = figure.height_px;
  std::string& script = figure.script;
  script = DataOf(panels);
  absl::StrAppendFormat(
      &script,
      "set multiplot layout %d,%d rowsfirst margins screen 0.095, 0.985, "
      "%.4f, %.4f spacing screen 0.015, %.4f title \"%s\\n{/*0.75 %s}\\n \"\n",
      rows, ColumnsOf(panels), kBottom / height, 1 - kTop / height, 34 / height,
      report::GnuplotText(frame.title), report::GnuplotText(frame.conditions));
  absl::StrAppend(
      &script, Legend(panels, frame, figure.height_px),
      absl::StrFormat("set label \"%s\" at screen 0.015, screen %.4f "
                      "center rotate by 90 font \",11\"\n",
                      report::GnuplotText(frame.y_label),
                      0.5 * (1 + (kBottom - kTop) / height)),
      "set logscale x 4\nset tics nomirror scale 0.5\nset border 3\n"
      "set xtics font \",9\"\nset ytics font \",9\"\n"
      "set grid linecolor rgb '#dddddd'\n",
      "set logscale y 10\n", Ranges(panels, frame.level));
  for (size_t p = 0; p < panels.all().size(); ++p) {
    script += PlotOf(panels, p, frame);
  }
  script += "unset multiplot\n";
  return figure;
}

absl::Status WriteFigures(const std::vector<NamedFigure>& figures,
                          const std::string& folder) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  for (const NamedFigure& named : figures) {
    if (named.figure.script.empty()) continue;
    const std::string path = absl::StrCat(folder, "/", named.name);
    using report::FigureForm;
    ORDO_RETURN_IF_ERROR(
        Draw(files, named.figure, FigureForm::kSvg, path + ".svg"));
    ORDO_RETURN_IF_ERROR(
        Draw(files, named.figure, FigureForm::kPng, path + ".png"));
  }
  return absl::OkStatus();
}

}  // namespace ordo::tests::bench
