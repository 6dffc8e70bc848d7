#include "base/certificates/issue.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/certificates/openssl.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

using certificates::Owned;
using certificates::TakeError;

constexpr int kMinRsaBits = 2048;
constexpr int kMinCurveBits = 256;
constexpr size_t kMaxCommonNameBytes = 64;
constexpr size_t kMaxHostBytes = 253;
constexpr int kSerialBytes = 16;

absl::Status Failed(const std::string& attempted) {
  return absl::InternalError(absl::StrCat(attempted, ": ", TakeError()));
}

// Turns what `write` writes to a BIO into text.
template <typename Write>
absl::StatusOr<std::string> Written(const std::string& attempted, Write write) {
  const Owned<BIO> writer(BIO_new(BIO_s_mem()));
  if (writer == nullptr || write(writer.get()) != 1) return Failed(attempted);
  return certificates::TextOf(*writer);
}

absl::StatusOr<std::string> KeyText(EVP_PKEY* key) {
  return Written("write a private key", [key](BIO* to) {
    return PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr,
                                         nullptr);
  });
}

absl::StatusOr<std::string> CertificateText(X509* certificate) {
  return Written("write a certificate", [certificate](BIO* to) {
    return PEM_write_bio_X509(to, certificate);
  });
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

bool IsDnsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHostBytes && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '*' ||
                  c == '_';
         });
}

// A name of `type` that holds `text`; null without memory.
Owned<GENERAL_NAME> TextName(int type, std::string_view text) {
  Owned<GENERAL_NAME> name(GENERAL_NAME_new());
  ASN1_IA5STRING* const value = ASN1_IA5STRING_new();
  if (name == nullptr || value == nullptr) return nullptr;
  ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
  GENERAL_NAME_set0_value(name.get(), type, value);
  return name;
}

// An address by its bytes, else a DNS name.
absl::StatusOr<Owned<GENERAL_NAME>> HostName(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  int size = 0;
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) {
    size = sizeof(in_addr);
  } else if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) {
    size = sizeof(in6_addr);
  } else if (!IsDnsName(host)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", host, "' is neither a host name nor an address; no port, no URL"));
  } else {
    return TextName(GEN_DNS, host);
  }
  Owned<GENERAL_NAME> name(GENERAL_NAME_new());
  ASN1_OCTET_STRING* const value = ASN1_OCTET_STRING_new();
  if (name == nullptr || value == nullptr) return nullptr;
  ASN1_OCTET_STRING_set(value, bytes.data(), size);
  GENERAL_NAME_set0_value(name.get(), GEN_IPADD, value);
  return name;
}

absl::Status AddNames(const CertificateNames& names, X509* certificate) {
  if (names.common_name.empty() ||
      names.common_name.size() > kMaxCommonNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", names.common_name, "': a name of 1 to ", kMaxCommonNameBytes,
        " bytes must stand in a certificate"));
  }
  X509_NAME* const subject = X509_get_subject_name(certificate);
  if (X509_NAME_add_entry_by_NID(
          subject, NID_commonName, MBSTRING_UTF8,
          reinterpret_cast<const unsigned char*>(names.common_name.data()),
          static_cast<int>(names.common_name.size()), -1, 0) != 1) {
    TakeError();
    return absl::InvalidArgumentError("'" + names.common_name +
                                      "' cannot stand in a certificate");
  }
  const Owned<GENERAL_NAMES> all(GENERAL_NAMES_new());
  const auto add = [&all](Owned<GENERAL_NAME> name) {
    return all != nullptr && name != nullptr &&
           sk_GENERAL_NAME_push(all.get(), name.release()) > 0;
  };
  if (!names.uri_name.empty()) {
    if (!IsPrintable(names.uri_name)) {
      return absl::InvalidArgumentError(
          "'" + names.uri_name +
          "' cannot stand in a certificate: it is not printable ASCII");
    }
    if (!add(TextName(GEN_URI, names.uri_name))) return Failed("add a name");
  }
  for (const std::string& host : names.hosts) {
    ORDO_ASSIGN_OR_RETURN(Owned<GENERAL_NAME> name, HostName(host));
    if (!add(std::move(name))) return Failed("add a host");
  }
  if (names.uri_name.empty() && names.hosts.empty()) return absl::OkStatus();
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, all.get(), 0, 0) !=
      1) {
    return Failed("add the names");
  }
  return absl::OkStatus();
}

