#ifndef ORDO_MODEL_TASKS_NOPE_SCAN_TASK_H_
#define ORDO_MODEL_TASKS_NOPE_SCAN_TASK_H_

#include <memory>

#include "model/tasks/task.h"

// The commands of model/tasks/nope/scan.h as rows: prompt, actions and end
// mark, each word a token.

namespace ordo::model::tasks::nope {

struct ScanOptions {
  // 1 <= min_actions <= max_actions <= kMaxActions; as CommandsOf takes them.
  int min_actions = 1;
  int max_actions = 25;
};

// All commands of so many actions, over and over, each time in another order.
// The actions and the end mark count in the loss.
std::unique_ptr<TrainingTask> MakeScan(const ScanOptions& options);

struct ScanAnswersOptions {
  ScanOptions commands;
  // Commands of each number of actions that there is.
  int samples = 100;
  // Most actions that the model was trained on, 0 when not known.
  int trained_actions = 0;
};

// Exact match of greedy answers by the number of actions, with the metrics of
// ScoresByLength. Commands are drawn without replacement; where there are fewer
// than are asked for, all are asked again in another order. What is within the
// trained numbers was trained on. Questions of one command are a unit.
std::unique_ptr<EvaluationTask> MakeScanAnswers(
    const ScanAnswersOptions& options);

}  // namespace ordo::model::tasks::nope

#endif  // ORDO_MODEL_TASKS_NOPE_SCAN_TASK_H_
