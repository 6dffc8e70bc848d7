#ifndef ORDO_SERVICES_AUTH_VISITOR_H_
#define ORDO_SERVICES_AUTH_VISITOR_H_

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"

// Who calls, once that is known, and what they may do.

namespace ordo::services::auth {

// What a method asks of its caller (rights.h).
enum class Right {
  // Anybody may.
  kNobodyNeeded,
  // To see jobs, what they made, queues, workers.
  kRead,
  // To create jobs, checkpoints, data and aliases.
  kSubmit,
  // To change what is the caller's.
  kChangeOwn,
  // To change what all share: queues, workers, tokens.
  kAdminister,
  // To be given a worker's certificate.
  kJoin,
  // To speak as a worker.
  kWorker,
  // To tell a worker what to run; asked for by workers alone.
  kScheduler,
};

// "READ", as in messages.
const char* NameOf(Right right);
// "viewer".
std::string NameOf(ordo::access::v1::Role role);

// A caller who was identified.
struct Visitor {
  // Login name, or that of a worker; whether anything proves it.
  ordo::jobs::v1::Owner owner;
  // ROLE_UNSPECIFIED: nobody, who may do what needs nobody.
  ordo::access::v1::Role role = ordo::access::v1::ROLE_UNSPECIFIED;
  // Ids of the queues that they see; unset: all.
  std::optional<std::set<std::string>> queues = {};
  // How they are known: "certificate", "token ci", "jwt", "claim", "nothing".
  std::string known_by = "nothing";
  // The name is believed because nothing here is guarded: may do everything.
  bool is_believed = false;
  // From when on they are nobody.
  absl::Time expiry = absl::InfiniteFuture();
  // Known by a token of the store: its id.
  std::string token = {};
  // Id of the worker that the certificate names, or that the token is for;
  // empty: the token is for any new one.
  std::string worker = {};

  bool Has(Right right) const;
  // The token by which they are known serves once: it lets a worker join.
  bool HasOneTimeToken() const {
    return role == ordo::access::v1::WORKER && !token.empty();
  }
  bool MaySee(const std::string& queue) const {
    return !queues.has_value() || queues->count(queue) > 0;
  }
  // Whether they may cancel, hold and release what is `owner`'s, give it
  // another priority, thin and delete its checkpoints; move and delete their
  // aliases, take back their pins. PERMISSION_DENIED that begins with
  // `attempted`, such as "cancel jobs/a".
  absl::Status MayChange(const ordo::jobs::v1::Owner& owner,
                         const std::string& attempted) const;
  // Whether they may do so whoever's it is.
  bool MayChangeAll() const {
    return is_believed || role == ordo::access::v1::ADMIN;
  }
};

using VisitorPtr = std::shared_ptr<const Visitor>;

// PERMISSION_DENIED, of nobody UNAUTHENTICATED: names the right that `visitor`
// lacks for `method`, such as "JobsService/CancelJob", and who can give it.
absl::Status Lacks(const Visitor& visitor, Right right,
                   const std::string& method);

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_VISITOR_H_
