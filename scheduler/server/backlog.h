#ifndef ORDO_SCHEDULER_SERVER_BACKLOG_H_
#define ORDO_SCHEDULER_SERVER_BACKLOG_H_

#include <string>
#include <vector>

#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {

// The key of a record among all records.
std::string KeyOf(const core::Record& record);

// The effects of several Applies as those of one, for when they are committed
// and released together anyway and there may be many: of the records of one
// key, of the desired sets and looks of one worker and of the progress of one
// job only the last is left, and counts that add up are added up. What is left
// keeps its order.
core::Effects Merge(std::vector<core::Effects> turns);

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_BACKLOG_H_
