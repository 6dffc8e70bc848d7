#ifndef ORDO_SERVICES_CLI_COMMANDS_REPORT_FILES_H_
#define ORDO_SERVICES_CLI_COMMANDS_REPORT_FILES_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "services/cli/context.h"

// The files of a report on this machine: a page, and what lies beside it.

namespace ordo::services::cli {

inline constexpr char kPageEnd[] = ".html";

// The path of a page without its end, which the names of all files beside it
// begin with.
std::string StemOf(const std::string& html);

// Has a report that was written, with its page at `html`, take the place of the
// one before it: removes the files that the list of that one names and `paths`
// does not, and lists `paths`, all files of the new one, in
// <stem>-files.txt for the next. What no list names stays.
absl::Status ReplaceReport(Context& context, const std::string& html,
                           const std::set<std::string>& paths);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_REPORT_FILES_H_
