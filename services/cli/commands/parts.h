#ifndef ORDO_SERVICES_CLI_COMMANDS_PARTS_H_
#define ORDO_SERVICES_CLI_COMMANDS_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/context.h"

// What people see of sweeps, comparisons and pipelines.

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

// Prints the parts of a job as a table: state, progress and the newest scores
// of each. Nothing of a job without parts.
absl::Status PrintParts(Context& context, const jobs::v1::Job& job);

// Fetches the report that sums up the parts of a job: its text to the output,
// then its page to `html`, in place of what is there. As -o json or yaml asks,
// its result.json takes the place of the text, with the name of the report as
// `report` and `html` where there is a page. FAILED_PRECONDITION while there is
// no report.
absl::Status FetchSummary(Context& context, const jobs::v1::Job& job,
                          const std::string& html);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_PARTS_H_
