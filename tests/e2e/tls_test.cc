// Scheduler, worker and command line that know each other by the certificates
// that `ordo admin certs` makes, and what becomes of those who have none.
#include "base/rpc/tls.h"

#include <csignal>
#include <cstdint>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/file_util.h"
#include "base/files/secret_file.h"
#include "base/metrics/testing/scrape.h"
#include "base/process/open_files.h"
#include "base/process/process.h"
#include "base/rpc/address.h"
#include "base/sockets/connect.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using base::testing::HoldsFor;
using jobs::v1::Job;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUnreachable = 4;

constexpr char kJob[] = R"(
kind: train
name: job
model: {layers: 1, width: 16, heads: 2}
encoding: {name: rope}
data: {task: addition, params: {max_digits: 2}, seed: 1}
training: {steps: 60, batch_size: 4, log_every_steps: 1}
checkpoint: {every_steps: 20}
)";

class TlsTest : public Scenario {
 protected:
  void SetUp() override {
    const Said said = RunOrdo({"admin", "certs", "init", Pem(""), "--worker",
                               "worker-1", "--user", "ada"});
    ASSERT_EQ(said.exit_code, 0) << said.err;
    ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("foreign")));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("job.yaml"), kJob));
  }

  std::string Pem(const std::string& file) const {
    return folder_.Path("tls/" + file);
  }
  std::string ForeignPem(const std::string& file) const {
    return folder_.Path("foreign/" + file);
  }

  harness::DeploymentOptions WithTls(const std::string& fake) {
    harness::DeploymentOptions options = Options(fake);
    auto* const scheduler = options.scheduler.mutable_tls();
    scheduler->set_certificate(Pem("scheduler.pem"));
    scheduler->set_ca(Pem("ca.pem"));
    auto* const worker = options.worker.mutable_tls();
    worker->set_certificate(Pem("worker-worker-1.pem"));
    worker->set_ca(Pem("ca.pem"));
    const auto tls =
        base::ClientTls::Load({{"certificate", Pem("user-ada.pem")},
                               {"key", Pem("user-ada.pem")},
                               {"ca", Pem("ca.pem")}});
    EXPECT_THAT(tls, base::testing::IsOk());
    if (tls.ok()) options.tls = (*tls)->ForHost();
    return options;
  }

  std::vector<std::string> AsAda(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--ca", Pem("ca.pem"), "--certificate",
                                       Pem("user-ada.pem")});
    return arguments;
  }
  // What `ordo list jobs` says of why it could not.
  std::string WhyNot(const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"list", "jobs"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Said said = RunOrdo(arguments);
    EXPECT_EQ(said.exit_code, kUnreachable) << said.out;
    return said.err;
  }

  // Puts another certificate of the deployment's authority in the place of the
  // scheduler's, and waits until the command line is told `what` of it.
  void Replace(const base::CertificateNames& names,
               const base::Validity& validity, const std::string& what) {
    const auto read = [this](const std::string& file) {
      return base::ReadFile(files_, Pem(file), 1 << 16).value();
    };
    ORDO_ASSERT_OK_AND_ASSIGN(
        const auto issued,
        base::Issue({read("ca.pem"), read("ca.key")}, names, validity));
    ORDO_ASSERT_OK(base::WriteSecretFile(Pem("scheduler.pem"),
                                         issued.key + issued.certificate));
    std::string said;
    EXPECT_TRUE(WaitFor([&] {
      said = RunOrdo(AsAda({"list", "jobs"})).err;
      return what.empty() ? said.empty() : said.find(what) != std::string::npos;
    })) << said;
  }

  std::string SchedulerLog() {
    return base::ReadFile(files_, folder_.Path("log/scheduler.log"), 16 << 20)
        .value_or("");
  }
};

TEST_F(TlsTest, AJobTrainsFromSubmissionToItsLog) {
  Start(WithTls(""));
  if (HasFatalFailure()) return;
  const Said said =
      RunOrdo(AsAda({"submit", folder_.Path("job.yaml"), "--watch"}));
  EXPECT_EQ(said.exit_code, 0) << said.err;
  const Said log = RunOrdo(AsAda({"logs", "job"}));
  EXPECT_EQ(log.exit_code, 0) << log.err;
  EXPECT_FALSE(log.out.empty());
}

TEST_F(TlsTest, ThoseWhoAreNotTrustedAreToldWhy) {
  Start(WithTls(""));
  if (HasFatalFailure()) return;
  const base::testing::PemFolder foreign(folder_.Path("foreign"));
  foreign.Issue("eve", {"ada", "ordo:user/ada"});
  EXPECT_THAT(WhyNot({}), HasSubstr("speaks TLS; give --ca"));
  EXPECT_THAT(WhyNot({"--ca", foreign.ca()}),
              HasSubstr("comes from an authority that is not in --ca"));
  EXPECT_THAT(WhyNot({"--ca", Pem("ca.pem"), "--certificate",
                      ForeignPem("eve.pem"), "--key", ForeignPem("eve.key")}),
              HasSubstr("refuses --certificate " + ForeignPem("eve.pem")));
}

