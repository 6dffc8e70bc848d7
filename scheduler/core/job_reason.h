#ifndef ORDO_SCHEDULER_CORE_JOB_REASON_H_
#define ORDO_SCHEDULER_CORE_JOB_REASON_H_

#include <memory>
#include <string>
#include <string_view>

namespace ordo::scheduler::core {

// The reason of a job's state: any text, nearly always one of reason::kAll,
// which all jobs share; another (a later release may store one) is its own. A
// pointer's room, as there are a million of them. Copied as a value.
class JobReason {
 public:
  // Empty.
  JobReason() = default;
  JobReason(const JobReason& other);
  JobReason(JobReason&&) noexcept = default;
  JobReason& operator=(const JobReason& other);
  JobReason& operator=(JobReason&&) noexcept = default;
  JobReason& operator=(std::string_view text);
  ~JobReason() = default;

  // Valid until it is set again or destroyed.
  const std::string& value() const;

 private:
  struct FreeOwn {
    void operator()(const std::string* text) const;
  };
  // Null: empty.
  std::unique_ptr<const std::string, FreeOwn> text_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_JOB_REASON_H_
