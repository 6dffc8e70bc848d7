#include "report/figure.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/status.h"
#include "report/statistics.h"

namespace ordo::report {
namespace {

constexpr absl::Duration kDrawTimeout = absl::Seconds(60);
// Larger grids get no numbers in their cells.
constexpr int kMaxWrittenDigits = 16;

// Dark to light with steadily growing lightness, so that it reads in grey and
// to the colour-blind.
constexpr char kPalette[] =
    "set palette defined (0 '#2d1160', 0.2 '#51127c', 0.4 '#b73779', "
    "0.6 '#f1605d', 0.8 '#feae76', 1 '#fcfdbf')\n";

// Line colours that the colour-blind can tell apart.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#000000"};

// Of the lines below a figure that say what it was made of.
constexpr int kSourceLinePx = 14;
// A letter of them is seldom wider.
constexpr double kSourceLetterPx = 6.5;
// Beside them on either side, as a share of the figure's width.
constexpr double kSourceMargin = 0.012;

// Its source in lines that fit between the margins, broken between words.
std::vector<std::string> SourceLines(const Figure& figure) {
  const auto width = static_cast<size_t>((1 - 2 * kSourceMargin) *
                                         figure.width_px / kSourceLetterPx);
  std::vector<std::string> lines;
  for (const absl::string_view word :
       absl::StrSplit(figure.source, ' ', absl::SkipEmpty())) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back(word);
    } else {
      absl::StrAppend(&lines.back(), " ", word);
    }
  }
  return lines;
}

// The figure with its source below it.
Figure WithSource(const Figure& figure) {
  const std::vector<std::string> lines = SourceLines(figure);
  if (lines.empty()) return figure;
  const int foot_px =
      kSourceLinePx * static_cast<int>(lines.size()) + kSourceLinePx / 2;
  Figure whole = figure;
  whole.height_px += foot_px;
  const double height_px = whole.height_px;
  const auto as_text = [](std::string* out, const std::string& line) {
    out->append(GnuplotText(line));
  };
  whole.script = absl::StrFormat(
      "set origin 0,%.6g\nset size 1,%.6g\nset label \"%s\" at screen "
      "%.6g,%.6g left front font ',9' textcolor rgb '#666666'\n%s",
      foot_px / height_px, figure.height_px / height_px,
      absl::StrJoin(lines, "\\n", as_text), kSourceMargin,
      (foot_px - kSourceLinePx / 2) / height_px, figure.script);
  return whole;
}

// gnuplot's own has a blank before a number, by which one in the middle of its
// tic stands beside it.
constexpr char kTicFormat[] = "set format '%h'\n";

std::string Terminal(const Figure& figure, FigureForm form) {
  if (form == FigureForm::kSvg) {
    return absl::StrFormat(
        "set terminal svg size %d,%d enhanced font 'sans-serif,13' "
        "background '#ffffff'\n",
        figure.width_px, figure.height_px);
  }
  // Twice the size, for screens with small pixels.
  return absl::StrFormat(
      "set terminal pngcairo size %d,%d enhanced font 'sans-serif,13' "
      "fontscale 2 linewidth 2 background '#ffffff'\n",
      2 * figure.width_px, 2 * figure.height_px);
}

absl::StatusOr<std::string> FindGnuplot() {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder :
       absl::StrSplit(path == nullptr ? "/usr/bin" : path, ':')) {
    const std::string file = base::JoinPath(std::string(folder), "gnuplot");
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return absl::FailedPreconditionError(
      "figures are drawn by gnuplot, which is not installed; install the "
      "package gnuplot-nox (apt-get install gnuplot-nox)");
}

// This process's own environment, but in UTF-8 whatever its locale: texts are
// UTF-8, and numbers have points.
std::vector<std::string> GnuplotEnvironment() {
  std::vector<std::string> environment = {"LC_ALL=C.UTF-8"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "LC_ALL=", 7) != 0) environment.push_back(*entry);
  }
  return environment;
}

std::string ReadError(base::Filesystem& files, const std::string& path) {
  const auto text = base::ReadFile(files, path, 1 << 16);
  if (!text.ok()) return "";
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const size_t error = line.find("line ");
    if (error != absl::string_view::npos) {
      return std::string(line.substr(error));
    }
  }
  return *text;
}

}  // namespace

std::string MapColors() { return kPalette; }

std::string LineColor(size_t index) {
  return kColors[index % std::size(kColors)];
}

std::string GnuplotText(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      safe += ' ';
    } else if (c == '"' || c == '`') {
      // These end the string, or run a command, whatever stands before them.
      safe += '\'';
    } else if (c == '\\') {
      safe += '/';
    } else if (c == '_' || c == '^' || c == '{' || c == '}' || c == '@' ||
               c == '&' || c == '~') {
      safe += std::string("\\\\") + c;
    } else {
      safe += c;
    }
  }
  return safe;
}

