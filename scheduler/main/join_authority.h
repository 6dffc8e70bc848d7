#ifndef ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_
#define ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "proto/ordo/config/v1/tls.pb.h"
#include "services/access/access_service.h"

namespace ordo::scheduler {

// How long the certificate of a worker that joins holds; it renews it before.
inline constexpr absl::Duration kWorkerCertificateLength = absl::Hours(24 * 30);

// Signs the certificates of workers that join with the authority of
// `tls.join_ca`, whose files are read each time, so that they may be replaced.
// A certificate names the worker's id and no host but its own machine: whoever
// holds a token cannot pass for the scheduler. `files` and `clock` outlive it.
services::access::SignWorker SignWith(
    const config::v1::JoinAuthority& authority, base::Filesystem& files,
    const base::Clock& clock);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_JOIN_AUTHORITY_H_
