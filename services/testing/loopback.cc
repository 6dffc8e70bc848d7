#include "services/testing/loopback.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::services::testing {
namespace {

AllServicesOptions OptionsOf(const auth::Authenticator* authenticator,
                             const limits::LimitsOptions& limits) {
  AllServicesOptions options;
  options.authenticator = authenticator;
  options.limits = limits;
  return options;
}

}  // namespace

Loopback::Loopback(const auth::Authenticator* authenticator,
                   const limits::LimitsOptions& limits)
    : Loopback(OptionsOf(authenticator, limits)) {}

Loopback::Loopback(AllServicesOptions options) {
  options.clock = &clock_;
  options.scheduler = &scheduler_;
  options.files = &files_;
  options.storage_root = folder_.path();
  services_ = std::make_unique<AllServices>(options);
  server_ = base::RpcServer::Start({}, services_->services()).value();
  channel_ = base::Connect(server_->address());
}

Loopback::~Loopback() = default;

std::string Loopback::Path(const std::string& relative) const {
  return folder_.Path(relative);
}

training::v1::FileInfo Loopback::Write(const std::string& relative,
                                       const std::string& content) {
  ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(Path(relative))));
  ORDO_EXPECT_OK(base::AtomicWrite(files_, Path(relative), content));
  training::v1::FileInfo info;
  info.set_path(base::NameOf(relative));
  info.set_size_bytes(static_cast<int64_t>(content.size()));
  info.set_sha256(base::Sha256Hex(content));
  return info;
}

void Loopback::Append(const std::string& relative, const std::string& content) {
  ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(Path(relative))));
  auto file = files_.OpenForWrite(Path(relative), base::WriteMode::kAppend);
  ORDO_ASSERT_OK(file);
  ORDO_EXPECT_OK((*file)->Append(content));
  ORDO_EXPECT_OK((*file)->Close());
}

Context::Context(const std::string& user) {
  base::CallOptions options;
  options.timeout = absl::Seconds(30);
  options.user = user;
  base::PrepareCall(options, this);
}

std::unique_ptr<Context> Context::OfBearer(const std::string& secret) {
  auto context = std::make_unique<Context>("");
  context->AddMetadata(base::kAuthorizationMetadataKey, "Bearer " + secret);
  return context;
}

absl::Status ToStatus(const grpc::Status& status) {
  return base::FromGrpcStatus(status);
}

std::string FieldOf(const grpc::Status& status) {
  const auto violations = base::FieldViolations(ToStatus(status));
  if (violations.size() == 1) return violations[0].field;
  return absl::StrCat("(", violations.size(),
                      " violations: ", status.error_message(), ")");
}

}  // namespace ordo::services::testing
