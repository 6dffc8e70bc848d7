#ifndef ORDO_SERVICES_CLI_DOCTOR_NETWORK_H_
#define ORDO_SERVICES_CLI_DOCTOR_NETWORK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "services/cli/client.h"
#include "services/cli/doctor/finding.h"

namespace ordo::services::cli::doctor {

// Where a service is to listen.
struct ListenSite {
  // "scheduler", and the field of its configuration: "listen".
  std::string service;
  std::string field;
  // "HOST:PORT".
  std::string address;
  // Where the service of this configuration said that it listens; empty: it
  // never did.
  std::string served;
};

// "ports/SERVICE.FIELD": the port is free, or the service itself has it.
Finding CheckListenSite(const ListenSite& site);

// "network/NAME": something takes connections at "HOST:PORT".
Finding CheckReachable(const std::string& name, const std::string& address);

// Who was asked for the time, and what came of it.
struct ServerAnswer {
  std::string address;
  // A person named the server; else it is the one that there would be.
  bool is_named = false;
  // OK, or why there was no answer.
  absl::Status status;
  // By the server's clock; nothing: it does not tell.
  std::optional<absl::Time> time;
  // By this machine's, before and after the call.
  absl::Time asked;
  absl::Time answered;
};

// Asks the scheduler.
ServerAnswer AskServer(Client& client, const base::Clock& clock);

// Checks named "server/...".
Findings JudgeServer(const ServerAnswer& answer);

// The scheduler's workers; the first thousand.
absl::StatusOr<std::vector<workers::v1::Worker>> AskWorkers(Client& client);

// "server/workers": that there are some, none is lost, no device is in
// quarantine, and all speak the protocol of this release.
Finding JudgeWorkers(const std::vector<workers::v1::Worker>& workers);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_NETWORK_H_
