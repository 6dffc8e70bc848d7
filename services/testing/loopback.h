#ifndef ORDO_SERVICES_TESTING_LOOPBACK_H_
#define ORDO_SERVICES_TESTING_LOOPBACK_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/clock/testing/fake_clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/rpc/server.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "scheduler/testing/fake_scheduler.h"
#include "services/all_services.h"
#include "services/auth/authenticator.h"
#include "services/limits/limits.h"

namespace ordo::services::testing {

// All services over a fake scheduler and an empty storage root, behind a real
// server on loopback.
class Loopback {
 public:
  // `authenticator`: null where everybody is believed; else not owned.
  explicit Loopback(const auth::Authenticator* authenticator = nullptr,
                    const limits::LimitsOptions& limits = {});
  // Guarded so, and with what else the options say, but for what this has.
  explicit Loopback(AllServicesOptions options);
  ~Loopback();

  scheduler::testing::FakeScheduler& scheduler() { return scheduler_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  AllServices& services() { return *services_; }
  base::RpcServer& server() { return *server_; }
  base::Filesystem& files() { return files_; }
  base::testing::FakeClock& clock() { return clock_; }

  // A path below the storage root.
  std::string Path(const std::string& relative) const;
  // Writes a file below the storage root, or adds to its end. Gives it as it
  // would be registered, `path` being its last part.
  training::v1::FileInfo Write(const std::string& relative,
                               const std::string& content);
  void Append(const std::string& relative, const std::string& content);

 private:
  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  scheduler::testing::FakeScheduler scheduler_;
  std::unique_ptr<AllServices> services_;
  std::unique_ptr<base::RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// The context of a call by `user` with a deadline that a test never meets.
class Context : public grpc::ClientContext {
 public:
  explicit Context(const std::string& user = "ada");
  // Of whoever has this token.
  static std::unique_ptr<Context> OfBearer(const std::string& secret);
};

// The status of a call.
absl::Status ToStatus(const grpc::Status& status);

// The field of the only violation of a status; else a text that says what there
// is in place of it.
std::string FieldOf(const grpc::Status& status);

}  // namespace ordo::services::testing

#endif  // ORDO_SERVICES_TESTING_LOOPBACK_H_
