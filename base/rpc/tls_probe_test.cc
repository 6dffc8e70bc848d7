#include "base/rpc/tls_probe.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/server.h"
#include "base/rpc/tls.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::HoldsFor;
using ::ordo::base::testing::PemFolder;
using ::ordo::base::testing::PemPaths;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

const CertificateNames kServer = {"s", kSchedulerUri, {"127.0.0.1"}};

class TlsProbeTest : public ::testing::Test {
 protected:
  TlsProbeTest() : pem_(folder_.path()), foreign_(elsewhere_.path()) {}

  static TlsFiles Files(const PemPaths& paths, const std::string& ca) {
    return {{"--certificate", paths.certificate},
            {"--key", paths.key},
            {"--ca", ca}};
  }

  void Serve(const PemPaths& paths,
             const std::vector<std::string>& only_clients = {}) {
    RpcServerOptions options;
    ORDO_ASSERT_OK_AND_ASSIGN(options.tls,
                              ServerTls(Files(paths, pem_.ca()), only_clients));
    ORDO_ASSERT_OK_AND_ASSIGN(server_, RpcServer::Start(options, {}));
  }
  void ServeWithoutTls() {
    ORDO_ASSERT_OK_AND_ASSIGN(server_, RpcServer::Start({}, {}));
  }
  absl::Status Probe(const PemPaths& paths, const std::string& ca) {
    return ProbeTls(server_->address(), Files(paths, ca));
  }

  static auto Says(const std::string& what) {
    return StatusIs(absl::StatusCode::kUnavailable, HasSubstr(what));
  }

  testing::TemporaryFolder folder_;
  testing::TemporaryFolder elsewhere_;
  PemFolder pem_;
  PemFolder foreign_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TlsProbeTest, WhereAllIsWellNothingIsSaid) {
  Serve(pem_.Issue("s", kServer));
  ORDO_EXPECT_OK(Probe({}, pem_.ca()));
  ORDO_EXPECT_OK(Probe(pem_.Issue("w", WorkerNames("w")), pem_.ca()));
  ServeWithoutTls();
  ORDO_EXPECT_OK(Probe({}, ""));
}

TEST_F(TlsProbeTest, WhereNobodyListensNothingIsSaid) {
  ORDO_EXPECT_OK(ProbeTls("127.0.0.1:1", Files({}, pem_.ca())));
  ORDO_EXPECT_OK(ProbeTls("127.0.0.1:1", Files({}, "")));
}

TEST_F(TlsProbeTest, AServerWithTlsAsksForAnAuthority) {
  Serve(pem_.Issue("s", kServer));
  EXPECT_THAT(Probe({}, ""), Says("speaks TLS; give --ca"));
}

TEST_F(TlsProbeTest, AServerWithoutTlsIsNamed) {
  ServeWithoutTls();
  EXPECT_THAT(Probe({}, pem_.ca()), Says("speaks no TLS; leave out --ca"));
}

TEST_F(TlsProbeTest, AnotherHostIsNamed) {
  Serve(pem_.Issue("s", {"s", kSchedulerUri, {"ordo.example", "10.0.0.1"}}));
  EXPECT_THAT(
      Probe({}, pem_.ca()),
      Says("is not one of host 127.0.0.1, but of ordo.example, 10.0.0.1"));
}

TEST_F(TlsProbeTest, AnotherAuthorityIsNamed) {
  Serve(pem_.Issue("s", kServer));
  EXPECT_THAT(Probe({}, foreign_.ca()),
              Says("authority that is not in --ca " + foreign_.ca()));
}

TEST_F(TlsProbeTest, ACertificateThatExpiresMeanwhileIsNamed) {
  // A server does not start with an expired one, but one expires under it.
  Serve(pem_.Issue("s", kServer, HoldsFor(absl::Seconds(2))));
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  absl::Status status;
  while (status.ok() && std::chrono::steady_clock::now() < give_up) {
    status = Probe({}, pem_.ca());
  }
  EXPECT_THAT(status, Says("expired on"));
}

TEST_F(TlsProbeTest, AClientsCertificateThatIsRefusedIsNamed) {
  Serve(pem_.Issue("s", kServer), {kSchedulerUri});
  EXPECT_THAT(Probe({}, pem_.ca()), Says("give --certificate and --key"));
  const PemPaths worker = pem_.Issue("w", WorkerNames("w"));
  EXPECT_THAT(Probe(worker, pem_.ca()),
              Says("refuses --certificate " + worker.certificate));
  EXPECT_THAT(
      Probe(foreign_.Issue("s", kServer), pem_.ca()),
      AllOf(Says("refuses --certificate"), Says("authority that it takes")));
}

}  // namespace
}  // namespace ordo::base
