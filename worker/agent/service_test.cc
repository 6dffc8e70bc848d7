#include "worker/agent/service.h"

#include <memory>
#include <string>

#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/rpc/server.h"
#include "base/rpc/tls.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/metrics.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::SetDesiredRequest;
using ::ordo::agent::v1::SetDesiredResponse;
using ::ordo::agent::v1::WorkerAgentService;
using ::ordo::base::testing::StatusIs;

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    AgentOptions options;
    options.identity.set_worker("w");
    options.identity.set_incarnation("i");
    options.task.state_folder = folder_.path();
    agent_ = std::make_unique<Agent>(options, files_, clock_, metrics_);
    service_ = std::make_unique<WorkerAgentServiceImpl>(*agent_);
    server_ = *base::RpcServer::Start({}, {service_.get()});
    stub_ = WorkerAgentService::NewStub(base::Connect(server_->address()));
  }
  absl::StatusOr<SetDesiredResponse> Call(const SetDesiredRequest& request) {
    return CallBy(*stub_, request);
  }
  static absl::StatusOr<SetDesiredResponse> CallBy(
      WorkerAgentService::Stub& stub, const SetDesiredRequest& request) {
    grpc::ClientContext context;
    base::PrepareCall({}, &context);
    SetDesiredResponse response;
    const grpc::Status status = stub.SetDesired(&context, request, &response);
    if (!status.ok()) return base::FromGrpcStatus(status);
    return response;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  std::unique_ptr<Agent> agent_;
  std::unique_ptr<WorkerAgentServiceImpl> service_;
  std::unique_ptr<base::RpcServer> server_;
  std::unique_ptr<WorkerAgentService::Stub> stub_;
};

TEST_F(ServiceTest, AnswersWithWhatItObserves) {
  SetDesiredRequest request;
  request.set_worker("w");
  request.set_incarnation("i");
  DesiredAttempt* desired = request.add_attempts();
  desired->set_job("a");
  desired->set_attempt(1);
  desired->set_action(DesiredAttempt::RUN);
  desired->mutable_train();
  ORDO_ASSERT_OK_AND_ASSIGN(const auto response, Call(request));
  ASSERT_EQ(response.observed().attempts_size(), 1);
  EXPECT_EQ(response.observed().attempts(0).phase(), ObservedAttempt::STARTING);
}

TEST_F(ServiceTest, RefusalCarriesItsCode) {
  SetDesiredRequest request;
  request.set_worker("w");
  request.set_incarnation("before");
  EXPECT_THAT(Call(request), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ServiceTest, OnlyTheSchedulerSaysWhatToRun) {
  const base::testing::PemFolder pem(folder_.path());
  const auto files = [&pem](const base::testing::PemPaths& paths) {
    return base::TlsFiles{{"certificate", paths.certificate},
                          {"key", paths.key},
                          {"ca", pem.ca()}};
  };
  const std::string own = "ordo:worker/w";
  const auto worker = files(pem.Issue("w", {"w", own, {"127.0.0.1"}}));
  const auto scheduler =
      files(pem.Issue("scheduler", {"scheduler", base::kSchedulerUri}));
  base::RpcServerOptions options;
  ORDO_ASSERT_OK_AND_ASSIGN(
      options.tls, base::ServerTls(worker, {base::kSchedulerUri, own}));
  server_ = nullptr;
  ORDO_ASSERT_OK_AND_ASSIGN(server_,
                            base::RpcServer::Start(options, {service_.get()}));
  SetDesiredRequest request;
  request.set_worker("w");
  request.set_incarnation("i");
  const auto call = [&](const base::TlsFiles& shown) {
    const auto tls = base::ClientTls::Load(shown).value();
    const auto stub = WorkerAgentService::NewStub(
        base::ConnectAlone(server_->address(), tls->ForHost()));
    return CallBy(*stub, request).status();
  };
  ORDO_EXPECT_OK(call(scheduler));
  const absl::Status refused = call(worker);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("needs the right SCHEDULER"));
}

}  // namespace
}  // namespace ordo::worker::agent
