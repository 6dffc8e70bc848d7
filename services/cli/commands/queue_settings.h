#ifndef ORDO_SERVICES_CLI_COMMANDS_QUEUE_SETTINGS_H_
#define ORDO_SERVICES_CLI_COMMANDS_QUEUE_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/field_mask.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// The options that say what a queue has; --unset among them.
std::vector<Option> QueueOptionTable();

// What a command line sets of a queue.
struct QueueSettings {
  ordo::queues::v1::Queue queue;
  // The fields that are set or unset.
  google::protobuf::FieldMask mask;
};

// INVALID_ARGUMENT for a value that cannot be read, and for a setting that is
// unset too. Ranges are the scheduler's to check.
absl::StatusOr<QueueSettings> ParseQueueSettings(const Arguments& arguments);

// Whether all that a person sets of `queue` is as `settings` would make it:
// what the mask names and `settings` lacks, at its default.
bool HasSettings(const ordo::queues::v1::Queue& queue,
                 const QueueSettings& settings);
// The same for all that can be set.
bool HasOnlySettings(const ordo::queues::v1::Queue& queue,
                     const ordo::queues::v1::Queue& settings);

// Adds to the quotas that `change` gives those that `now` has of other devices,
// in the order of `now`.
void KeepOtherQuotas(const ordo::queues::v1::Queue& now,
                     ordo::queues::v1::Queue* change);

// "4", "4 of at most 8", "at most 8", "none may run": a quota for people.
std::string QuotaText(const ordo::queues::v1::Quota& quota);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_QUEUE_SETTINGS_H_
