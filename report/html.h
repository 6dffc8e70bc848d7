#ifndef ORDO_REPORT_HTML_H_
#define ORDO_REPORT_HTML_H_

#include <string>
#include <vector>

#include "report/grid.h"

namespace ordo::report {

// A model on the page.
struct PageEntry {
  Grid grid;
  // "tape (position_size=16)", or empty.
  std::string encoding;
  // The heat map, as gnuplot wrote it.
  std::string heat_map_svg;
};

struct Page {
  std::string title;
  // When it was made, for people.
  std::string created;
  std::vector<PageEntry> entries;
  // Accuracy at equal lengths of all entries.
  std::string equal_lengths_svg;
};

// One file of HTML with everything in it: no script, nothing fetched, light or
// dark as the reader's system is.
std::string RenderHtml(const Page& page);

// The page up to its title and the line below that, with the style that all
// pages have.
std::string HtmlHead(const std::string& title, const std::string& created);

// Text as it stands in HTML, also inside a quoted attribute.
std::string EscapeHtml(const std::string& text);

// An SVG file as it stands inside HTML: without XML prologue, and with `prefix`
// before every id, so that several can stand on one page.
std::string InlineSvg(const std::string& svg, const std::string& prefix);

// "53.1 % [50.2, 56.0]"; "-" without samples.
std::string ShareText(const GridScore& score);

}  // namespace ordo::report

#endif  // ORDO_REPORT_HTML_H_
