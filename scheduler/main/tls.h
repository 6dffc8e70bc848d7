#ifndef ORDO_SCHEDULER_MAIN_TLS_H_
#define ORDO_SCHEDULER_MAIN_TLS_H_

#include <vector>

#include "base/rpc/tls.h"
#include "base/status/details.h"
#include "proto/ordo/config/v1/tls.pb.h"

namespace ordo::scheduler {

// Fills in the defaults of the scheduler's `tls`, and adds a violation for each
// field of it that is not valid. Reads no files.
void ResolveTls(config::v1::Tls* tls,
                std::vector<base::FieldViolation>* violations);

// Of a resolved one, what the API's port listens with.
base::TlsFiles PortFiles(const config::v1::Tls& tls);
// What workers are called with.
base::TlsFiles CallFiles(const config::v1::Tls& tls);
// What the metrics page is served with.
base::TlsFiles PageFiles(const config::v1::Tls& tls);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_TLS_H_
