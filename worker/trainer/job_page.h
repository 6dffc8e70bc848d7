#ifndef ORDO_WORKER_TRAINER_JOB_PAGE_H_
#define ORDO_WORKER_TRAINER_JOB_PAGE_H_

#include <cstdint>
#include <set>
#include <string>

#include "worker/trainer/context.h"

namespace ordo::worker::trainer {

// A job that has finished.
struct JobPage {
  std::string job;
  // Numbers of its attempts. What others left in the job's folder, of a job
  // that had its name before, is not shown.
  std::set<int32_t> attempts;
  // Of its model, for people; may be empty.
  std::string encoding = {};
  // All its reports are shown, as each is of a checkpoint of its own; else the
  // newest of each evaluation.
  bool shows_all = false;
};

// Writes what the attempts left, losses and scores, as results/report.html,
// with all in it, report.md, report.json, metrics.csv and losses.csv, and each
// figure as SVG and PNG, in place of earlier ones. What goes wrong is logged.
// Takes a second or two, which a request to stop does not shorten. Where there
// is nothing to show nothing is written.
void WriteJobPage(const TrainerContext& context, const JobPage& about);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_JOB_PAGE_H_
