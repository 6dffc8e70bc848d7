#ifndef ORDO_REPORT_FIGURE_H_
#define ORDO_REPORT_FIGURE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "report/grid.h"

// Figures, drawn by gnuplot (package gnuplot-nox).

namespace ordo::report {

// An axis of so many whole numbers has a tic at each; gnuplot has halves too.
inline constexpr int kFewTics = 10;

enum class FigureForm { kSvg, kPng };

// A gnuplot script without its terminal: what to draw, data included.
struct Figure {
  std::string script;
  int width_px = 0;
  int height_px = 0;
  // What it was made of (SourceText), which Draw writes in small lines below
  // it, for which the picture becomes higher; empty: nothing.
  std::string source = {};
};

// The grid as a heat map: digits of B over digits of A, colours from 0 to
// 100 %, the trained square outlined, the share written into each cell while
// the grid is small enough to read it.
Figure HeatMap(const Grid& grid);

// The longest operands in training of any of the grids, where some are longer;
// 0 where none are, or it is not known.
int MarkedDigits(const std::vector<Grid>& grids);

// Accuracy at equal lengths, a line with 95 % intervals for each grid; a dashed
// line behind MarkedDigits.
Figure EqualLengths(const std::vector<Grid>& grids);

// Draws a figure into a file. FAILED_PRECONDITION names the package when there
// is no gnuplot. `files` must outlive the call.
absl::Status Draw(base::Filesystem& files, const Figure& figure,
                  FigureForm form, const std::string& path);

// What sets the colours of maps: dark to light, so that they read in grey and
// to the colour-blind.
std::string MapColors();

// The colour of the line `index` of a figure, as gnuplot writes it; they repeat
// after seven.
std::string LineColor(size_t index);

// `text` as it stands inside a double-quoted gnuplot string that is drawn as
// enhanced text.
std::string GnuplotText(const std::string& text);

}  // namespace ordo::report

#endif  // ORDO_REPORT_FIGURE_H_
