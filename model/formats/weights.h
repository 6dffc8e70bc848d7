#ifndef ORDO_MODEL_FORMATS_WEIGHTS_H_
#define ORDO_MODEL_FORMATS_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/formats/tensors.h"

namespace ordo::model::formats {

inline constexpr char kWeightsFile[] = "model.safetensors";
// Which file holds which tensor, where there are several.
inline constexpr char kIndexFile[] = "model.safetensors.index.json";

// All tensors of a folder: of model.safetensors or, without it, of the files
// that the index names. DATA_LOSS names the file that is damaged, and the
// tensor that is not where the index says.
absl::StatusOr<TensorMap> ReadWeights(base::Filesystem& files,
                                      const std::string& folder);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_WEIGHTS_H_
