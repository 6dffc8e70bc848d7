#ifndef ORDO_SERVICES_CLI_UPLOAD_H_
#define ORDO_SERVICES_CLI_UPLOAD_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// Files on this machine that are to be uploaded.
struct LocalFolder {
  // What the paths of the list are below.
  std::string path;
  // What is sent of it, with sizes and digests.
  ordo::checkpoints::v1::Upload list;
  // What is not, such as a tokenizer's files beside a checkpoint.
  std::vector<std::string> left_out;
};

// Looks at a folder of Hugging Face's or Ordo's: what of it is sent, and that
// the server can use it, so that nothing is sent in vain. INVALID_ARGUMENT
// names the file, and in it the key or the tensor, that is not right; DATA_LOSS
// a file that is not what the folder's MANIFEST.json says.
absl::StatusOr<LocalFolder> ReadLocalFolder(Context& context,
                                            const std::string& path);

// Sets size and digest of each file of the folder's list.
absl::Status FillFacts(Context& context, LocalFolder* folder);

// The calls that an upload of one kind begins and ends with.
struct UploadCalls {
  // How much of each file the server has.
  std::function<absl::StatusOr<ordo::checkpoints::v1::Upload>()> create;
  // NOT_FOUND, FAILED_PRECONDITION or DATA_LOSS: the server lacks bytes.
  std::function<absl::Status()> commit;
};

// Sends what the server lacks of the folder, and commits. Rides out an absence
// of the scheduler; what an interrupted upload has sent is not sent again.
// CANCELLED: interrupted. Errors of the calls are passed on.
absl::Status SendFolder(Context& context, const LocalFolder& folder,
                        const UploadCalls& calls);

// "uploads/<id>", as CreateUpload names it: what was committed before is found
// without it.
std::string UploadName(const LocalFolder& folder);

// Sends a folder that ReadLocalFolder has read and makes it the checkpoint of a
// job named `job`. As SendFolder; ALREADY_EXISTS: the name is taken.
absl::StatusOr<ordo::checkpoints::v1::Checkpoint> Upload(
    Context& context, const LocalFolder& folder, const std::string& job);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_UPLOAD_H_
