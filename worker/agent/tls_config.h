#ifndef ORDO_WORKER_AGENT_TLS_CONFIG_H_
#define ORDO_WORKER_AGENT_TLS_CONFIG_H_

#include <string>
#include <vector>

#include "base/rpc/tls.h"
#include "base/status/details.h"
#include "proto/ordo/config/v1/tls.pb.h"

namespace ordo::worker::agent {

// Fills in the defaults of a worker's `tls`, and adds a violation for each
// field of it that is not valid. Reads no files. A worker that joins by a token
// keeps certificate and key in one file of its state folder.
void ResolveTls(const std::string& state_folder, ::ordo::config::v1::Tls* tls,
                std::vector<base::FieldViolation>* violations);

// Of a resolved one, what the worker's port listens with.
base::TlsFiles PortFiles(const ::ordo::config::v1::Tls& tls);
// What the scheduler is called with.
base::TlsFiles CallFiles(const ::ordo::config::v1::Tls& tls);
// What the metrics page is served with.
base::TlsFiles PageFiles(const ::ordo::config::v1::Tls& tls);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_TLS_CONFIG_H_
