#ifndef ORDO_REPORT_HTML_H_
#define ORDO_REPORT_HTML_H_

#include <string>

// Parts of a page of HTML. Pure functions, thread-safe.

namespace ordo::report {

// The page up to its title and the line below that, with the style that all
// pages have.
std::string HtmlHead(const std::string& title, const std::string& created);

// Text as it stands in HTML, also inside a quoted attribute.
std::string EscapeHtml(const std::string& text);

// An SVG file as it stands inside HTML: without XML prologue, and with `prefix`
// before every id, so that several can stand on one page.
std::string InlineSvg(const std::string& svg, const std::string& prefix);

}  // namespace ordo::report

#endif  // ORDO_REPORT_HTML_H_
