#include "report/color_map.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace ordo::report {
namespace {

constexpr int kWidthPx = 560;
constexpr int kHeightPx = 480;

void MarkColumns(const std::vector<int>& columns, const char* color,
                 std::string* script) {
  for (const int column : columns) {
    absl::StrAppendFormat(script,
                          "set arrow from first %d,graph 0 to first %d,graph 1 "
                          "nohead front linewidth 0.7 linecolor rgb '%s'\n",
                          column, column, color);
  }
}

// "set xtics (\"8\" 1, \"16\" 2)", where there are names; a tic at each
// number where they are few.
void NameTics(const char* axis, const std::vector<std::string>& names,
              size_t count, std::string* script) {
  if (names.empty()) {
    if (count <= kFewTics) absl::StrAppend(script, "set ", axis, " 1\n");
    return;
  }
  std::vector<std::string> tics;
  for (size_t i = 0; i < names.size(); ++i) {
    // Names of tics are formats.
    const std::string name =
        absl::StrReplaceAll(GnuplotText(names[i]), {{"%", "%%"}});
    tics.push_back(absl::StrCat("\"", name, "\" ", i + 1));
  }
  absl::StrAppend(script, "set ", axis, " (", absl::StrJoin(tics, ", "), ")\n");
}

}  // namespace

Figure MapPlot(const ColorMap& map) {
  Figure figure;
  figure.width_px = kWidthPx;
  figure.height_px = kHeightPx;
  std::string& script = figure.script;
  // The y axis is upside down.
  absl::StrAppendFormat(
      &script,
      "%sset cbrange [%.6g:%.6g]\nset cblabel \"%s\"\nset title \"%s\"\n"
      "set xlabel \"%s\"\nset ylabel \"%s\"\nset size ratio 1\nunset key\n"
      "set tics out nomirror scale 0.5\n"
      "set xrange [0.5:%d.5]\nset yrange [%d.5:0.5]\n",
      MapColors(), map.low, map.high, GnuplotText(map.value_label),
      GnuplotText(map.title), GnuplotText(map.x_label),
      GnuplotText(map.y_label), map.rows.front().size(), map.rows.size());
  MarkColumns(map.marked, "#00d0ff", &script);
  MarkColumns(map.marked_otherwise, "#e69f00", &script);
  NameTics("xtics", map.columns, map.rows.front().size(), &script);
  NameTics("ytics", map.row_names, map.rows.size(), &script);
  if (map.outlined_columns > 0 && map.outlined_rows > 0) {
    absl::StrAppendFormat(
        &script,
        "set object 1 rectangle from 0.5,0.5 to %d.5,%d.5 front fillstyle "
        "empty border rgb '#00d0ff' linewidth 3\n",
        map.outlined_columns, map.outlined_rows);
  }
  absl::StrAppend(&script, "$map << EOD\n");
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.rows[row].size(); ++column) {
      absl::StrAppendFormat(&script, "%d %d %.4g\n", column + 1, row + 1,
                            map.rows[row][column]);
    }
  }
  // Each cell reaches below the next ones, which are drawn later: otherwise the
  // ground shows through between cells whose edges fall within a pixel.
  script +=
      "EOD\nplot $map using 1:2:($1-0.5):($1+1):($2-0.5):($2+1):3 with "
      "boxxyerror linecolor palette fillstyle solid noborder\n";
  return figure;
}

}  // namespace ordo::report
