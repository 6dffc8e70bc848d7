#ifndef ORDO_MODEL_TEXT_TASK_TEXT_SAMPLES_H_
#define ORDO_MODEL_TEXT_TASK_TEXT_SAMPLES_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/inside/rows.h"
#include "model/text/store/facts.h"
#include "model/text/task/token_data.h"
#include "model/text/task/token_stream.h"

namespace ordo::model::text::task {

struct TextSamplesOptions {
  TextOptions text;
  Split split = Split::kHeldOut;
  store::HeldOut held_out;
  // At most so many, at least 1.
  int64_t samples = 1;
  // Tokens of each, min_length <= max_length, at least 1.
  int min_length = 1;
  int max_length = 1;
};

// Pieces of the documents of a split: of each document its first max_length
// tokens, the next, and so on, and what is left of it, where that is at least
// min_length. Of more pieces than samples those are taken that lie evenly among
// them. The seed counts for nothing; ids are "<document>-<first token>".
//
// Reads and tokenizes as OpenTextTask does. INVALID_ARGUMENT, with the field:
// there is no such piece.
absl::StatusOr<std::unique_ptr<tasks::inside::Rows>> OpenTextSamples(
    const tasks::DataAccess& access, const TextSamplesOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_TEXT_SAMPLES_H_
