#ifndef ORDO_SERVICES_CLI_FOLLOW_H_
#define ORDO_SERVICES_CLI_FOLLOW_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

struct FollowedJob {
  // jobs/{job}.
  std::string name;
  // As last heard of; without a name before the first answer.
  jobs::v1::Job job;
  // The server answers.
  bool connected = true;
};

struct FollowOptions {
  // 0: until each job has been heard of once, or a call's timeout is over.
  absl::Duration timeout = absl::InfiniteDuration();
  // on_change is called at least this often.
  absl::Duration tick = absl::InfiniteDuration();
  // Called on the caller's thread when anything has changed.
  std::function<void(const std::vector<FollowedJob>&)> on_change;
};

enum class FollowEnd { kAllEnded, kInterrupted, kTimedOut };

// Follows jobs until all have ended. Rides out an absence of the server for
// ClientOptions::patience; then UNAVAILABLE. What a limit of the server's
// refuses is tried again until it is taken. NOT_FOUND when a job does not
// exist.
absl::StatusOr<FollowEnd> FollowJobs(Context& context,
                                     std::vector<FollowedJob>& jobs,
                                     const FollowOptions& options);

// Names as given on the command line, to start with.
absl::StatusOr<std::vector<FollowedJob>> JobsToFollow(
    const std::vector<std::string>& names);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_FOLLOW_H_
