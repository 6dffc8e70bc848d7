#include "scheduler/main/join_authority.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/certificates/issue.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::scheduler {
namespace {

using services::access::SignWorker;
using services::access::WorkerCertificate;
using services::access::WorkerCertificateOrder;

constexpr size_t kMaxPemBytes = 1 << 20;
// For workers whose clocks are behind.
constexpr absl::Duration kBefore = absl::Minutes(10);

absl::StatusOr<std::string> Read(base::Filesystem& files, const char* field,
                                 const std::string& path) {
  const auto text = base::ReadFile(files, path, kMaxPemBytes);
  if (text.ok()) return text;
  return absl::FailedPreconditionError(absl::StrCat(
      "the scheduler cannot sign: ", field, ": ", text.status().message()));
}

}  // namespace

SignWorker SignWith(const config::v1::JoinAuthority& authority,
                    base::Filesystem& files, const base::Clock& clock) {
  return [authority, &files, &clock](const WorkerCertificateOrder& order)
             -> absl::StatusOr<WorkerCertificate> {
    base::KeyedCertificate signer;
    ORDO_ASSIGN_OR_RETURN(
        signer.certificate,
        Read(files, "tls.join_ca.certificate", authority.certificate()));
    ORDO_ASSIGN_OR_RETURN(signer.key,
                          Read(files, "tls.join_ca.key", authority.key()));
    ORDO_ASSIGN_OR_RETURN(
        const std::string certificate,
        base::SignRequest(
            order.signing_request_pem, signer, base::WorkerNames(order.worker),
            {clock.Now() - kBefore, kBefore + kWorkerCertificateLength}));
    return WorkerCertificate{certificate, signer.certificate};
  };
}

}  // namespace ordo::scheduler
