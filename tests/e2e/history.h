#ifndef ORDO_TESTS_E2E_HISTORY_H_
#define ORDO_TESTS_E2E_HISTORY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"

// What must be true of jobs as the API shows them, whatever was killed.

namespace ordo::tests::e2e {

// Looks at jobs again and again. Not thread-safe.
class History {
 public:
  // INTERNAL names the job and what cannot have become of it since the last
  // look: an older version, another content of the same version, a state that
  // the transition table does not reach in as many changes, an attempt that
  // was forgotten, anything after its end.
  absl::Status See(const jobs::v1::Job& job);

 private:
  std::map<std::string, jobs::v1::Job> seen_;
};

// Of a job that has SUCCEEDED: attempts are numbered without a gap, each ended
// for a reason that there is and before the next began, and the last one alone
// finished. INTERNAL names the first thing that is not so.
absl::Status CheckSucceeded(const jobs::v1::Job& job);

// Over all attempts of all jobs, which have ended: no device of a worker had
// two at a time. INTERNAL names the two.
absl::Status CheckDevices(const std::vector<jobs::v1::Job>& jobs);

}  // namespace ordo::tests::e2e

#endif  // ORDO_TESTS_E2E_HISTORY_H_