// A certificate of `key` with a random serial and the validity.
absl::StatusOr<Owned<X509>> Begin(EVP_PKEY* key, const Validity& validity) {
  Owned<X509> certificate(X509_new());
  std::array<unsigned char, kSerialBytes> serial;
  if (certificate == nullptr || RAND_bytes(serial.data(), kSerialBytes) != 1) {
    return Failed("draw a serial number");
  }
  // Positive, and never of fewer bytes.
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);
  const Owned<BIGNUM> number(BN_bin2bn(serial.data(), kSerialBytes, nullptr));
  const std::time_t from = absl::ToTimeT(validity.from);
  const std::time_t until = absl::ToTimeT(validity.from + validity.length);
  if (number == nullptr || X509_set_version(certificate.get(), 2) != 1 ||
      BN_to_ASN1_INTEGER(number.get(),
                         X509_get_serialNumber(certificate.get())) == nullptr ||
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), from) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()), until) == nullptr ||
      X509_set_pubkey(certificate.get(), key) != 1) {
    return Failed("begin a certificate");
  }
  return certificate;
}

struct Extension {
  int id;
  const char* value;
};

// Adds what makes a certificate of `issuer` one of its kind, and signs it.
absl::Status Finish(const std::vector<Extension>& extensions, X509* issuer,
                    EVP_PKEY* issuer_key, X509* certificate) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const Extension& each : extensions) {
    const Owned<X509_EXTENSION> extension(
        X509V3_EXT_conf_nid(nullptr, &context, each.id, each.value));
    if (extension == nullptr ||
        X509_add_ext(certificate, extension.get(), -1) != 1) {
      return Failed(absl::StrCat("add ", OBJ_nid2sn(each.id)));
    }
  }
  if (X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1 ||
      X509_sign(certificate, issuer_key, EVP_sha256()) == 0) {
    return Failed("sign a certificate");
  }
  return absl::OkStatus();
}

absl::Status CheckStrength(EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  const int bits = EVP_PKEY_get_bits(key);
  if ((kind == EVP_PKEY_RSA && bits >= kMinRsaBits) ||
      (kind == EVP_PKEY_EC && bits >= kMinCurveBits)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the signing request is of a weak or unknown kind of key; "
                   "make an EC key of P-256, or RSA of ",
                   kMinRsaBits, " bits"));
}

// The public key of a request, which its private key signed.
absl::StatusOr<Owned<EVP_PKEY>> KeyOfRequest(std::string_view request) {
  const Owned<BIO> reader = certificates::ReaderOf(request);
  const Owned<X509_REQ> parsed(
      PEM_read_bio_X509_REQ(reader.get(), nullptr, nullptr, nullptr));
  if (parsed == nullptr) {
    return absl::InvalidArgumentError(
        "the signing request is no PEM (-----BEGIN CERTIFICATE "
        "REQUEST-----): " +
        TakeError());
  }
  Owned<EVP_PKEY> key(X509_REQ_get_pubkey(parsed.get()));
  if (key == nullptr || X509_REQ_verify(parsed.get(), key.get()) != 1) {
    TakeError();
    return absl::InvalidArgumentError(
        "the signing request is not signed by its own key");
  }
  ORDO_RETURN_IF_ERROR(CheckStrength(key.get()));
  return key;
}

}  // namespace

CertificateNames WorkerNames(const std::string& worker) {
  CertificateNames names = {worker, kWorkerUriPrefix + worker, {kWorkerHost}};
  names.hosts.insert(names.hosts.end(), std::begin(kLocalHosts),
                     std::end(kLocalHosts));
  return names;
}

absl::StatusOr<std::string> NewKey() {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make a private key");
  return KeyText(key.get());
}

