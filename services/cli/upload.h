#ifndef ORDO_SERVICES_CLI_UPLOAD_H_
#define ORDO_SERVICES_CLI_UPLOAD_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// A folder on this machine that is to become a checkpoint.
struct LocalFolder {
  std::string path;
  // What is sent of it, with sizes and digests.
  ordo::checkpoints::v1::Upload list;
  // Names of files that a checkpoint does not have, such as a tokenizer's.
  std::vector<std::string> left_out;
};

// Looks at a folder of Hugging Face's or Ordo's: what of it is sent, and that
// the server can use it, so that nothing is sent in vain. INVALID_ARGUMENT
// names the file, and in it the key or the tensor, that is not right; DATA_LOSS
// a file that is not what the folder's MANIFEST.json says.
absl::StatusOr<LocalFolder> ReadLocalFolder(Context& context,
                                            const std::string& path);

// Sends what the server lacks of the folder and makes it the checkpoint of a
// job named `job`. Rides out an absence of the scheduler; what an interrupted
// upload has sent is not sent again. ALREADY_EXISTS: the name is taken;
// CANCELLED: interrupted.
absl::StatusOr<ordo::checkpoints::v1::Checkpoint> Upload(
    Context& context, const LocalFolder& folder, const std::string& job);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_UPLOAD_H_
