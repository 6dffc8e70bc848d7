#ifndef ORDO_WORKER_TRAINER_CONVERT_H_
#define ORDO_WORKER_TRAINER_CONVERT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/files/files.h"
#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::worker::trainer {

struct ConvertOptions {
  // Folder of the checkpoint.
  std::string checkpoint;
  // Folder to make: config.json and model.safetensors as Hugging Face's library
  // reads them. Where it knows no such kind but `encoding` is given, as Ordo
  // does: the folder then says its encoding itself.
  std::string out;
  // Takes the place of the checkpoint's encoding.
  std::optional<ordo::training::v1::Component> encoding = {};
};

// Writes a checkpoint as the kind of model, of those that model/formats knows,
// that computes the same. INVALID_ARGUMENT when there is none and no encoding
// is given, or the folder exists.
absl::Status Convert(base::Filesystem& files, const ConvertOptions& options);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_CONVERT_H_
