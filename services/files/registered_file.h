#ifndef ORDO_SERVICES_FILES_REGISTERED_FILE_H_
#define ORDO_SERVICES_FILES_REGISTERED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "services/files/stream_reactor.h"

// Files of checkpoints and reports, which were registered with their size and
// digest and do not change any more.

namespace ordo::services::files {

// Most bytes of one message of a file.
inline constexpr size_t kMaxPartBytes = 256 << 10;

// Where the files of a deployment lie.
struct Storage {
  base::Filesystem& files;
  // The storage root.
  std::string root;
};

// A part of a file, as it goes into one message.
struct FilePart {
  std::string data;
  int64_t offset = 0;
  // Of the whole file; in the first part only.
  int64_t size_bytes = 0;
  std::string sha256;
};

// Whether an open file lies below a storage root, links in both resolved, so
// that nobody who may write there has others read what lies elsewhere.
bool LiesUnder(const std::string& root, base::ReadableFile& file);

// The file of `files` with this path. INVALID_ARGUMENT (field `path`) when the
// path is empty; NOT_FOUND, with the paths that there are, when none has it.
absl::StatusOr<training::v1::FileInfo> FindFile(
    const google::protobuf::RepeatedPtrField<training::v1::FileInfo>& files,
    std::string_view path);

// Size of a file that was not registered with one.
inline constexpr int64_t kUnknownSize = -1;

// Reads a registered file part by part. Not thread-safe.
class RegisteredFileReader {
 public:
  // `folder` is relative to the storage root, `info.path` to the folder.
  // INVALID_ARGUMENT (field `offset`) for a negative offset.
  static absl::StatusOr<std::unique_ptr<RegisteredFileReader>> Make(
      const Storage& storage, std::string_view folder,
      const training::v1::FileInfo& info, int64_t offset);

  // The next part; the first comes even if it is empty. Opens the file at the
  // first call. DATA_LOSS when the file is not there, has another size than
  // registered, or lies outside the storage root; OUT_OF_RANGE when it ends
  // before the offset.
  absl::StatusOr<StreamStep> Next(FilePart* part);

 private:
  RegisteredFileReader(const Storage& storage, std::string path,
                       const training::v1::FileInfo& info, int64_t offset)
      : storage_(storage), path_(path), info_(info), offset_(offset) {}

  absl::Status Open();

  Storage storage_;
  std::string path_;
  training::v1::FileInfo info_;
  int64_t offset_;
  std::unique_ptr<base::ReadableFile> file_;
};

// Sends the file as messages with the fields data, offset, size_bytes and
// sha256.
template <typename Response>
typename StreamReactor<Response>::Source SendFile(
    std::shared_ptr<RegisteredFileReader> reader) {
  return [reader](Response* response) -> absl::StatusOr<StreamStep> {
    FilePart part;
    const absl::StatusOr<StreamStep> step = reader->Next(&part);
    if (!step.ok() || *step != StreamStep::kSend) return step;
    response->set_data(std::move(part.data));
    response->set_offset(part.offset);
    response->set_size_bytes(part.size_bytes);
    response->set_sha256(part.sha256);
    return step;
  };
}

}  // namespace ordo::services::files

#endif  // ORDO_SERVICES_FILES_REGISTERED_FILE_H_
