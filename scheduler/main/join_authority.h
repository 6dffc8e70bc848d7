#ifndef ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_
#define ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "proto/ordo/config/v1/tls.pb.h"

namespace ordo::scheduler {

// How long the certificate of a worker that joins holds; it renews it before.
inline constexpr absl::Duration kWorkerCertificateLength = absl::Hours(24 * 30);

// What a worker that joins is given, as PEM.
struct WorkerCertificate {
  // The worker's.
  std::string certificate;
  // That of the authority.
  std::string ca;
};

// A worker that is let in, and what it asks for.
struct JoinOrder {
  config::v1::JoinAuthority authority;
  // PEM.
  std::string signing_request;
  // Its id.
  std::string worker;
  absl::Time now;
};

// Signs a worker's request with the authority of `tls.join_ca`, whose files are
// read each time, so that they may be replaced. The certificate names the
// worker's id and no host but its own machine: whoever holds a token cannot
// pass for the scheduler. INVALID_ARGUMENT: the request is damaged, or not
// signed by its own key; FAILED_PRECONDITION: the authority cannot sign.
absl::StatusOr<WorkerCertificate> SignWorker(const JoinOrder& order,
                                             base::Filesystem& files);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_
