#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/rpc/server.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "scheduler/testing/fake_scheduler.h"
#include "services/auth/authenticator.h"
#include "services/auth/tokens.h"
#include "tests/bench/measure.h"

namespace ordo::tests::bench {
namespace {

using services::auth::KnownAuthenticator;
using services::auth::Right;
using services::auth::Tokens;

constexpr int kRounds = 9;
constexpr int kChecks = 200'000;

std::string SecretOf(int number) {
  return absl::StrCat("ordo_secret-of-thirty-eight-characters-", number);
}

// As many tokens as a scheduler keeps.
void PutTokens(int count, const base::Clock& clock,
               scheduler::Scheduler* scheduler) {
  for (int i = 0; i < count; ++i) {
    ordo::access::v1::Token token;
    token.set_name(absl::StrCat("tokens/t", i));
    token.set_user(absl::StrCat("user-", i));
    token.set_role(ordo::access::v1::USER);
    *token.mutable_expire_time() =
        base::ToTimestamp(clock.Now() + absl::Hours(1));
    scheduler->PutToken(base::Sha256Hex(SecretOf(i)), token,
                        [](const absl::Status&) {});
  }
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkTokens(
    const BenchmarkOptions& options) {
  const int num_tokens =
      options.Count(static_cast<int>(scheduler::kMaxTokens), 10);
  const int num_checks = options.Count(kChecks, 100);
  const base::RealClock clock;
  scheduler::testing::FakeScheduler scheduler;
  PutTokens(num_tokens, clock, &scheduler);
  const Tokens tokens(scheduler, clock);
  const KnownAuthenticator authenticator(tokens, {});
  std::vector<base::Caller> callers(num_tokens);
  for (int i = 0; i < num_tokens; ++i) {
    callers[i].peer = "ipv4:127.0.0.1:5000";
    callers[i].bearer = SecretOf(i);
  }
  std::vector<double> times;
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    const absl::Duration start = clock.Monotonic();
    for (int i = 0; i < num_checks; ++i) {
      ORDO_ASSIGN_OR_RETURN(const auto visitor,
                            authenticator.Identify(callers[i % num_tokens]));
      if (!visitor->Has(Right::kSubmit)) {
        return absl::InternalError("a token's bearer lacks its right");
      }
    }
    times.push_back(absl::ToDoubleSeconds(clock.Monotonic() - start) /
                    num_checks);
  }
  const Params params = {{"tokens", absl::StrCat(num_tokens)}};
  return std::vector<Measurement>{
      MedianOf({"tokens", "token_check", 0, "s", params, "", 0, 0}, times)};
}

}  // namespace ordo::tests::bench
