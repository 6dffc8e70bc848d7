#include "tests/bench/attention_figures.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ordo::tests::bench {
namespace {

using kernels::Type;
using report::Figure;

// Colours that the colour-blind can tell apart (Okabe and Ito); lines differ in
// their marks too.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#000000"};
constexpr int kMarks[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};

// A line of a figure: its points are ready for gnuplot, "x y low high" each.
struct Line {
  std::string title;
  std::vector<std::string> points;
  // What kernels replace is dashed, in the colour of their encoding.
  bool dashed = false;
  int color = 0;
};

// Puts a class' lines together: one colour, in the order in which they come.
class Lines {
 public:
  void Add(const AttentionRow& row, const std::string& point) {
    const bool dashed = row.runner == Runner::kMaterialised;
    const std::string title =
        dashed ? absl::StrCat(row.encoding, ", materialised") : row.encoding;
    const auto [color, new_encoding] =
        colors_.try_emplace(row.encoding, static_cast<int>(colors_.size()));
    const auto [at, is_new] = places_.try_emplace(title, lines_.size());
    if (is_new) lines_.push_back({title, {}, dashed, color->second});
    lines_[at->second].points.push_back(point);
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::map<std::string, int> colors_;
  std::map<std::string, size_t> places_;
  std::vector<Line> lines_;
};

// What both figures have; N doubles from tick to tick.
std::string Frame(const std::string& what, const std::string& conditions,
                  const std::string& y_label) {
  return absl::StrCat(
      "set title \"", report::GnuplotText(what), "\\n{/*0.8 ",
      report::GnuplotText(conditions), "}\"\n",
      "set xlabel \"tokens N\"\nset ylabel \"", y_label, "\"\n",
      "set logscale x 2\nset format x \"%.0f\"\n"
      "set offsets graph 0.03, graph 0.03, 0, 0\n"
      "set key outside right center vertical Left reverse samplen 2\n"
      "set grid linecolor rgb '#dddddd'\nset tics nomirror\nset border 3\n");
}

std::string Plot(const std::vector<Line>& lines, const std::string& style,
                 const std::string& further) {
  std::string data;
  std::vector<std::string> plots;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    absl::StrAppend(&data, "$line", i, " << EOD\n",
                    absl::StrJoin(line.points, "\n"), "\nEOD\n");
    const size_t color = static_cast<size_t>(line.color);
    plots.push_back(absl::StrFormat(
        "$line%d %s linewidth 2 dashtype %d pointtype %d pointsize 0.8 "
        "linecolor rgb '%s' title \"%s\"",
        i, style, line.dashed ? 2 : 1, kMarks[color % std::size(kMarks)],
        kColors[color % std::size(kColors)], report::GnuplotText(line.title)));
  }
  return absl::StrCat(data, "plot ", further, absl::StrJoin(plots, ", "), "\n");
}

std::string ShapeText(const AttentionResults& results,
                      const AttentionRow& row) {
  return absl::StrCat(NameOf(row.shape.type), ", B=", row.shape.batch,
                      " H=", row.shape.heads, " d=", row.shape.width,
                      ", causal, CPU, ", results.threads, " threads");
}

Figure Ratios(const AttentionResults& results, Type type) {
  Lines lines;
  std::string title;
  for (const AttentionRow& row : results.rows) {
    const bool shown =
        row.runner == Runner::kSelected || row.runner == Runner::kMaterialised;
    if (!shown || row.shape.type != type) continue;
    const auto [low, high] =
        std::minmax_element(row.total_ratio.begin(), row.total_ratio.end());
    lines.Add(row,
              absl::StrFormat("%d %.4g %.4g %.4g", row.shape.length,
                              Quantile(row.total_ratio, 0.5), *low, *high));
    title = ShapeText(results, row);
  }
  Figure figure;
  if (lines.lines().empty()) return figure;
  figure.width_px = 860;
  figure.height_px = 480;
  figure.script = absl::StrCat(
      Frame("Attention: time of forward and backward", title,
            "time / LibTorch's flash attention"),
      "set logscale y 2\n"
      "set ytics (0.125, 0.18, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, "
      "8, 11, 16, 32, 64)\n",
      Plot(lines.lines(), "using 1:2:3:4 with yerrorlines",
           "1 with lines linewidth 1.5 linecolor rgb '#888888' title "
           "\"flash attention\", "));
  return figure;
}

Figure Memory(const AttentionResults& results) {
  Lines lines;
  std::string title;
  for (const AttentionRow& row : results.memory) {
    constexpr double kMebibyte = 1 << 20;
    if (row.runner == Runner::kFlash) continue;
    lines.Add(row,
              absl::StrFormat("%d %.6g", row.shape.length,
                              static_cast<double>(row.peak_bytes) / kMebibyte));
    title = ShapeText(results, row);
  }
  Figure figure;
  if (lines.lines().empty()) return figure;
  figure.width_px = 860;
  figure.height_px = 480;
  figure.script =
      absl::StrCat(Frame("Attention: peak memory of forward and backward",
                         title, "MiB beyond inputs"),
                   "set logscale y 10\n",
                   Plot(lines.lines(), "using 1:2 with linespoints", ""));
  return figure;
}

}  // namespace

std::vector<NamedFigure> FiguresOf(const AttentionResults& results) {
  std::vector<NamedFigure> figures;
  for (const Type type : {Type::kFloat32, Type::kBfloat16}) {
    figures.push_back({absl::StrCat("attention_ratio_", NameOf(type)),
                       Ratios(results, type)});
  }
  figures.push_back({"attention_memory", Memory(results)});
  figures.erase(std::remove_if(figures.begin(), figures.end(),
                               [](const NamedFigure& named) {
                                 return named.figure.script.empty();
                               }),
                figures.end());
  return figures;
}

}  // namespace ordo::tests::bench
