#ifndef ORDO_WORKER_TRAINER_COST_H_
#define ORDO_WORKER_TRAINER_COST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"

// What a model costs: the command `cost`.

namespace ordo::worker::trainer {

struct CostOptions {
  // File of a training task; its model and encoding are enough.
  std::string spec;
  // "model", "tape_table3", or empty for both.
  std::string convention;
  // "table", the default, or "json".
  std::string output;
  // Tokens of the row; 0: as many as the data's longest rows have, or 1024.
  int64_t tokens = 0;
};

// Parameters, MACs, FLOPs and bytes of attention's state of each part and of
// the whole, as model/cost/cost.h counts them; ends with a newline.
// INVALID_ARGUMENT names what is wrong.
absl::StatusOr<std::string> CostText(base::Filesystem& files,
                                     const CostOptions& options);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_COST_H_