absl::StatusOr<KeyedCertificate> NewAuthority(const std::string& common_name,
                                              const Validity& validity) {
  KeyedCertificate result;
  ORDO_ASSIGN_OR_RETURN(result.key, NewKey());
  ORDO_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> key,
                        certificates::ParseKey(result.key));
  ORDO_ASSIGN_OR_RETURN(const Owned<X509> certificate,
                        Begin(key.get(), validity));
  ORDO_RETURN_IF_ERROR(AddNames({common_name, ""}, certificate.get()));
  ORDO_RETURN_IF_ERROR(
      Finish({{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
              {NID_key_usage, "critical,keyCertSign,cRLSign"},
              {NID_subject_key_identifier, "hash"}},
             certificate.get(), key.get(), certificate.get()));
  ORDO_ASSIGN_OR_RETURN(result.certificate, CertificateText(certificate.get()));
  return result;
}

absl::StatusOr<std::string> SigningRequest(std::string_view key) {
  ORDO_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> parsed,
                        certificates::ParseKey(key));
  const Owned<X509_REQ> request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), 0) != 1 ||
      X509_REQ_set_pubkey(request.get(), parsed.get()) != 1 ||
      X509_REQ_sign(request.get(), parsed.get(), EVP_sha256()) == 0) {
    return Failed("make a signing request");
  }
  return Written("write a signing request", [&request](BIO* to) {
    return PEM_write_bio_X509_REQ(to, request.get());
  });
}

absl::StatusOr<std::string> SignRequest(std::string_view request,
                                        const KeyedCertificate& authority,
                                        const CertificateNames& names,
                                        const Validity& validity) {
  ORDO_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> key, KeyOfRequest(request));
  const auto bad_authority = [](const absl::Status& why) {
    return absl::FailedPreconditionError(
        absl::StrCat("the authority cannot sign: ", why.message()));
  };
  const absl::Status fits = CheckKeyOf(authority.certificate, authority.key);
  if (!fits.ok()) return bad_authority(fits);
  ORDO_ASSIGN_OR_RETURN(const Owned<X509> issuer,
                        certificates::ParseCertificate(authority.certificate));
  ORDO_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> issuer_key,
                        certificates::ParseKey(authority.key));
  if (X509_check_ca(issuer.get()) == 0) {
    return bad_authority(absl::InvalidArgumentError(
        "its certificate is not one of an authority (CA:TRUE)"));
  }
  ORDO_ASSIGN_OR_RETURN(const Certificate issuer_says,
                        ReadCertificate(authority.certificate));
  Validity held;
  held.from = std::max(validity.from, issuer_says.not_before);
  held.length =
      std::min(validity.from + validity.length, issuer_says.not_after) -
      held.from;
  if (held.length <= absl::ZeroDuration()) {
    return bad_authority(CheckTimeOf(issuer_says, validity.from));
  }
  ORDO_ASSIGN_OR_RETURN(const Owned<X509> certificate, Begin(key.get(), held));
  ORDO_RETURN_IF_ERROR(AddNames(names, certificate.get()));
  ORDO_RETURN_IF_ERROR(Finish({{NID_basic_constraints, "critical,CA:FALSE"},
                               {NID_key_usage, "critical,digitalSignature"},
                               {NID_ext_key_usage, "serverAuth,clientAuth"},
                               {NID_subject_key_identifier, "hash"},
                               {NID_authority_key_identifier, "keyid"}},
                              issuer.get(), issuer_key.get(),
                              certificate.get()));
  return CertificateText(certificate.get());
}

absl::StatusOr<KeyedCertificate> Issue(const KeyedCertificate& authority,
                                       const CertificateNames& names,
                                       const Validity& validity) {
  KeyedCertificate result;
  ORDO_ASSIGN_OR_RETURN(result.key, NewKey());
  ORDO_ASSIGN_OR_RETURN(const std::string request, SigningRequest(result.key));
  ORDO_ASSIGN_OR_RETURN(result.certificate,
                        SignRequest(request, authority, names, validity));
  return result;
}

}  // namespace ordo::base
