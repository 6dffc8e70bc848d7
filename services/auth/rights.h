#ifndef ORDO_SERVICES_AUTH_RIGHTS_H_
#define ORDO_SERVICES_AUTH_RIGHTS_H_

#include <string_view>
#include <vector>

#include "services/auth/visitor.h"

// The one table of who may call what.

namespace ordo::services::auth {

struct MethodRule {
  // "ordo.jobs.v1.JobsService/GetJob".
  const char* method;
  Right right;
  // It changes something: each call of it is a line of the audit log.
  bool changes = false;
};

// A row for each method of every service, those that a worker serves and those
// of gRPC itself too.
const std::vector<MethodRule>& MethodRules();

// Null when there is no row.
const MethodRule* FindRule(std::string_view method);

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_RIGHTS_H_
