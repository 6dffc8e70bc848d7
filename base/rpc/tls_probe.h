#ifndef ORDO_BASE_RPC_TLS_PROBE_H_
#define ORDO_BASE_RPC_TLS_PROBE_H_

#include <string>

#include "absl/status/status.h"
#include "base/certificates/tls_files.h"

namespace ordo::base {

// What stands between a client and the server at "HOST:PORT" that it cannot
// talk to, as far as TLS is it: connects once more, with the client's files
// (without authorities: a client without TLS), and says as UNAVAILABLE what is
// wrong and what to do, in the names of the files: the server speaks TLS and
// the client does not, or the reverse; the server's certificate has expired,
// names another host, or comes from another authority; the server refuses the
// client's. OK when it is none of these, also when nobody listens. Takes some
// seconds at most.
absl::Status ProbeTls(const std::string& address, const TlsFiles& files);

}  // namespace ordo::base

#endif  // ORDO_BASE_RPC_TLS_PROBE_H_
