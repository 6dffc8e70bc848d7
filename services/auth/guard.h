#ifndef ORDO_SERVICES_AUTH_GUARD_H_
#define ORDO_SERVICES_AUTH_GUARD_H_

#include <string>

#include "absl/status/status.h"
#include "base/clock/clock.h"
#include "base/rpc/call.h"
#include "base/rpc/server.h"
#include "google/protobuf/message.h"
#include "grpcpp/server_context.h"
#include "services/auth/audit_log.h"
#include "services/auth/authenticator.h"
#include "services/auth/rights.h"
#include "services/auth/throttle.h"
#include "services/auth/visitor.h"

// The one place that each call passes before the code of its method
// (guarded.h).

namespace ordo::services::auth {

struct GuardOptions {
  // Not owned; outlives the guard.
  const Authenticator* authenticator = nullptr;
  // Null: nothing is written down. Otherwise not owned.
  AuditLog* audit_log = nullptr;
  // Callers who say nothing may speak as workers: where there is no TLS,
  // workers have nothing to show.
  bool believes_workers = false;
};

// Thread-safe.
class Guard {
 public:
  // `clock` outlives this.
  Guard(const GuardOptions& options, const base::Clock& clock)
      : options_(options), failures_(clock), refusals_(clock) {}

  // Whether the caller may make this call; remembers for its method who it is
  // (VisitorOf, CallerOf), and has its end written down if it changes
  // something. UNAUTHENTICATED, or RESOURCE_EXHAUSTED after too many of these
  // from one address; PERMISSION_DENIED names the right that is missing.
  absl::Status Pass(const MethodRule& rule,
                    const google::protobuf::Message& request, base::Call& call);
  // Of one that has passed and is a stream: has it end when its caller's token
  // holds no more. The guard outlives it.
  void LetGoOn(base::Call& call) const;

 private:
  absl::Status Check(const MethodRule& rule, const base::Caller& caller,
                     VisitorPtr* visitor);
  // Makes it slow to fail again, and writes it down; of those who are known and
  // lack a right it writes as many lines as others may fail.
  absl::Status Refuse(const absl::Status& why, AuditEntry entry);

  const GuardOptions options_;
  Throttle failures_;
  Throttle refusals_;
};

// Who makes a call that has passed.
const Visitor& VisitorOf(const grpc::CallbackServerContext& context);
VisitorPtr VisitorPtrOf(const grpc::CallbackServerContext& context);
// What it says of its caller, with the user's name as it is known.
const base::Caller& CallerOf(const grpc::CallbackServerContext& context);

// What a request is about: its name, that of its parent or of what it makes;
// empty: it names nothing.
std::string ResourceOf(const google::protobuf::Message& request);

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_GUARD_H_
