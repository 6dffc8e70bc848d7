#ifndef ORDO_SERVICES_CLI_COMMANDS_PARTS_H_
#define ORDO_SERVICES_CLI_COMMANDS_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/context.h"

// What people see of sweeps, comparisons and pipelines, and of the reports that
// sum up, which gates have too.

namespace ordo::services::cli {

// The parts of a job, in the order of their creation.
absl::StatusOr<std::vector<jobs::v1::Job>> ListParts(Context& context,
                                                     const jobs::v1::Job& job);

// Says on standard error how many parts a job that was created has, and how to
// follow them; nothing of a job without parts.
void SayHowToFollow(Context& context, const jobs::v1::Job& job);

// Says on standard error how many parts of a job that was held or moved run,
// which were left as they are, or that this is not known: what was done is
// done. Nothing of a job without parts.
void SayWhatRunsOn(Context& context, const jobs::v1::Job& job);

// Name of the evaluation that a report is of, as the job's spec has it: the id
// is that, the step, and what tells it from others, as in "addition_grid-1000",
// "maps-500-2" or "maps-500-yarn-1a2b3c4d". A benchmark's id is its name.
std::string EvaluationName(const jobs::v1::Job& job,
                           const reports::v1::Report& report);

// Prints the parts of a job as a table: state, progress and the newest scores
// of each, after the name of the evaluation that they are of. Nothing of a job
// without parts.
absl::Status PrintParts(Context& context, const jobs::v1::Job& job);

// The report that sums up the parts of a job, or says what a gate found.
// FAILED_PRECONDITION while there is none.
absl::StatusOr<reports::v1::Report> FindSummary(Context& context,
                                                const jobs::v1::Job& job);

// A file of a report, of at most 64 MiB. NOT_FOUND when it has none so called.
absl::StatusOr<std::string> FetchFile(Context& context,
                                      const reports::v1::Report& report,
                                      const std::string& path);

// Prints such a report: its text, or as -o json or yaml asks its result.json,
// with the name of the report as `report`, and as `html` where its page comes
// to lie unless that is empty.
absl::Status PrintSummary(Context& context, const reports::v1::Report& report,
                          const std::string& html);

// Fetches the report that FindSummary finds: PrintSummary, then its page to
// `html` and its other files beside it, in place of those of the report before
// it (report_files.h): the text as <stem>.md, result.json as <stem>.json, all
// others as <stem>-<name>. A report without a page is only printed.
absl::Status FetchSummary(Context& context, const jobs::v1::Job& job,
                          const std::string& html);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_PARTS_H_
