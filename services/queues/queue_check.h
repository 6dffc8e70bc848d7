#ifndef ORDO_SERVICES_QUEUES_QUEUE_CHECK_H_
#define ORDO_SERVICES_QUEUES_QUEUE_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/field_mask.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"

namespace ordo::services::queues {

// What a person sets of a queue, with its defaults filled in; nothing else of
// it is kept. INVALID_ARGUMENT names all that is wrong, by fields below
// `queue`.
absl::StatusOr<ordo::queues::v1::Queue> ResolveQueue(
    const ordo::queues::v1::Queue& queue);

// `queue` with the fields that `mask` names taken from `change`: UpdateQueue.
// INVALID_ARGUMENT when it names none, or one that nobody can set.
absl::StatusOr<ordo::queues::v1::Queue> MergeQueue(
    const ordo::queues::v1::Queue& queue, const ordo::queues::v1::Queue& change,
    const google::protobuf::FieldMask& mask);

// INVALID_ARGUMENT by `queue_id` unless it can be a queue's.
absl::Status CheckQueueId(const std::string& id);

}  // namespace ordo::services::queues

#endif  // ORDO_SERVICES_QUEUES_QUEUE_CHECK_H_
