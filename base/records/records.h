#ifndef ORDO_BASE_RECORDS_RECORDS_H_
#define ORDO_BASE_RECORDS_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"

// An append-only file of records, written by one process and followed by
// others. Each record is a header of 12 bytes and a payload; numbers are little
// endian:
//
//   bytes 0-3    length of the payload
//   bytes 4-7    CRC32C of the payload
//   bytes 8-11   CRC32C of bytes 0-7
//   bytes 12-    payload
//
// The header's own checksum tells a torn tail (wait, or drop it) from a damaged
// length (data loss).

namespace ordo::base {

inline constexpr size_t kMaxRecordBytes = 16 << 20;

// Appends records. Not thread-safe; one writer per file.
class RecordWriter {
 public:
  // Opens or creates a file. A torn record at its end, left by a crash, is cut
  // off; a damaged file is DATA_LOSS. `files` must outlive the writer.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Open(
      Filesystem& files, const std::string& path);

  // INVALID_ARGUMENT above kMaxRecordBytes. After another error the file may
  // end in a torn record: open it again before going on.
  absl::Status Append(std::string_view payload);

  // Makes all appended records durable.
  absl::Status Sync();

 private:
  explicit RecordWriter(std::unique_ptr<WritableFile> file)
      : file_(std::move(file)) {}

  std::unique_ptr<WritableFile> file_;
};

// Reads records in order from an offset that an earlier reader reported. Not
// thread-safe. May read while the file is written.
class RecordReader {
 public:
  // `files` must outlive the reader. `offset` is 0 or a value of offset().
  RecordReader(Filesystem& files, std::string path, uint64_t offset = 0)
      : files_(files), path_(std::move(path)), offset_(offset) {}

  // The next payload; nothing when no whole record is there yet (also when the
  // file does not exist yet): try again later. DATA_LOSS when the bytes are
  // damaged; the reader stays where it is.
  absl::StatusOr<std::optional<std::string>> Next();

  // Where the next record begins, in bytes.
  uint64_t offset() const { return offset_; }

 private:
  Filesystem& files_;
  const std::string path_;
  uint64_t offset_;
  std::unique_ptr<ReadableFile> file_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_RECORDS_RECORDS_H_
