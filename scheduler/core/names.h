#ifndef ORDO_SCHEDULER_CORE_NAMES_H_
#define ORDO_SCHEDULER_CORE_NAMES_H_

#include <string>

// Resource names of jobs and of what belongs to them. Nothing is checked.

namespace ordo::scheduler::core {

// "jobs/a", "jobs/a/checkpoints/200-1", "jobs/a/reports/addition-200".
std::string JobName(const std::string& job);
std::string CheckpointName(const std::string& job, const std::string& id);
std::string ReportName(const std::string& job, const std::string& id);
// The id in the last part of a resource name: "200-1".
std::string IdOf(const std::string& name);
// The id of the job in any of these names: "a".
std::string JobIdOf(const std::string& name);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_NAMES_H_
