#include "scheduler/core/names.h"

#include "absl/strings/str_cat.h"

namespace ordo::scheduler::core {

std::string JobName(const std::string& job) {
  return absl::StrCat("jobs/", job);
}

std::string CheckpointName(const std::string& job, const std::string& id) {
  return absl::StrCat("jobs/", job, "/checkpoints/", id);
}

std::string ReportName(const std::string& job, const std::string& id) {
  return absl::StrCat("jobs/", job, "/reports/", id);
}

std::string IdOf(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

std::string JobIdOf(const std::string& name) {
  const size_t begin = name.find('/') + 1;
  return name.substr(begin, name.find('/', begin) - begin);
}

}  // namespace ordo::scheduler::core
