#ifndef ORDO_SERVICES_CLI_COMMANDS_CHANGES_H_
#define ORDO_SERVICES_CLI_COMMANDS_CHANGES_H_

#include "google/protobuf/repeated_field.h"
#include "proto/ordo/audit/v1/change.pb.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// A table of who changed what, when and why, after an empty line; nothing when
// nobody did.
void PrintChanges(
    Context& context,
    const google::protobuf::RepeatedPtrField<audit::v1::Change>& changes);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_CHANGES_H_
