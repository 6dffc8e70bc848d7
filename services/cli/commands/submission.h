#ifndef ORDO_SERVICES_CLI_COMMANDS_SUBMISSION_H_
#define ORDO_SERVICES_CLI_COMMANDS_SUBMISSION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/context.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// Sets fields, each "path=value", as --set does. The error names all that
// cannot be set; the others are.
absl::Status ApplySettings(const std::vector<std::string>& settings,
                           jobs::v1::JobSpec* spec);

// 32 random hexadecimal digits: with one, a call that is repeated because its
// answer was lost creates nothing twice.
std::string RandomRequestId();

// What a job may be called: the base, which a person gave; the first of `base`,
// `base`-2, `base`-3, ... that is not taken; the same from -2 on, for a base
// that is known to be taken.
enum class Naming { kAsGiven, kFree, kNumbered };

// Creates a job with a name of `base`, which is cut where a number would make
// it too long. ALREADY_EXISTS if the name was given and is taken.
absl::StatusOr<jobs::v1::Job> CreateNamed(Context& context,
                                          jobs::v1::JobSpec spec,
                                          const std::string& base,
                                          Naming naming);

// The error of a create that got no answer, or that was interrupted before it:
// says that the jobs (names without "jobs/") may exist and how to find out, or
// how to repeat it when there is a `request_id` that a person can give. An
// interrupt is DEADLINE_EXCEEDED, as the end of a wait is. Other errors stay.
absl::Status ExplainUnanswered(const absl::Status& status,
                               const std::vector<std::string>& names,
                               const std::string& request_id);

absl::StatusOr<jobs::v1::Job> GetJob(Context& context, const std::string& name);

// The spec of a job that is to do the same once more: the spec of `old` without
// its hold, as whoever released that job wanted it to run.
jobs::v1::JobSpec SpecAgain(const jobs::v1::Job& old);

// Adds the evaluations that are asked for: those of --task, else those of
// `trained`, the job of the checkpoint; with --param as their parameters.
absl::Status FillEvaluations(const Arguments& arguments,
                             const jobs::v1::Job& trained,
                             jobs::v1::JobSpec* spec);

// The error of a job that was made of options, in their words: a violation of a
// field that --task, --param or one of `options` set, by the fields that these
// set, names that option; of another the field, as --set takes it. Of errors
// without violations the field that the message begins with.
absl::Status InWordsOfOptions(const Arguments& arguments,
                              const std::map<std::string, std::string>& options,
                              const absl::Status& status);

// Says on standard error what is worth knowing of jobs that were created: their
// notices, how to follow their parts, and how to release those on hold.
void SayOfCreated(Context& context, const std::vector<jobs::v1::Job>& jobs);

// Prints jobs that were created: as -o asks, or their names; beside it what
// SayOfCreated says.
void PrintCreated(Context& context, const std::vector<jobs::v1::Job>& jobs);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_SUBMISSION_H_
