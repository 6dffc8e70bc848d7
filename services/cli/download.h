#ifndef ORDO_SERVICES_CLI_DOWNLOAD_H_
#define ORDO_SERVICES_CLI_DOWNLOAD_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "services/cli/context.h"
#include "services/cli/names.h"

namespace ordo::services::cli {

// A file of a checkpoint or report, as the scheduler registered it.
struct RemoteFile {
  // A checkpoint or a report.
  ResourceName resource;
  training::v1::FileInfo info;
};

enum class DownloadEnd { kDone, kWasThere };

// Fetches a file to `path` on this machine and verifies size and SHA-256. Bytes
// come into `path`.part first; what an interrupted download left there is not
// fetched again. Rides out an absence of the scheduler. kWasThere: `path` holds
// the very content already. ALREADY_EXISTS: it holds another; DATA_LOSS: what
// came is not what was registered; CANCELLED: interrupted.
absl::StatusOr<DownloadEnd> Download(Context& context, const RemoteFile& file,
                                     const std::string& path);

// The verified content of a small file. RESOURCE_EXHAUSTED above `max_bytes`.
absl::StatusOr<std::string> DownloadToMemory(Context& context,
                                             const RemoteFile& file,
                                             size_t max_bytes);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_DOWNLOAD_H_
