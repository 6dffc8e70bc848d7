#include "worker/agent/join.h"

#include <algorithm>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/secret_file.h"
#include "base/log/log.h"
#include "base/rpc/client.h"
#include "base/rpc/grpc_status.h"
#include "base/status/status.h"
#include "grpcpp/client_context.h"
#include "proto/ordo/access/v1/access.grpc.pb.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::access::v1::AccessService;

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr absl::Duration kCallTimeout = absl::Seconds(10);
constexpr int kLookIntervalMs = 60'000;

absl::StatusOr<std::string> ReadSmall(const std::string& path) {
  base::PosixFilesystem files;
  return base::ReadFile(files, path, kMaxFileBytes);
}

// OK when the file can be shown as it is.
absl::Status CheckFile(const Membership& membership, const base::Clock& clock) {
  ORDO_ASSIGN_OR_RETURN(const std::string text, ReadSmall(membership.file));
  ORDO_RETURN_IF_ERROR(base::CheckKeyOf(text, text));
  ORDO_ASSIGN_OR_RETURN(const base::Certificate says,
                        base::ReadCertificate(text));
  const std::string name = base::kWorkerUriPrefix + membership.worker;
  if (std::find(says.uri_names.begin(), says.uri_names.end(), name) ==
      says.uri_names.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is not that of ", name));
  }
  return base::CheckTimeOf(says, clock.Now());
}

absl::Status GetCertificate(const Membership& membership,
                            const std::string& token, const AskToJoin& ask) {
  ORDO_ASSIGN_OR_RETURN(const std::string key, base::NewKey());
  ORDO_ASSIGN_OR_RETURN(const std::string request, base::SigningRequest(key));
  ORDO_ASSIGN_OR_RETURN(const std::string certificate, ask(request, token));
  ORDO_RETURN_IF_ERROR(base::AddContext(base::CheckKeyOf(certificate, key),
                                        "the scheduler's answer"));
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(base::FolderOf(membership.file)));
  return base::WriteSecretFile(membership.file, key + certificate);
}

}  // namespace

AskToJoin AskOver(const std::shared_ptr<grpc::Channel>& channel,
                  const std::string& worker) {
  return [channel, worker](
             const std::string& signing_request,
             const std::string& token) -> absl::StatusOr<std::string> {
    grpc::ClientContext context;
    base::CallOptions options;
    options.timeout = kCallTimeout;
    options.wait_for_ready = true;
    base::PrepareCall(options, &context);
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    access::v1::JoinRequest request;
    request.set_worker("workers/" + worker);
    request.set_signing_request_pem(signing_request);
    access::v1::JoinResponse response;
    ORDO_RETURN_IF_ERROR(base::FromGrpcStatus(
        AccessService::NewStub(channel)->Join(&context, request, &response)));
    return response.certificate_pem();
  };
}

absl::Status Join(const Membership& membership, const base::Clock& clock,
                  const AskToJoin& ask) {
  const absl::Status own = CheckFile(membership, clock);
  if (own.ok()) return absl::OkStatus();
  const auto token = ReadSmall(membership.token_file);
  if (!token.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "there is no certificate to show (", membership.file, ": ",
        own.message(), ") and no token to get one by (tls.join_token_file ",
        membership.token_file, ": ", token.status().message(),
        "); have an administrator make a token"));
  }
  ORDO_RETURN_IF_ERROR(base::AddContext(
      GetCertificate(membership,
                     std::string(absl::StripAsciiWhitespace(*token)), ask),
      absl::StrCat("join by the token of ", membership.token_file)));
  base::LogInfo("joined",
                {{"worker", membership.worker}, {"path", membership.file}});
  return absl::OkStatus();
}

bool IsRenewalDue(const Membership& membership, const base::Clock& clock) {
  const auto text = ReadSmall(membership.file);
  if (!text.ok()) return true;
  const auto says = base::ReadCertificate(*text);
  if (!says.ok()) return true;
  const absl::Duration length = says->not_after - says->not_before;
  return clock.Now() > says->not_before + length * 2 / 3;
}

absl::Status Renew(const Membership& membership, const AskToJoin& ask) {
  return GetCertificate(membership, "", ask);
}

Renewals::Renewals(Membership membership, const base::Clock& clock,
                   AskToJoin ask)
    : membership_(std::move(membership)),
      clock_(clock),
      ask_(std::move(ask)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

Renewals::~Renewals() {
  const uint64_t one = 1;
  static_cast<void>(!::write(stop_, &one, sizeof one));
  thread_.join();
  ::close(stop_);
}

void Renewals::Run() {
  while (true) {
    pollfd stop = {stop_, POLLIN, 0};
    ::poll(&stop, 1, kLookIntervalMs);
    if (stop.revents != 0) return;
    if (!IsRenewalDue(membership_, clock_)) continue;
    const absl::Status status = Renew(membership_, ask_);
    if (status.ok()) {
      base::LogInfo("renewed", {{"path", membership_.file}});
    } else {
      base::LogWarning("the worker's certificate is not renewed yet",
                       {{"path", membership_.file}, {"error", status}});
    }
  }
}

}  // namespace ordo::worker::agent
