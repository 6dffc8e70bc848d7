#ifndef ORDO_WORKER_AGENT_JOIN_H_
#define ORDO_WORKER_AGENT_JOIN_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "grpcpp/channel.h"

// How a worker gets its certificate from the scheduler: at first for a one-time
// token, later for the certificate that it has. The private key never leaves
// the machine.

namespace ordo::worker::agent {

// Asks the scheduler for a certificate for a signing request; `token` is empty
// where the connection shows the certificate that is to be renewed.
using AskToJoin = std::function<absl::StatusOr<std::string>(
    const std::string& signing_request, const std::string& token)>;

// AskToJoin over a channel to the scheduler.
AskToJoin AskOver(const std::shared_ptr<grpc::Channel>& channel,
                  const std::string& worker);

struct Membership {
  // The worker's id.
  std::string worker;
  // Holds the key and the certificate, in one file that changes at once.
  std::string file;
  // Holds the one-time token.
  std::string token_file;
};

// Sees to it that the file has a certificate of this worker that holds: gets
// one by the token where it has none. Errors say what to do:
// FAILED_PRECONDITION when there is no token to read, else those of `ask`.
absl::Status Join(const Membership& membership, const base::Clock& clock,
                  const AskToJoin& ask);

// Whether two thirds of the time of the file's certificate are over.
bool IsRenewalDue(const Membership& membership, const base::Clock& clock);

// Replaces the file's certificate by a new one, of a new key.
absl::Status Renew(const Membership& membership, const AskToJoin& ask);

// Renews when it is due, on a thread of its own, until destroyed. A failure is
// logged and tried again.
class Renewals {
 public:
  // `clock` outlives it. `ask` returns within seconds.
  Renewals(Membership membership, const base::Clock& clock, AskToJoin ask);
  ~Renewals();
  Renewals(const Renewals&) = delete;
  Renewals& operator=(const Renewals&) = delete;

 private:
  void Run();

  const Membership membership_;
  const base::Clock& clock_;
  const AskToJoin ask_;
  const int stop_;
  std::thread thread_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_JOIN_H_
