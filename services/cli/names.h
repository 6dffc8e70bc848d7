#ifndef ORDO_SERVICES_CLI_NAMES_H_
#define ORDO_SERVICES_CLI_NAMES_H_

#include <string>

#include "absl/status/statusor.h"

namespace ordo::services::cli {

// What a person names: "x" or "jobs/x", "workers/w", "aliases/main",
// "jobs/x/checkpoints/200-1", "jobs/x/reports/addition_grid-200".
struct ResourceName {
  enum class Kind { kJob, kWorker, kAlias, kCheckpoint, kReport };

  Kind kind = Kind::kJob;
  // The job's, the worker's or the alias's id.
  std::string parent;
  // The checkpoint's or the report's id.
  std::string id;

  // The resource name, such as "jobs/x".
  std::string ToString() const;
};

// INVALID_ARGUMENT says which forms there are.
absl::StatusOr<ResourceName> ParseResourceName(const std::string& text);

// The resource name of a job given as "x" or "jobs/x".
absl::StatusOr<std::string> JobName(const std::string& text);

// The same for a worker, "w" or "workers/w", a queue, "q" or "queues/q", and an
// alias, "main" or "aliases/main".
absl::StatusOr<std::string> WorkerName(const std::string& text);
absl::StatusOr<std::string> AliasName(const std::string& text);
absl::StatusOr<std::string> QueueName(const std::string& text);

// "x" of "jobs/x": the last part.
std::string ShortName(const std::string& resource_name);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_NAMES_H_