TEST_F(TlsTest, AServerWithoutTlsIsNotTakenForOneWithIt) {
  Start(Options(""));
  if (HasFatalFailure()) return;
  EXPECT_THAT(WhyNot({"--ca", Pem("ca.pem")}), HasSubstr("speaks no TLS"));
}

TEST_F(TlsTest, TheMetricsPagesSpeakTlsToo) {
  harness::DeploymentOptions options = WithTls("");
  options.worker.mutable_tls()->set_metrics_client_ca(Pem("ca.pem"));
  Start(options);
  if (HasFatalFailure()) return;
  const base::TlsFiles stranger = {{"", ""}, {"", ""}, {"", Pem("ca.pem")}};
  EXPECT_THAT(base::testing::ScrapeMetricsWithTls(
                  deployment_->scheduler_metrics(), stranger),
              HasSubstr("ordo_scheduler_"));
  EXPECT_EQ(base::testing::ScrapeMetrics(deployment_->scheduler_metrics()), "");
  // This one asks its readers for a certificate.
  const std::string worker = deployment_->worker_metrics();
  EXPECT_EQ(base::testing::ScrapeMetricsWithTls(worker, stranger), "");
  EXPECT_THAT(
      base::testing::ScrapeMetricsWithTls(worker, {{"", Pem("user-ada.pem")},
                                                   {"", Pem("user-ada.pem")},
                                                   {"", Pem("ca.pem")}}),
      HasSubstr("ordo_worker_"));
}

TEST_F(TlsTest, AnExpiredCertificateIsNamedBeforeItIsShown) {
  Start(WithTls(""));
  if (HasFatalFailure()) return;
  const base::testing::PemFolder foreign(folder_.Path("foreign"));
  foreign.Issue("old", {"ada", "ordo:user/ada"}, HoldsFor(-absl::Minutes(1)));
  const Said said =
      RunOrdo({"list", "jobs", "--ca", Pem("ca.pem"), "--certificate",
               ForeignPem("old.pem"), "--key", ForeignPem("old.key")});
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.err, HasSubstr("expired on"));
}

TEST_F(TlsTest, AWorkersPortTakesTheSchedulerAlone) {
  Start(WithTls(""));
  if (HasFatalFailure()) return;
  const std::string worker = deployment_->worker_address();
  EXPECT_THAT(WhyNot({"--server", worker, "--ca", Pem("ca.pem"),
                      "--certificate", Pem("user-ada.pem")}),
              HasSubstr("refuses --certificate"));
  EXPECT_THAT(WhyNot({"--server", worker, "--ca", Pem("ca.pem")}),
              HasSubstr("asks for a certificate"));
}

TEST_F(TlsTest, AWorkerOfAnotherAuthorityIsToldWhyAndNeverCounts) {
  const base::testing::PemFolder foreign(folder_.Path("foreign"));
  foreign.Issue("w", base::WorkerNames("worker-1"));
  harness::DeploymentOptions options = WithTls("");
  options.worker.mutable_tls()->set_certificate(ForeignPem("w.pem"));
  options.worker.mutable_tls()->set_key(ForeignPem("w.key"));
  Start(options);
  if (HasFatalFailure()) return;
  EXPECT_TRUE(WaitFor([this] {
    return base::ReadFile(files_, folder_.Path("log/worker.log"), 16 << 20)
               .value_or("")
               .find("refuses tls.certificate " + ForeignPem("w.pem")) !=
           std::string::npos;
  }));
  const Said workers = RunOrdo(AsAda({"list", "workers"}));
  EXPECT_EQ(workers.exit_code, 0) << workers.err;
  EXPECT_THAT(workers.out, Not(HasSubstr("worker-1")));
  ORDO_EXPECT_OK(deployment_->EndWorker(SIGKILL));
}

TEST_F(TlsTest, AWorkerJoinsByATokenThatWorksOnce) {
  harness::DeploymentOptions options = WithTls("");
  auto* const authority = options.scheduler.mutable_tls()->mutable_join_ca();
  authority->set_certificate(Pem("ca.pem"));
  authority->set_key(Pem("ca.key"));
  options.scheduler.mutable_auth()->add_certificate_admins("ada");
  options.worker.mutable_tls()->clear_certificate();
  options.worker.mutable_tls()->set_join_token_file(folder_.Path("token"));
  options.start_workers = false;
  Start(options);
  if (HasFatalFailure()) return;
  const Said made = RunOrdo(AsAda({"admin", "token", "create", "node", "--role",
                                   "worker", "--out", folder_.Path("token")}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  ORDO_ASSERT_OK(deployment_->StartWorker());
  Submit(Spec("job"));
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  // It has its certificate, and needs the token no more.
  ORDO_ASSERT_OK(deployment_->EndWorker(SIGTERM));
  ORDO_ASSERT_OK(deployment_->StartWorker());
  ORDO_ASSERT_OK(deployment_->EndWorker(SIGTERM));
  ORDO_ASSERT_OK(
      files_.RemoveFile(deployment_->WorkerFolder(1) + "/tls/worker.pem"));
  EXPECT_THAT(deployment_->StartWorker().ToString(),
              HasSubstr("join by the token of " + folder_.Path("token")));
}

TEST_F(TlsTest, ThousandsOfStrangersWhoSayNothingLeaveRoomForOthers) {
  constexpr int kStrangers = 10'000;
  if (base::RaiseOpenFileLimit(kStrangers + 1000) < kStrangers + 1000) {
    GTEST_SKIP() << "a process may not have " << kStrangers << " connections";
  }
  Start(WithTls(""));
  if (HasFatalFailure()) return;
  ORDO_ASSERT_OK_AND_ASSIGN(const base::HostPort api,
                            base::ParseHostPort(deployment_->api_address()));
  std::vector<pollfd> strangers;
  for (int i = 0; i < kStrangers; ++i) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        const int fd,
        base::ConnectTo(api.host, static_cast<uint16_t>(api.port)));
    strangers.push_back({fd, POLLIN, 0});
  }
  EXPECT_TRUE(WaitFor([this] {
    return RunOrdo(AsAda({"list", "jobs"})).exit_code == 0;
  }));
  // The scheduler lets go of them by itself.
  EXPECT_TRUE(WaitFor([&strangers] {
    return ::poll(strangers.data(), strangers.size(), 0) == kStrangers;
  }));
  for (const pollfd& stranger : strangers) ::close(stranger.fd);
}

