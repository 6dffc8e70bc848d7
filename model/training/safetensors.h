#ifndef ORDO_MODEL_TRAINING_SAFETENSORS_H_
#define ORDO_MODEL_TRAINING_SAFETENSORS_H_

#include <map>
#include <string>
#include <string_view>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"

// The safetensors format (https://github.com/huggingface/safetensors,
// "Format"): 8 bytes of little-endian header length, a JSON header, the
// tensors' bytes. Its metadata is the constant {"format": "pt"}.

namespace ordo::model::training {

using TensorMap = std::map<std::string, at::Tensor>;

// Creates `path` with the tensors, durable. The bytes are a pure function of
// names, types, shapes and values: larger element types first, then by name.
// INVALID_ARGUMENT for an element type the format has no name for.
absl::Status WriteSafetensors(base::Filesystem& files, const std::string& path,
                              const TensorMap& tensors);

// The tensors of a file, in memory of their own. DATA_LOSS, naming the file,
// when it is truncated, has bytes left over, holes, overlaps, a type that is
// not known, or a header that is not right. INVALID_ARGUMENT, naming the
// tensor, for a type of the format that no model here has.
absl::StatusOr<TensorMap> ReadSafetensors(base::Filesystem& files,
                                          const std::string& path);

// The same for bytes at hand; `path` is for messages.
absl::StatusOr<TensorMap> ParseSafetensors(std::string_view bytes,
                                           const std::string& path);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_SAFETENSORS_H_
