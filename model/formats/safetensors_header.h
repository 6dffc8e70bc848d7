#ifndef ORDO_MODEL_FORMATS_SAFETENSORS_HEADER_H_
#define ORDO_MODEL_FORMATS_SAFETENSORS_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/files/files.h"

// What stands before the tensors of a safetensors file
// (https://github.com/huggingface/safetensors, "Format"). Without LibTorch: a
// server that takes such a file checks it too.

namespace ordo::model::formats {

// Largest header that is read or written.
inline constexpr size_t kMaxSafetensorsHeaderBytes = 100'000'000;

// What the header says of one tensor.
struct SafetensorsEntry {
  std::string name;
  // Element type, "F32".
  std::string type;
  std::vector<int64_t> shape;
  // Of its bytes, behind the header.
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafetensorsHeader {
  // In the order of their bytes.
  std::vector<SafetensorsEntry> entries;
  // Where the tensors begin.
  uint64_t num_bytes = 0;
};

struct SafetensorsFile {
  // For messages.
  std::string path;
  // Of the whole file.
  uint64_t num_bytes = 0;
};

// The header of a file from its first bytes, of which there are at least the
// whole header's. DATA_LOSS, naming the file, when it is truncated, has bytes
// left over, holes, overlaps, a type that is not known, or a header that is not
// right. INVALID_ARGUMENT, naming the tensor, for a type of the format that no
// model here has.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(
    std::string_view bytes, const SafetensorsFile& file);

// The same for a file; messages call it `shown_path`.
absl::StatusOr<SafetensorsHeader> ReadSafetensorsHeader(
    base::Filesystem& files, const std::string& path,
    const std::string& shown_path);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_SAFETENSORS_HEADER_H_
