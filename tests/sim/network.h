#ifndef ORDO_TESTS_SIM_NETWORK_H_
#define ORDO_TESTS_SIM_NETWORK_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/sim/scenario.pb.h"
#include "tests/sim/world.h"

// Messages between machines: late, lost, twice, out of order, and links that
// are cut in one direction or both.

namespace ordo::tests::sim {

template <typename Response>
using Reply = std::function<void(absl::StatusOr<Response>)>;

// Of one call.
struct CallOptions {
  // Machines.
  std::string from;
  std::string to;
  // For the trace.
  std::string what;
  absl::Duration timeout;
};

class Network {
 public:
  // `world` outlives the network.
  Network(World& world, NetworkFaults faults);

  // Runs `deliver` when the message arrives: never, once or twice.
  void Send(const std::string& from, const std::string& to, std::string what,
            const std::function<void()>& deliver);

  // `serve` runs at the other end, perhaps twice, and replies when it likes;
  // `done` runs once: with the first answer to arrive, or DEADLINE_EXCEEDED.
  template <typename Response>
  void Call(const CallOptions& options,
            std::function<void(Reply<Response>)> serve, Reply<Response> done) {
    auto first = std::make_shared<Reply<Response>>(std::move(done));
    const auto finish = [first](absl::StatusOr<Response> response) {
      if (*first == nullptr) return;
      const Reply<Response> told = std::exchange(*first, nullptr);
      told(std::move(response));
    };
    Send(options.from, options.to, options.what,
         [this, options, finish, serve = std::move(serve)] {
           serve([this, options, finish](absl::StatusOr<Response> response) {
             Send(options.to, options.from, options.what + " answered",
                  [finish, response = std::move(response)] {
                    finish(response);
                  });
           });
         });
    world_.After(options.timeout, "", [finish] {
      finish(absl::DeadlineExceededError("no answer in time"));
    });
  }

  // Nothing gets from one to the other until the link is mended.
  void Cut(const std::string& from, const std::string& to);
  void Mend(const std::string& from, const std::string& to);
  // All links are whole, and nothing is lost, doubled or slow any more.
  void Heal();

 private:
  World& world_;
  NetworkFaults faults_;
  Dice loss_;
  Dice delay_;
  std::set<std::pair<std::string, std::string>> cut_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_NETWORK_H_
