#ifndef ORDO_WORKER_TRAINER_GATE_TEXTS_H_
#define ORDO_WORKER_TRAINER_GATE_TEXTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/files/files.h"
#include "model/tasks/task.h"
#include "report/gate/decision.h"

// What people look at first in a gate that failed: what was asked and what was
// answered, of the items that got worse. No LibTorch here.

namespace ordo::worker::trainer {

// Reports of one comparison, in which each item stands once.
struct ReportFolders {
  std::vector<std::string> candidate;
  std::vector<std::string> reference;
};

// Fills in what both answered. Errors of ItemReader.
absl::Status FillOutputs(base::Filesystem& files, const ReportFolders& folders,
                         std::vector<report::gate::WorseItem>* items);

// Fills in the prompts of those that are of the task, cut as outputs are
// (model::evaluation::kMaxOutputBytes); bytes that are no UTF-8 become U+FFFD.
// An item that has several rows, such as one for each choice, has that of the
// first. Errors of the task.
absl::Status FillPrompts(const model::tasks::EvaluationTask& task,
                         uint64_t seed,
                         std::vector<report::gate::WorseItem>* items);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_GATE_TEXTS_H_