Figure HeatMap(const Grid& grid) {
  Figure figure;
  figure.width_px = 560;
  figure.height_px = 480;
  const int n = grid.max_digits;
  std::string& script = figure.script;
  absl::StrAppend(&script, kPalette, "set cbrange [0:100]\n",
                  "set cblabel \"right answers (%)\"\n",
                  "set xlabel \"digits of A\"\nset ylabel \"digits of B\"\n",
                  "set title \"", GnuplotText(grid.name), "\"\n",
                  "set size ratio 1\nunset key\n",
                  "set tics out nomirror scale 0.5\n");
  const int step = std::max(1, (n + 9) / 10);
  absl::StrAppendFormat(&script,
                        "set xrange [0.5:%d.5]\nset yrange [0.5:%d.5]\n"
                        "set xtics %d,%d\nset ytics %d,%d\n",
                        n, n, step, step, step, step);
  if (grid.trained_digits > 0 && grid.trained_digits < n) {
    absl::StrAppendFormat(
        &script,
        "set object 1 rectangle from 0.5,0.5 to %d.5,%d.5 front fillstyle "
        "empty border rgb '#00d0ff' linewidth 3\n",
        grid.trained_digits, grid.trained_digits);
  }
  absl::StrAppend(&script, "$grid << EOD\n");
  for (int a = 1; a <= n; ++a) {
    for (int b = 1; b <= n; ++b) {
      absl::StrAppendFormat(&script, "%d %d %.6g\n", a, b, 100 * grid.At(a, b));
    }
  }
  absl::StrAppend(&script, "EOD\nplot $grid using 1:2:3 with image pixels");
  if (n <= kMaxWrittenDigits) {
    absl::StrAppend(
        &script, ", $grid using 1:2:(sprintf('%.0f', $3)):",
        "($3 > 55 ? 0x000000 : 0xffffff) with labels textcolor rgb variable ",
        "font ',9'");
  }
  absl::StrAppend(&script, "\n");
  return figure;
}

int MarkedDigits(const std::vector<Grid>& grids) {
  int n = 0;
  int trained = 0;
  for (const Grid& grid : grids) {
    n = std::max(n, grid.max_digits);
    trained = std::max(trained, grid.trained_digits);
  }
  return trained < n ? trained : 0;
}

Figure EqualLengths(const std::vector<Grid>& grids) {
  Figure figure;
  figure.width_px = 720;
  figure.height_px = 400;
  int n = 1;
  for (const Grid& grid : grids) n = std::max(n, grid.max_digits);
  std::string& script = figure.script;
  const int step = std::max(1, (n + 19) / 20);
  absl::StrAppendFormat(
      &script,
      "set xrange [0.5:%d.5]\nset yrange [-3:103]\nset xtics %d,%d\n"
      "set xlabel \"digits of A and of B\"\n"
      "set ylabel \"right answers (%%)\"\n"
      "set grid ytics linecolor rgb '#dddddd'\n"
      "set key outside top center horizontal\n"
      "set tics nomirror\nset border 3\n",
      n, step, step);
  if (const int trained = MarkedDigits(grids); trained > 0) {
    absl::StrAppendFormat(&script,
                          "set arrow 1 from %d.5,-3 to %d.5,103 nohead "
                          "dashtype 2 linecolor rgb '#888888'\n",
                          trained, trained);
  }
  for (size_t g = 0; g < grids.size(); ++g) {
    absl::StrAppend(&script, "$line", g, " << EOD\n");
    for (int i = 1; i <= grids[g].max_digits; ++i) {
      const Share share =
          WilsonInterval(grids[g].right[i - 1][i - 1], grids[g].samples);
      // Beside each other, so that intervals of equal values do not hide each
      // other.
      const double offset = 0.12 * (g - (grids.size() - 1) / 2.0);
      absl::StrAppendFormat(&script, "%.3f %.6g %.6g %.6g\n", i + offset,
                            100 * share.value, 100 * share.low,
                            100 * share.high);
    }
    absl::StrAppend(&script, "EOD\n");
  }
  std::vector<std::string> plots;
  for (size_t g = 0; g < grids.size(); ++g) {
    plots.push_back(absl::StrFormat(
        "$line%d using 1:2:3:4 with yerrorlines linewidth 2 pointtype %d "
        "linecolor rgb '%s' title \"%s\"",
        g, 5 + 2 * (g % 4), LineColor(g), GnuplotText(grids[g].name)));
  }
  absl::StrAppend(&script, "plot ", absl::StrJoin(plots, ", "), "\n");
  return figure;
}

absl::Status Draw(base::Filesystem& files, const Figure& figure,
                  FigureForm form, const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string gnuplot, FindGnuplot());
  const std::string aside = path + ".tmp";
  const std::string script_file = path + ".gnuplot.tmp";
  const std::string error_file = path + ".error.tmp";
  for (const char c : aside) {
    if (c == '\'' || c == '\n') {
      return absl::InvalidArgumentError(absl::StrCat(
          "a figure cannot be written to ", path, ": the name has a quote"));
    }
  }
  const Figure whole = WithSource(figure);
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      files, script_file,
      absl::StrCat("set encoding utf8\n", Terminal(whole, form), "set output '",
                   aside, "'\n", kTicFormat, whole.script, "unset output\n")));
  base::SpawnOptions spawn;
  spawn.argv = {gnuplot, script_file};
  spawn.environment = GnuplotEnvironment();
  spawn.stdout_file = error_file;
  spawn.stderr_file = error_file;
  absl::Status status;
  const auto process = base::Spawn(spawn);
  if (!process.ok()) {
    status = process.status();
  } else {
    const auto ended = base::WaitForExit(process->pid, kDrawTimeout);
    if (!ended.ok()) {
      status = base::AddContext(ended.status(), "draw " + path);
      base::SignalProcess(*process, 9).IgnoreError();
      base::WaitForExit(process->pid, kDrawTimeout).status().IgnoreError();
    } else if (!ended->ok()) {
      status = absl::InternalError(
          absl::StrCat("gnuplot could not draw ", path, " (", ended->ToString(),
                       "): ", ReadError(files, error_file)));
    } else {
      status = files.Rename(aside, path);
    }
  }
  for (const std::string& file : {script_file, error_file, aside}) {
    files.RemoveTree(file).IgnoreError();
  }
  return status;
}

}  // namespace ordo::report
