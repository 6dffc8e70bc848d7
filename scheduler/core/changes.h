#ifndef ORDO_SCHEDULER_CORE_CHANGES_H_
#define ORDO_SCHEDULER_CORE_CHANGES_H_

#include <string>

#include "absl/time/time.h"
#include "google/protobuf/repeated_field.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "scheduler/scheduler.h"

// The record of who changed what, kept with what was changed.

namespace ordo::scheduler::core {

// Kept of one thing; older ones are in the log only (NoteChange).
inline constexpr int kMaxChanges = 20;
// Longest `action`, in bytes.
inline constexpr size_t kMaxActionBytes = 512;

// Appends a change, of which `action` says what was done.
void AddChange(const std::string& action, const Author& author, absl::Time now,
               google::protobuf::RepeatedPtrField<audit::v1::Change>* changes);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_CHANGES_H_
