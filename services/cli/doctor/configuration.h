#ifndef ORDO_SERVICES_CLI_DOCTOR_CONFIGURATION_H_
#define ORDO_SERVICES_CLI_DOCTOR_CONFIGURATION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/config/v1/scheduler.pb.h"
#include "proto/ordo/config/v1/worker.pb.h"
#include "services/cli/doctor/finding.h"
#include "services/cli/doctor/storage.h"

namespace ordo::services::cli::doctor {

// What a configuration file holds: one of the two.
struct Configuration {
  std::optional<config::v1::SchedulerConfig> scheduler;
  std::optional<config::v1::WorkerConfig> worker;
};

// INVALID_ARGUMENT: it is neither's, and why.
absl::StatusOr<Configuration> ReadConfiguration(base::Filesystem& files,
                                                const std::string& path);

// The folders, ports, certificates and addresses that a configuration names, as
// CheckFolder, CheckListenSite and CheckCertificates say, and
// "network/scheduler" and "data/roots" of a worker's.
Findings CheckConfiguration(const FolderCalls& calls,
                            const Configuration& configuration);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_CONFIGURATION_H_
