#include "tests/bench/attention_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// Of a line: N, the median, the smallest and the largest.
struct Point {
  int64_t length = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

// Of an encoding, or of some that would hide each other.
struct Line {
  std::vector<std::string> encodings;
  std::vector<Point> points;
  // What kernels replace is dashed, in the colour of its encoding.
  bool dashed = false;
  int color = 0;

  // "rope", "rope, alibi and 3 more", "t5 and 2 more, as a map".
  std::string title() const {
    const size_t named = std::min<size_t>(dashed ? 1 : 2, encodings.size());
    std::string text =
        absl::StrJoin(encodings.begin(), encodings.begin() + named, ", ");
    if (encodings.size() > named) {
      absl::StrAppend(&text, " and ", encodings.size() - named, " more");
    }
    return text + (dashed ? ", as a map" : "");
  }

  // Whether nobody could tell them apart.
  bool Hides(const Line& other) const {
    constexpr double kNear = 0.03;
    if (dashed != other.dashed || points.size() != other.points.size()) {
      return false;
    }
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i].length != other.points[i].length ||
          std::abs(points[i].y / other.points[i].y - 1) > kNear) {
        return false;
      }
    }
    return true;
  }
};

// One for each encoding and way, in the order in which they come.
class Lines {
 public:
  void Add(const AttentionRow& row, const Point& point) {
    const bool dashed = row.runner == Runner::kMaterialised;
    const auto [color, new_encoding] =
        colors_.try_emplace(row.encoding, static_cast<int>(colors_.size()));
    const auto [at, is_new] =
        places_.try_emplace({row.encoding, dashed}, lines_.size());
    if (is_new) lines_.push_back({{row.encoding}, {}, dashed, color->second});
    lines_[at->second].points.push_back(point);
  }

  const std::vector<Line>& all() const { return lines_; }

  std::vector<Line> WithoutHidden() const {
    std::vector<Line> kept;
    for (const Line& line : lines_) {
      const auto same =
          std::find_if(kept.begin(), kept.end(),
                       [&](const Line& other) { return other.Hides(line); });
      if (same == kept.end()) {
        kept.push_back(line);
      } else {
        same->encodings.push_back(line.encodings.front());
      }
    }
    return kept;
  }

 private:
  std::map<std::string, int> colors_;
  std::map<std::pair<std::string, bool>, size_t> places_;
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
      "set rmargin at screen 0.66\n"
      "set key at screen 0.68, 0.5 left center vertical Left reverse "
      "samplen 2\n"
      "set grid linecolor rgb '#cccccc'\nset tics nomirror\nset border 3\n");
}

struct Style {
  // Points of lines stand a little beside each other, with bars.
  bool bars = false;
  // What is drawn below the lines.
  std::string first;
};

std::string Plot(const std::vector<Line>& lines, const Style& style) {
  std::string data;
  std::vector<std::string> plots;
  if (!style.first.empty()) plots.push_back(style.first);
  int64_t shortest = lines.front().points.front().length;
  int64_t longest = shortest;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const double from_middle =
        static_cast<double>(i) - (static_cast<double>(lines.size()) - 1) / 2;
    const double aside = style.bars ? std::exp2(0.02 * from_middle) : 1;
    absl::StrAppend(&data, "$line", i, " << EOD\n");
    for (const Point& point : line.points) {
      shortest = std::min(shortest, point.length);
      longest = std::max(longest, point.length);
      absl::StrAppendFormat(&data, "%.6g %.4g %.4g %.4g\n",
                            static_cast<double>(point.length) * aside, point.y,
                            point.low, point.high);
    }
    absl::StrAppend(&data, "EOD\n");
    const auto color = static_cast<size_t>(line.color);
    const std::string look = absl::StrFormat(
        "pointtype %d pointsize 0.8 linecolor rgb '%s'",
        kMarks[color % std::size(kMarks)], kColors[color % std::size(kColors)]);
    if (style.bars) {
      plots.push_back(absl::StrFormat(
          "$line%d using 1:2:3:4 with yerrorbars %s linewidth 1 notitle", i,
          look));
    }
    plots.push_back(absl::StrFormat(
        "$line%d using 1:2 with linespoints %s linewidth 2 dashtype %d "
        "title \"%s\"",
        i, look, line.dashed ? 2 : 1, report::GnuplotText(line.title())));
  }
  constexpr double kMargin = 1.2;
  return absl::StrCat(data,
                      absl::StrFormat("set xrange [%.6g:%.6g]\n",
                                      static_cast<double>(shortest) / kMargin,
                                      static_cast<double>(longest) * kMargin),
                      "plot ", absl::StrJoin(plots, ", "), "\n");
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
              {row.shape.length, Quantile(row.total_ratio, 0.5), *low, *high});
    title = ShapeText(results, row);
  }
  Figure figure;
  if (lines.all().empty()) return figure;
  figure.width_px = 960;
  figure.height_px = 520;
  figure.script = absl::StrCat(
      Frame("Attention: time of forward and backward", title,
            "time / LibTorch's flash attention"),
      "set logscale y 2\n"
      "set ytics (0.0625, 0.09, 0.125, 0.18, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, "
      "2.8, 4, 5.6, "
      "8, 11, 16, 32, 64)\n",
      Plot(lines.all(),
           {/*bars=*/true,
            "1 with lines linewidth 1.5 linecolor rgb '#888888' title "
            "\"flash attention\""}));
  return figure;
}

Figure Memory(const AttentionResults& results) {
  Lines lines;
  std::string title;
  for (const AttentionRow& row : results.memory) {
    constexpr double kMebibyte = 1 << 20;
    if (row.runner == Runner::kFlash) continue;
    const double y = static_cast<double>(row.peak_bytes) / kMebibyte;
    lines.Add(row, {row.shape.length, y, y, y});
    title = ShapeText(results, row);
  }
  Figure figure;
  if (lines.all().empty()) return figure;
  figure.width_px = 960;
  figure.height_px = 520;
  figure.script =
      absl::StrCat(Frame("Attention: peak memory of forward and backward",
                         title, "MiB beyond inputs"),
                   "set logscale y 10\n", Plot(lines.WithoutHidden(), {}));
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
