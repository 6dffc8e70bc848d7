#ifndef ORDO_SCHEDULER_BOUND_SCHEDULER_H_
#define ORDO_SCHEDULER_BOUND_SCHEDULER_H_

#include <memory>
#include <set>
#include <string>

#include "scheduler/scheduler.h"

namespace ordo::scheduler {

// A scheduler as those see it who are bound to some queues, by id. Of jobs in
// other queues, and of what belongs to them, there is nothing: neither in what
// is got, listed, watched, explained or counted, nor in the errors of what
// names them, which are those of names that do not exist. Texts that speak of
// such a job do not say its name. Names stay those of the whole deployment: one
// that is taken elsewhere cannot be taken.
//
// Workers announce themselves, and people administer, past it. `scheduler`
// outlives what this gives and calls back; this need not.
std::unique_ptr<Scheduler> MakeBoundScheduler(Scheduler& scheduler,
                                              std::set<std::string> queues);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_BOUND_SCHEDULER_H_
