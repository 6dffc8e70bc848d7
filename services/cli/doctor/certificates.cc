#include "services/cli/doctor/certificates.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/certificates/certificate.h"
#include "base/certificates/tls_files.h"
#include "base/files/file_util.h"
#include "base/rpc/address.h"
#include "base/status/status.h"

namespace ordo::services::cli::doctor {
namespace {

constexpr size_t kMaxPemBytes = 1 << 20;
// Time to make others and to hand them round.
constexpr absl::Duration kSoon = absl::Hours(14 * 24);
constexpr char kOwnFile[] = "tls/worker.pem";
constexpr char kRenew[] =
    "ordo admin certs renew makes it anew; then put it in the place of the old "
    "one, without a restart";

std::string Day(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

class Checks {
 public:
  Checks(base::Filesystem& files, const base::Clock& clock,
         const CertificateSite& site)
      : files_(files), clock_(clock), site_(site), tls_(site.tls) {
    // As the services themselves fill it in.
    if (tls_.ca().empty()) tls_.set_ca(tls_.client_ca());
    if (tls_.client_ca().empty()) tls_.set_client_ca(tls_.ca());
    if (!tls_.join_token_file().empty()) {
      tls_.set_certificate(base::JoinPath(site.state_folder, kOwnFile));
    }
    if (tls_.key().empty()) tls_.set_key(tls_.certificate());
  }

  Findings Run() {
    if (!tls_.join_token_file().empty() &&
        !base::Exists(files_, tls_.certificate())) {
      WillJoin();
      return std::move(findings_);
    }
    if (!Files()) return std::move(findings_);
    // What Files has read a moment ago.
    const auto pem = base::ReadFile(files_, tls_.certificate(), kMaxPemBytes);
    if (!pem.ok()) return std::move(findings_);
    const auto certificate = base::ReadCertificate(*pem);
    if (!certificate.ok()) return std::move(findings_);
    Expiry(*certificate);
    Name(*certificate);
    if (!site_.listen.empty()) Host(*certificate);
    Key();
    return std::move(findings_);
  }

 private:
  void Add(const std::string& check, Health health, std::string seen,
           std::string advice = "") {
    findings_.push_back({absl::StrCat("tls/", site_.service, ".", check),
                         health, std::move(seen), std::move(advice)});
  }

  void WillJoin() {
    const auto token =
        base::ReadFile(files_, tls_.join_token_file(), kMaxPemBytes);
    if (token.ok()) {
      Add("files", Health::kOk, "it joins by its token at its first start");
      return;
    }
    Add("files", Health::kFail,
        absl::StrCat("it has neither a certificate nor a token: ",
                     token.status().message()),
        "make a token: ordo admin token create NAME --role worker --worker ID "
        "--out FILE");
  }

  bool Files() {
    absl::Status status =
        base::CheckTlsFiles({{"tls.certificate", tls_.certificate()},
                             {"tls.key", tls_.key()},
                             {"tls.client_ca", tls_.client_ca()}},
                            clock_.Now());
    if (status.ok() && !tls_.client_certificate().empty()) {
      status = base::CheckTlsFiles(
          {{"tls.client_certificate", tls_.client_certificate()},
           {"tls.client_key", tls_.client_key().empty()
                                  ? tls_.client_certificate()
                                  : tls_.client_key()},
           {"tls.ca", tls_.ca()}},
          clock_.Now());
    }
    if (status.ok()) {
      Add("files", Health::kOk, "key, certificate and authorities fit");
      return true;
    }
    Add("files", Health::kFail, std::string(status.message()),
        "mend what it names: without it the service does not start");
    return false;
  }

  void Expiry(const base::Certificate& certificate) {
    const bool soon = certificate.not_after - clock_.Now() < kSoon;
    Add("expiry", soon ? Health::kWarn : Health::kOk,
        "it holds until " + Day(certificate.not_after), soon ? kRenew : "");
  }

  void Name(const base::Certificate& certificate) {
    // Of two certificates of a scheduler workers see the other.
    if (!tls_.client_certificate().empty()) return;
    const auto& names = certificate.uri_names;
    if (std::find(names.begin(), names.end(), site_.uri_name) != names.end()) {
      Add("name", Health::kOk, "it is that of " + site_.uri_name);
      return;
    }
    Add("name", Health::kFail,
        absl::StrCat("it is not that of ", site_.uri_name, ", but of ",
                     names.empty() ? "nobody" : absl::StrJoin(names, ", ")),
        "make one with that name: ordo admin certs init, or certs add");
  }

  void Host(const base::Certificate& certificate) {
    const auto& hosts = certificate.hosts;
    const std::string seen = "it names the hosts " + absl::StrJoin(hosts, ", ");
    const auto listen = base::ParseHostPort(site_.listen);
    // Whoever listens everywhere is called by any name.
    const bool any =
        !listen.ok() || listen->host == "0.0.0.0" || listen->host == "::";
    if (any ||
        std::find(hosts.begin(), hosts.end(), listen->host) != hosts.end()) {
      Add("host", Health::kOk, seen);
      return;
    }
    Add("host", Health::kWarn,
        absl::StrCat(seen, ", and not ", listen->host, ", where it listens"),
        "call the service by one of these, or make a certificate with --host " +
            listen->host);
  }

  void Key() {
    struct stat about = {};
    if (stat(tls_.key().c_str(), &about) != 0) return;
    if ((about.st_mode & S_IROTH) == 0) {
      Add("key", Health::kOk, "not everybody can read its key");
      return;
    }
    Add("key", Health::kWarn,
        "everybody on this machine can read " + tls_.key(),
        "chmod o-r " + tls_.key() + ", and make another: it may be known");
  }

  base::Filesystem& files_;
  const base::Clock& clock_;
  const CertificateSite& site_;
  config::v1::Tls tls_;
  Findings findings_;
};

}  // namespace

Findings CheckCertificates(base::Filesystem& files, const base::Clock& clock,
                           const CertificateSite& site) {
  return Checks(files, clock, site).Run();
}

}  // namespace ordo::services::cli::doctor
