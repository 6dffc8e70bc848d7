#include "base/certificates/certificate.h"

#include <arpa/inet.h>
#include <array>
#include <ctime>
#include <utility>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "absl/strings/str_cat.h"
#include "base/certificates/openssl.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

using certificates::Owned;

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm fields = {};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return absl::InfinitePast();
  return absl::FromTM(fields, absl::UTCTimeZone());
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

// Empty for bytes that are no address.
std::string AddressOf(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return "";
  ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

void ReadNames(const X509& from, Certificate* to) {
  const Owned<GENERAL_NAMES> names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&from, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get());
       ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) {
      to->uri_names.push_back(TextOf(name->d.uniformResourceIdentifier));
    } else if (name->type == GEN_DNS) {
      to->hosts.push_back(TextOf(name->d.dNSName));
    } else if (name->type == GEN_IPADD) {
      to->hosts.push_back(AddressOf(name->d.iPAddress));
    }
  }
}

Certificate Describe(const X509& from) {
  Certificate result;
  result.not_before = TimeOf(X509_get0_notBefore(&from));
  result.not_after = TimeOf(X509_get0_notAfter(&from));
  const X509_NAME* const subject = X509_get_subject_name(&from);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index >= 0) {
    result.common_name =
        TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
  }
  ReadNames(from, &result);
  return result;
}

std::string Date(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<Certificate> ReadCertificate(std::string_view pem) {
  ORDO_ASSIGN_OR_RETURN(const Owned<X509> parsed,
                        certificates::ParseCertificate(pem));
  return Describe(*parsed);
}

absl::StatusOr<std::vector<Certificate>> ReadCertificates(
    std::string_view pem) {
  ORDO_RETURN_IF_ERROR(certificates::ParseCertificate(pem).status());
  const Owned<BIO> reader = certificates::ReaderOf(pem);
  std::vector<Certificate> result;
  while (true) {
    const Owned<X509> next(
        PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    result.push_back(Describe(*next));
  }
  // So does it say that nothing more begins; all else is damage.
  const bool at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string error = certificates::TakeError();
  if (at_end) return result;
  return absl::InvalidArgumentError(
      absl::StrCat("the certificate after the first ", result.size(),
                   " is damaged: ", error));
}

absl::Status CheckKeyOf(std::string_view certificate_pem,
                        std::string_view key_pem) {
  ORDO_ASSIGN_OR_RETURN(const Owned<X509> certificate,
                        certificates::ParseCertificate(certificate_pem));
  ORDO_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> key,
                        certificates::ParseKey(key_pem));
  if (X509_check_private_key(certificate.get(), key.get()) == 1) {
    return absl::OkStatus();
  }
  certificates::TakeError();
  return absl::InvalidArgumentError("is the key of another certificate");
}

absl::Status CheckTimeOf(const Certificate& certificate, absl::Time now) {
  if (now > certificate.not_after) {
    return absl::FailedPreconditionError(
        absl::StrCat("expired on ", Date(certificate.not_after)));
  }
  if (now < certificate.not_before) {
    return absl::FailedPreconditionError(absl::StrCat(
        "holds only from ", Date(certificate.not_before),
        " on, which is later than this machine's clock says it is"));
  }
  return absl::OkStatus();
}

}  // namespace ordo::base
