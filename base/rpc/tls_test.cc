#include "base/rpc/tls.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/sample.grpc.pb.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::EchoRequest;
using ::ordo::base::sample::EchoResponse;
using ::ordo::base::sample::EchoService;
using ::ordo::base::testing::PemFolder;
using ::ordo::base::testing::PemPaths;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(20);
const CertificateNames kServer = {"s", kSchedulerUri, {"127.0.0.1"}};
const CertificateNames kWorker = {"w", "ordo:worker/w"};

// Answers with what TLS proves of the caller.
class WhoService : public EchoService::CallbackService {
 public:
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const EchoRequest*,
                                 EchoResponse* response) override {
    response->set_text(absl::StrJoin(GetCaller(*context).uri_names, ","));
    return Finish(context, absl::OkStatus());
  }
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() : pem_(folder_.path()) {}

  static TlsFiles Files(const PemPaths& paths, const std::string& ca) {
    return {{"tls.certificate", paths.certificate},
            {"tls.key", paths.key},
            {"tls.ca", ca}};
  }
  TlsFiles Files(const PemPaths& paths) const {
    return Files(paths, pem_.ca());
  }

  void Serve(const TlsFiles& files,
             const std::vector<std::string>& only_clients = {}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const auto tls, ServerTls(files, only_clients));
    RpcServerOptions options;
    options.tls = tls;
    ORDO_ASSERT_OK_AND_ASSIGN(server_, RpcServer::Start(options, {&service_}));
  }

  // What the server says of who calls with these files; each call has a
  // connection of its own.
  absl::StatusOr<std::string> Call(
      const TlsFiles& files, absl::Duration timeout = absl::Seconds(5)) const {
    const auto tls = ClientTls::Load(files);
    if (!tls.ok()) return tls.status();
    return CallWith((*tls)->ForHost(), timeout);
  }
  absl::StatusOr<std::string> CallWith(
      const std::shared_ptr<grpc::ChannelCredentials>& tls,
      absl::Duration timeout = absl::Seconds(5)) const {
    const auto stub =
        EchoService::NewStub(ConnectAlone(server_->address(), tls));
    grpc::ClientContext context;
    PrepareCall({timeout, "", false}, &context);
    EchoResponse response;
    const absl::Status status =
        FromGrpcStatus(stub->Echo(&context, EchoRequest(), &response));
    if (!status.ok()) return status;
    return response.text();
  }

  // Calls until `done` says of an answer that it is as it should be.
  ::testing::AssertionResult CallUntil(
      const TlsFiles& files,
      const std::function<bool(const absl::StatusOr<std::string>&)>& done) {
    const auto give_up =
        std::chrono::steady_clock::now() + absl::ToChronoSeconds(kTimeout);
    absl::StatusOr<std::string> last;
    while (std::chrono::steady_clock::now() < give_up) {
      last = Call(files);
      if (done(last)) return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "at last " << last.status();
  }

  testing::TemporaryFolder folder_;
  PemFolder pem_;
  PosixFilesystem files_;
  WhoService service_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TlsTest, ACallerIsKnownByItsCertificate) {
  Serve(Files(pem_.Issue("server", kServer)));
  EXPECT_THAT(Call(Files(pem_.Issue("w", kWorker))),
              testing::IsOkAndHolds(std::string("ordo:worker/w")));
}

TEST_F(TlsTest, ACallerWithoutACertificateGetsInAndIsNobody) {
  Serve(Files(pem_.Issue("server", kServer)));
  EXPECT_THAT(Call(Files({})), testing::IsOkAndHolds(std::string()));
}

TEST_F(TlsTest, AServerWithoutAuthoritiesAsksForNoCertificate) {
  Serve(Files(pem_.Issue("server", kServer), ""));
  EXPECT_THAT(Call(Files(pem_.Issue("w", kWorker))),
              testing::IsOkAndHolds(std::string()));
}

TEST_F(TlsTest, ACertificateOfAnotherAuthorityGetsNobodyIn) {
  const testing::TemporaryFolder elsewhere;
  const PemFolder foreign(elsewhere.path());
  Serve(Files(pem_.Issue("server", kServer)));
  EXPECT_THAT(Call(Files(foreign.Issue("w", kWorker), pem_.ca())),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, AServerOfAnotherAuthorityIsNotTrusted) {
  const testing::TemporaryFolder elsewhere;
  const PemFolder foreign(elsewhere.path());
  Serve(Files(pem_.Issue("server", kServer)));
  EXPECT_THAT(Call(Files({}, foreign.ca())),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, AServerThatIsCalledOtherwiseIsNotTrusted) {
  Serve(Files(pem_.Issue("server", {"s", kSchedulerUri, {"ordo.example"}})));
  EXPECT_THAT(Call(Files({})), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, AServerIsKnownByItsNameWhateverItsHost) {
  Serve(Files(pem_.Issue("server", kWorker)));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto tls, ClientTls::Load(Files({})));
  ORDO_EXPECT_OK(CallWith(tls->ForName("ordo:worker/w")));
  EXPECT_THAT(CallWith(tls->ForName("ordo:worker/v")),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, OnlyTheClientThatIsNamedGetsIn) {
  const PemPaths server = pem_.Issue("server", kServer);
  Serve(Files(server), {kSchedulerUri, "ordo:worker/v"});
  EXPECT_THAT(Call(Files(server)),
              testing::IsOkAndHolds(std::string(kSchedulerUri)));
  EXPECT_THAT(Call(Files(pem_.Issue("w", kWorker))),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Call(Files({})), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, WithoutTlsNobodyGetsIn) {
  Serve(Files(pem_.Issue("server", kServer)));
  EXPECT_THAT(CallWith(nullptr), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, OffLoopbackTlsIsEnough) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto tls,
                            ServerTls(Files(pem_.Issue("server", kServer))));
  RpcServerOptions options;
  options.listen = "0.0.0.0:0";
  EXPECT_THAT(RpcServer::Start(options, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options.tls = tls;
  ORDO_EXPECT_OK(RpcServer::Start(options, {}));
}

TEST_F(TlsTest, AnotherCertificateIsTakenWithoutARestart) {
  Serve(Files(pem_.Issue("server", {"s", kSchedulerUri, {"ordo.example"}})));
  ASSERT_THAT(Call(Files({})), StatusIs(absl::StatusCode::kUnavailable));
  pem_.Issue("server", kServer);
  EXPECT_TRUE(CallUntil(Files({}), [](const auto& last) { return last.ok(); }));
}

TEST_F(TlsTest, AFileThatIsGoneLeavesWhatWasRead) {
  const PemPaths server = pem_.Issue("server", kServer);
  Serve(Files(server));
  ORDO_ASSERT_OK(files_.RemoveFile(server.certificate));
  ORDO_ASSERT_OK(files_.RemoveFile(server.key));
  const auto until = std::chrono::steady_clock::now() +
                     absl::ToChronoSeconds(kTlsReloadInterval * 2);
  while (std::chrono::steady_clock::now() < until) {
    ORDO_ASSERT_OK(Call(Files({})));
  }
}

TEST_F(TlsTest, AServerNeedsACertificateAndAClientAuthorities) {
  EXPECT_THAT(ServerTls(Files({})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tls.certificate must")));
  EXPECT_THAT(
      ClientTls::Load(Files({}, "")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tls.ca must")));
  EXPECT_THAT(
      ServerTls(Files(pem_.Issue("server", kServer), ""), {kSchedulerUri}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("authority of ordo:scheduler")));
}

}  // namespace
}  // namespace ordo::base
