#ifndef ORDO_REPORT_GATE_SUMMARY_H_
#define ORDO_REPORT_GATE_SUMMARY_H_

#include <cstddef>
#include <string>

#include "report/gate/account.h"
#include "report/summary/summary.h"

// The report of a gate. Pure functions, thread-safe.

namespace ordo::report::gate {

// Worse items of one comparison in the page, and in Markdown, whose readers
// have less room; the JSON has all that are listed.
inline constexpr size_t kMaxPageItems = 200;
inline constexpr size_t kMaxMarkdownItems = 20;

// For RenderPage: sentences, the table of comparisons and of
// checkpoints, the items that got worse, a figure of the differences, and as
// metrics num_comparisons, passed, failed (0 or 1) and for each comparison
// difference_<task>_<reference>. Its JSON has all of the account, also for
// programs: verdict, outcome, options, checkpoints, comparisons. Its CSV is the
// table of comparisons.
summary::Summary Summarize(const Account& account);

// For the summary page of a CI system. Prompts and outputs stand as code, so
// that nothing of them is markup.
std::string ToMarkdown(const Account& account);

// The differences with their intervals, one below the other; zero and the
// margins marked.
Figure DifferencePlot(const Account& account);

}  // namespace ordo::report::gate

#endif  // ORDO_REPORT_GATE_SUMMARY_H_
