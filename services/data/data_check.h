#ifndef ORDO_SERVICES_DATA_DATA_CHECK_H_
#define ORDO_SERVICES_DATA_DATA_CHECK_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "base/files/files.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"

// What may be pushed as data. The command line asks the same before it sends
// anything. What the files say is read by the first job that uses them.

namespace ordo::services::data {

inline constexpr int kMaxDataFiles = 10'000;
inline constexpr size_t kMaxDataPathBytes = 1024;

// What is wrong with the path of a file, as a sentence part; empty: nothing.
// Paths are relative, of parts of 1..255 bytes that do not begin with a dot, in
// UTF-8 without control characters.
std::string DataPathProblem(const std::string& path);

// The path of the JSON file that says what the tokens of a token file (x.bin,
// x.bin.gz, x.bin.zst) are; empty of other files.
std::string TokenInfoOf(const std::string& path);

// INVALID_ARGUMENT with one violation for each thing wrong with the list;
// fields are those of CreateUploadRequest, "upload.files[2].path". No path is
// there twice, or is that of a file and of a folder; a token file (x.bin,
// x.bin.gz, x.bin.zst) has its x.bin.json.
absl::Status CheckDataList(const ordo::checkpoints::v1::Upload& upload);

// Looks at the files of a list that CheckDataList has passed, in `folder`.
// INVALID_ARGUMENT names the first that is not compressed as its name says, or
// a token file of another size than its x.bin.json says.
absl::Status CheckDataFiles(base::Filesystem& files, const std::string& folder,
                            const ordo::checkpoints::v1::Upload& list);

}  // namespace ordo::services::data

#endif  // ORDO_SERVICES_DATA_DATA_CHECK_H_
