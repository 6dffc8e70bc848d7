#ifndef ORDO_SERVICES_CLI_COMMANDS_REQUEST_PATHS_H_
#define ORDO_SERVICES_CLI_COMMANDS_REQUEST_PATHS_H_

#include <string>
#include <vector>

namespace ordo::services::cli {

// Where a job of a request is from: "a.yaml document 2".
struct JobSource {
  std::string job;
  std::string source;
};

// A text of the server's about a request for these jobs, as a person knows
// them: "requests[1].job.spec.name" and, at its begin, "jobs/JOB: name" become
// "a.yaml document 2: name". What is none of these stays.
std::string WithSources(const std::string& text,
                        const std::vector<JobSource>& sources);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_REQUEST_PATHS_H_
