#ifndef ORDO_REPORT_PAGE_H_
#define ORDO_REPORT_PAGE_H_

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

// Without the figures.
std::string RenderMarkdown(const Page& page);

// One file of HTML with everything in it: no script, nothing fetched, light or
// dark as the reader's system is. `svgs` are the figures, in their order, as
// gnuplot wrote them; those that could not be drawn are empty and left out.
std::string RenderPage(const Page& page, const std::vector<std::string>& svgs);

}  // namespace ordo::report

#endif  // ORDO_REPORT_PAGE_H_
