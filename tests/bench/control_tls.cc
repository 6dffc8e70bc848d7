#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/files.h"
#include "base/rpc/tls.h"
#include "base/status/status.h"
#include "tests/bench/jobs_client.h"
#include "tests/bench/measure.h"
#include "tests/harness/deployment.h"

namespace ordo::tests::bench {
namespace {

using base::testing::PemFolder;
using base::testing::PemPaths;
using harness::Deployment;
using harness::DeploymentOptions;

constexpr int kRounds = 9;
constexpr int kCallsOfOneClient = 400;
constexpr int kConnections = 4;
constexpr int kOutstanding = 64;
constexpr int kCallsOutstanding = 10000;

// A scheduler, its clients, and a sample of each round.
struct Side {
  // What figures say of it.
  std::string tls;
  std::unique_ptr<Deployment> deployment;
  std::unique_ptr<Clients> clients;
  Latencies one = {};
  std::vector<double> rates = {};
};

base::TlsFiles FilesOf(const PemPaths& paths, const std::string& ca) {
  return {{"certificate", paths.certificate}, {"key", paths.key}, {"ca", ca}};
}

absl::StatusOr<Side> StartSide(const BenchmarkOptions& options,
                               const PemFolder* pem) {
  Side side;
  side.tls = pem == nullptr ? "none" : "mutual";
  DeploymentOptions deploy;
  deploy.folder = absl::StrCat(options.folder, "/", side.tls);
  deploy.start_workers = false;
  // What is measured is how many calls there can be.
  deploy.scheduler.set_calls_per_second(0);
  if (pem != nullptr) {
    const PemPaths own =
        pem->Issue("scheduler", {"s", base::kSchedulerUri, {"127.0.0.1"}});
    auto* const tls = deploy.scheduler.mutable_tls();
    tls->set_certificate(own.certificate);
    tls->set_key(own.key);
    tls->set_ca(pem->ca());
    ORDO_ASSIGN_OR_RETURN(
        const auto client,
        base::ClientTls::Load(
            FilesOf(pem->Issue("user", {"ada", "ordo:user/ada"}), pem->ca())));
    deploy.tls = client->ForHost();
  }
  ORDO_ASSIGN_OR_RETURN(side.deployment, Deployment::Start(deploy));
  side.clients = std::make_unique<Clients>(side.deployment->api_address(),
                                           kConnections, deploy.tls);
  ORDO_RETURN_IF_ERROR(
      CreateEach(side.deployment->jobs(), "warm", options.Count(50, 1)));
  ORDO_RETURN_IF_ERROR(
      side.clients->CreateAtOnce("warm-all", options.Count(50, 1)).status());
  return side;
}

absl::Status MeasureSide(const BenchmarkOptions& options, int round,
                         Side* side) {
  ORDO_ASSIGN_OR_RETURN(
      const auto times,
      CreateEach(side->deployment->jobs(), absl::StrCat("one-", round),
                 options.Count(kCallsOfOneClient, 2)));
  side->one.AddRound(times);
  const int calls = options.Count(kCallsOutstanding, kOutstanding);
  ORDO_ASSIGN_OR_RETURN(
      const double seconds,
      side->clients->CreateOutstanding(absl::StrCat("outstanding-", round),
                                       calls, kOutstanding, Specs::kShared));
  side->rates.push_back(calls / seconds);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> BenchmarkTls(
    const BenchmarkOptions& options) {
  base::PosixFilesystem files;
  const std::string folder = options.folder + "/pem";
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  const PemFolder pem(folder);
  std::vector<Side> sides;
  for (const PemFolder* each : {static_cast<const PemFolder*>(nullptr), &pem}) {
    ORDO_ASSIGN_OR_RETURN(Side side, StartSide(options, each));
    sides.push_back(std::move(side));
  }
  // Turn by turn, so that what else the machine does meets both.
  for (int round = 0; round < options.Count(kRounds, 2); ++round) {
    for (Side& side : sides) {
      ORDO_RETURN_IF_ERROR(MeasureSide(options, round, &side));
    }
  }
  std::vector<Measurement> out;
  for (const Side& side : sides) {
    const Params params = {{"tls", side.tls}};
    side.one.AddTo({"tls", "submit_ack", 0, "s", params, "", 0, 0}, &out);
    out.push_back(MedianOf({"tls", "submit_rate", 0, "1/s", params, "", 0, 0},
                           side.rates));
  }
  std::vector<double> shares;
  for (size_t i = 0; i < sides[0].rates.size(); ++i) {
    shares.push_back(sides[1].rates[i] / sides[0].rates[i]);
  }
  out.push_back(
      MedianOf({"tls", "submit_rate_share", 0, "1", {}, "", 0, 0}, shares));
  return out;
}

}  // namespace ordo::tests::bench
