#ifndef ORDO_SERVICES_CLI_LOCAL_DATA_H_
#define ORDO_SERVICES_CLI_LOCAL_DATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/data/v1/data.pb.h"
#include "services/cli/context.h"
#include "services/cli/upload.h"

namespace ordo::services::cli {

// Looks at a file, or at all files of a folder and below it, that are to become
// data: what of it is sent, and that the server can take it, so that nothing is
// sent in vain. A token file brings its JSON file along. Left out are empty
// files and those and folders that begin with a dot. INVALID_ARGUMENT names the
// file that is not right; NOT_FOUND: there is none.
absl::StatusOr<LocalFolder> ReadLocalData(Context& context,
                                          const std::string& path);

// Sends what ReadLocalData has read and makes it a version of the data `id`, as
// SendFolder. ALREADY_EXISTS: what lies under the name was not pushed.
absl::StatusOr<ordo::data::v1::Data> PushData(Context& context,
                                              const LocalFolder& folder,
                                              const std::string& id);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_LOCAL_DATA_H_
