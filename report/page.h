#ifndef ORDO_REPORT_PAGE_H_
#define ORDO_REPORT_PAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/table.h"

// What a report shows to people, whatever it is about. Pure functions,
// thread-safe.

namespace ordo::report {

struct NamedFigure {
  // Of its files, without extension.
  std::string name;
  std::string caption;
  Figure figure;
};

struct Page {
  std::string title;
  // When it was made, for people.
  std::string created;
  // What is to be known before the tables, sentence by sentence.
  std::vector<std::string> lead;
  // One or more; the first stands before the figures, the others behind them.
  std::vector<Table> tables;
  std::vector<NamedFigure> figures;
  // How the numbers are to be read.
  std::string method;
};

// Where the first `num_drawn` figures lie as SVG, below `prefix`; the others
// are empty.
std::vector<std::string> FigureFiles(const Page& page, size_t num_drawn,
                                     const std::string& prefix = "");

// `figures` are the files that it is to link, in the order of the page's;
// those that are empty are left out.
std::string RenderMarkdown(const Page& page,
                           const std::vector<std::string>& figures = {});

// One file of HTML with everything in it: no script, nothing fetched, light or
// dark as the reader's system is. `svgs` are the figures, in their order, as
// gnuplot wrote them; those that could not be drawn are empty and left out.
std::string RenderPage(const Page& page, const std::vector<std::string>& svgs);

}  // namespace ordo::report

#endif  // ORDO_REPORT_PAGE_H_
