#ifndef ORDO_SERVICES_TESTING_KNOWN_USERS_H_
#define ORDO_SERVICES_TESTING_KNOWN_USERS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/rpc/server.h"
#include "services/auth/authenticator.h"
#include "services/auth/visitor.h"

namespace ordo::services::testing {

// Takes the names that callers claim for proved. `root` is an administrator,
// `guest` a viewer, who gives no name nobody, and everybody else a user.
class KnownUsers : public auth::Authenticator {
 public:
  using Queues = std::map<std::string, std::set<std::string>>;

  // By user: ids of the queues that they are bound to.
  explicit KnownUsers(Queues queues = {}) : queues_(std::move(queues)) {}

  absl::StatusOr<auth::VisitorPtr> Identify(
      const base::Caller& caller) const override {
    auth::Visitor visitor;
    visitor.owner.set_user(caller.user.empty() ? auth::kUnknownUser
                                               : caller.user);
    if (caller.user.empty()) {
      return std::make_shared<const auth::Visitor>(visitor);
    }
    visitor.owner.set_verified(true);
    visitor.known_by = "test";
    visitor.role = caller.user == "root"    ? ordo::access::v1::ADMIN
                   : caller.user == "guest" ? ordo::access::v1::VIEWER
                                            : ordo::access::v1::USER;
    const auto bound = queues_.find(caller.user);
    if (bound != queues_.end()) visitor.queues = bound->second;
    return std::make_shared<const auth::Visitor>(visitor);
  }

 private:
  const Queues queues_;
};

}  // namespace ordo::services::testing

#endif  // ORDO_SERVICES_TESTING_KNOWN_USERS_H_