TEST_F(TlsTest, AWorkerHasRoomForMoreStrangersThanTheUsualLimit) {
  constexpr uint64_t kUsual = 1024;
  if (base::RaiseOpenFileLimit(kUsual + 1) <= kUsual) {
    GTEST_SKIP() << "a process may not have more than the usual files";
  }
  harness::DeploymentOptions options = Options("");
  options.worker_prefix = {"/bin/sh", "-c", "ulimit -S -n 1024; exec \"$@\"",
                           "sh"};
  Start(options);
  if (HasFatalFailure()) return;
  const std::string page =
      base::testing::ScrapeMetrics(deployment_->worker_metrics());
  const std::string limit = "\nordo_worker_process_open_files_limit ";
  EXPECT_THAT(page, AllOf(HasSubstr(limit), Not(HasSubstr(limit + "1024\n"))));
}

TEST_F(TlsTest, ACertificateIsReplacedUnderARunningJobAndItsWatchers) {
  Start(WithTls("job:hold_at=30"));
  if (HasFatalFailure()) return;
  Submit(Spec("job"));
  WaitUntil("job", [](const Job& job) {
    return job.state() == Job::RUNNING && job.progress().step() >= 20;
  });
  base::SpawnOptions watch;
  watch.argv = AsAda({ProgramPath("ordo"), "--server",
                      deployment_->api_address(), "watch", "job"});
  watch.stdout_file = folder_.Path("watched");
  watch.stderr_file = folder_.Path("watched");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto watcher, base::Spawn(watch));
  ASSERT_TRUE(WaitFor([&] {
    return !base::ReadFile(files_, watch.stdout_file, 1 << 20)
                .value_or("")
                .empty();
  }));
  Replace({"s", base::kSchedulerUri, {"ordo.example"}},
          HoldsFor(absl::Hours(1)),
          "is not one of host 127.0.0.1, but of ordo.example");
  Replace({"s", base::kSchedulerUri, {"127.0.0.1"}},
          HoldsFor(-absl::Minutes(1)), "expired on");
  Replace({"s", base::kSchedulerUri, {"127.0.0.1"}}, HoldsFor(absl::Hours(1)),
          "");
  Release("job");
  EXPECT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  const auto status = base::WaitForExit(watcher.pid, kDeadline);
  EXPECT_TRUE(status.ok() && status->ok());
}

TEST_F(TlsTest, OffLoopbackTlsNeedsNoPermission) {
  harness::DeploymentOptions options = WithTls("");
  options.scheduler.set_listen("0.0.0.0:0");
  options.start_workers = false;
  Start(options);
  if (HasFatalFailure()) return;
  EXPECT_THAT(SchedulerLog(), Not(HasSubstr("insecure:")));
}

TEST_F(TlsTest, OffLoopbackWithoutTlsIsRefusedOrWarnedOf) {
  harness::DeploymentOptions options = Options("");
  options.scheduler.set_listen("0.0.0.0:0");
  options.start_workers = false;
  EXPECT_THAT(harness::Deployment::Start(options).status().ToString(),
              HasSubstr("certificates (tls), or set insecure: true"));
  options.scheduler.set_insecure(true);
  Start(options);
  if (HasFatalFailure()) return;
  EXPECT_THAT(SchedulerLog(),
              HasSubstr("insecure: other machines can reach this port"));
}

TEST_F(TlsTest, ASchedulerSaysWhichFileItCannotUse) {
  harness::DeploymentOptions options = WithTls("");
  options.scheduler.mutable_tls()->set_key(Pem("worker-worker-1.pem"));
  EXPECT_THAT(harness::Deployment::Start(options).status().ToString(),
              HasSubstr("tls.key " + Pem("worker-worker-1.pem") +
                        ": is the key of another certificate"));
}

}  // namespace
}  // namespace ordo::tests::e2e
