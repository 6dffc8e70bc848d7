#ifndef ORDO_MODEL_CATALOG_RESULT_KEY_H_
#define ORDO_MODEL_CATALOG_RESULT_KEY_H_

#include <string>

#include "google/protobuf/repeated_field.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/result_key.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What a result of an evaluation is known by. Scheduler and trainer compute it
// here, and what it gives is stored: the same for ever for the same messages,
// whatever release they were made by. Pure functions, thread-safe.

namespace ordo::model::catalog {

// A question put to a checkpoint. Not owned.
struct AskedOfCheckpoint {
  // Lower-case hex SHA-256 of its MANIFEST.json.
  const std::string& manifest_sha256;
  // Resolved. What it is called, and when it is asked, does not count.
  const ordo::training::v1::Evaluation& evaluation;
  // Takes the place of the checkpoint's; null: nothing does.
  const ordo::training::v1::Component* encoding;
  // Kind of device; empty: `cpu`.
  const std::string& device;
};

// Its key, without what only the answer tells.
ordo::training::v1::ResultKey QuestionOf(const AskedOfCheckpoint& asked);

// SHA-256, 64 lower-case hexadecimal digits, over what is known when a question
// is asked, and over all of the key. Fields that are not set count for nothing,
// so that a field which a later release adds changes no digest of what does not
// set it.
std::string QuestionDigest(const ordo::training::v1::ResultKey& key);
std::string KeyDigest(const ordo::training::v1::ResultKey& key);

// What a key has for a kernel where none was named: the best of `kernels`,
// which the device has, best first and separated by spaces; empty for none. It
// is part of the answer: who asks does not know the device.
std::string BestOf(const std::string& kernels);

// The same over paths, sizes and digests of files, in any order.
std::string FilesDigest(
    const google::protobuf::RepeatedPtrField<ordo::training::v1::FileInfo>&
        files);

// In which evaluations compute on a kind of device, however the model was
// trained: "bf16" on `cuda`, "fp32" elsewhere.
std::string EvaluationPrecision(const std::string& device);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESULT_KEY_H_
