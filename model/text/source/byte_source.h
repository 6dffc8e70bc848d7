#ifndef ORDO_MODEL_TEXT_SOURCE_BYTE_SOURCE_H_
#define ORDO_MODEL_TEXT_SOURCE_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/files/files.h"

namespace ordo::model::text::source {

enum class Compression { kNone, kGzip, kZstd };

// How a file is compressed, by the end of its name: ".gz", ".zst", otherwise
// not.
Compression CompressionOf(std::string_view path);

// The name without that end.
std::string_view WithoutCompression(std::string_view path);

// The content of a file from its beginning to its end, decompressed. Holds a
// few hundred kilobytes, for zstd as much as its window (128 MiB at most). Not
// thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The bytes that follow, valid until the next call; empty at the end, and
  // only there. INVALID_ARGUMENT: the file is not what its name says.
  // DATA_LOSS: it is damaged, or ends in the middle. What was returned before
  // an error is part of the content, but not all of it. After an error, no
  // further call.
  virtual absl::StatusOr<std::string_view> Next() = 0;
};

// `files` outlives the source. NOT_FOUND and the like, as Filesystem.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenBytes(base::Filesystem& files,
                                                      const std::string& path);

}  // namespace ordo::model::text::source

#endif  // ORDO_MODEL_TEXT_SOURCE_BYTE_SOURCE_H_
