#include "scheduler/main/join_authority.h"

#include "absl/strings/str_cat.h"
#include "base/certificates/issue.h"
#include "base/files/file_util.h"
#include "base/status/status.h"

namespace ordo::scheduler {
namespace {

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

absl::StatusOr<WorkerCertificate> SignWorker(const JoinOrder& order,
                                             base::Filesystem& files) {
  base::KeyedCertificate authority;
  ORDO_ASSIGN_OR_RETURN(
      authority.certificate,
      Read(files, "tls.join_ca.certificate", order.authority.certificate()));
  ORDO_ASSIGN_OR_RETURN(authority.key,
                        Read(files, "tls.join_ca.key", order.authority.key()));
  ORDO_ASSIGN_OR_RETURN(
      const std::string certificate,
      base::SignRequest(
          order.signing_request, authority, base::WorkerNames(order.worker),
          {order.now - kBefore, kBefore + kWorkerCertificateLength}));
  return WorkerCertificate{certificate, authority.certificate};
}

}  // namespace ordo::scheduler
