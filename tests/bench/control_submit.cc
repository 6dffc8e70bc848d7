#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "tests/bench/jobs_client.h"
#include "tests/bench/measure.h"
#include "tests/bench/system.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using harness::Deployment;
using harness::DeploymentOptions;

constexpr int kRounds = 5;
constexpr int kClients = 16;
constexpr int kCallsOfOneClient = 200;
constexpr int kCallsPerClient = 125;
// Of the calls that are under way at once; more would be threads to switch
// between.
constexpr int kConnections = 4;
constexpr int kOutstanding = 64;
constexpr int kCallsOutstanding = 10000;
constexpr int kBatchSize = 1000;
constexpr int kBatchesOfAConnection = 5;

// Jobs a second, a sample of each round.
struct Rates {
  Specs specs;
  std::vector<double> single = {};
  std::vector<double> in_batches = {};
};

absl::Status MeasureRates(const BenchmarkOptions& options, int round,
                          Clients& clients, Rates* rates) {
  const std::string run = absl::StrCat(NameOf(rates->specs), "-", round);
  const int calls = options.Count(kCallsOutstanding, kOutstanding);
  ORDO_ASSIGN_OR_RETURN(const double seconds,
                        clients.CreateOutstanding("outstanding-" + run, calls,
                                                  kOutstanding, rates->specs));
  rates->single.push_back(calls / seconds);
  const int batches = options.Count(kBatchesOfAConnection, 1);
  const int batch = options.Count(kBatchSize, 2);
  ORDO_ASSIGN_OR_RETURN(
      const double of_batches,
      clients.CreateBatches("batch-" + run, batches, batch, rates->specs));
  rates->in_batches.push_back(clients.count() * batches * batch / of_batches);
  return absl::OkStatus();
}

void AddRates(const BenchmarkOptions& options, const Rates& rates,
              std::vector<Measurement>* out) {
  Params params = {{"connections", absl::StrCat(kConnections)},
                   {"specs", NameOf(rates.specs)}};
  Params of_batches = params;
  params["outstanding"] = absl::StrCat(kOutstanding);
  of_batches["batch"] = absl::StrCat(options.Count(kBatchSize, 2));
  out->push_back(MedianOf({"submit", "submit_rate", 0, "1/s", params, "", 0, 0},
                          rates.single));
  out->push_back(
      MedianOf({"submit", "batch_submit_rate", 0, "1/s", of_batches, "", 0, 0},
               rates.in_batches));
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkSubmit(
    const BenchmarkOptions& options) {
  DeploymentOptions deploy;
  deploy.folder = options.folder;
  deploy.start_workers = false;
  // What is measured is how many calls there can be.
  deploy.scheduler.set_calls_per_second(0);
  ORDO_ASSIGN_OR_RETURN(auto deployment, Deployment::Start(deploy));
  ORDO_RETURN_IF_ERROR(
      CreateEach(deployment->jobs(), "warm", options.Count(50, 1)));
  // The deployment's own has called by now.
  ORDO_ASSIGN_OR_RETURN(const int connections,
                        ConnectionsTo(deployment->api_address()));
  Clients clients(deployment->api_address(), kClients);
  ORDO_RETURN_IF_ERROR(
      clients.CreateAtOnce("warm", options.Count(5, 1)).status());
  ORDO_RETURN_IF_ERROR(
      CheckNewConnections(deployment->api_address(), connections, kClients));
  Clients few(deployment->api_address(), kConnections);

  Latencies one, many;
  std::vector<Rates> rates = {{Specs::kShared}, {Specs::kOwn}};
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    ORDO_ASSIGN_OR_RETURN(
        const auto times,
        CreateEach(deployment->jobs(), absl::StrCat("one-", round),
                   options.Count(kCallsOfOneClient, 2)));
    one.AddRound(times);
    ORDO_ASSIGN_OR_RETURN(
        const auto at_once,
        clients.CreateAtOnce(absl::StrCat("many-", round),
                             options.Count(kCallsPerClient, 2)));
    many.AddRound(at_once);
    for (Rates& of_specs : rates) {
      ORDO_RETURN_IF_ERROR(MeasureRates(options, round, few, &of_specs));
    }
  }
  const auto clients_are = [](int count) {
    return Params{{"clients", absl::StrCat(count)}};
  };
  std::vector<Measurement> out;
  one.AddTo({"submit", "submit_ack", 0, "s", clients_are(1), "", 0, 0}, &out);
  many.AddTo({"submit", "submit_ack", 0, "s", clients_are(kClients), "", 0, 0},
             &out);
  for (const Rates& of_specs : rates) AddRates(options, of_specs, &out);
  return out;
}

}  // namespace ordo::tests::bench
