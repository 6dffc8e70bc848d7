#ifndef ORDO_SCHEDULER_MAIN_CONFIG_H_
#define ORDO_SCHEDULER_MAIN_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "scheduler/core/state.h"
#include "scheduler/server/archivist.h"
#include "services/limits/limits.h"

namespace ordo::scheduler {

// Reads a textproto SchedulerConfig as it stands. Errors name the file.
absl::StatusOr<config::v1::SchedulerConfig> ReadConfig(base::Filesystem& files,
                                                       const std::string& path);

// The configuration with every default filled in. INVALID_ARGUMENT with one
// violation for each field that is not valid, all at once. `deployment`, if not
// empty, replaces the field.
absl::StatusOr<config::v1::SchedulerConfig> ResolveConfig(
    config::v1::SchedulerConfig config, const std::string& deployment);

// Options of a resolved configuration.
core::Options CoreOptions(const config::v1::SchedulerConfig& config);
server::RetentionOptions RetentionOf(const config::v1::SchedulerConfig& config);

// The limits of the API in a resolved configuration.
services::limits::LimitsOptions ApiLimits(
    const config::v1::SchedulerConfig& config);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_CONFIG_H_
