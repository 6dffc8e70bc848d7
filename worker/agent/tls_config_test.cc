#include "worker/agent/tls_config.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::config::v1::Tls;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Tls Smallest() {
  Tls tls;
  tls.set_certificate("/tls/w.pem");
  tls.set_key("/tls/w.key");
  tls.set_ca("/tls/ca.pem");
  return tls;
}

std::vector<std::string> BadFields(Tls* tls) {
  std::vector<base::FieldViolation> violations;
  ResolveTls("/state", tls, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(TlsConfigTest, OneCertificateAndOneAuthorityServeAllEnds) {
  Tls tls = Smallest();
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(PortFiles(tls).certificate.path, "/tls/w.pem");
  EXPECT_EQ(PortFiles(tls).ca.path, "/tls/ca.pem");
  EXPECT_EQ(CallFiles(tls).key.path, "/tls/w.key");
  EXPECT_EQ(CallFiles(tls).ca.path, "/tls/ca.pem");
  EXPECT_EQ(PageFiles(tls).certificate.path, "/tls/w.pem");
  EXPECT_EQ(PageFiles(tls).ca.path, "");
}

TEST(TlsConfigTest, AFileMayHoldACertificateAndItsKey) {
  Tls tls = Smallest();
  tls.clear_key();
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(PortFiles(tls).key.path, "/tls/w.pem");
}

TEST(TlsConfigTest, AWorkerThatJoinsKeepsItsCertificateItself) {
  Tls tls;
  tls.set_ca("/tls/ca.pem");
  tls.set_join_token_file("/tls/token");
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(CallFiles(tls).certificate.path, "/state/tls/worker.pem");
  EXPECT_EQ(CallFiles(tls).key.path, "/state/tls/worker.pem");
}

TEST(TlsConfigTest, WhatIsMissingIsNamed) {
  Tls tls;
  EXPECT_THAT(BadFields(&tls), ElementsAre("tls.certificate", "tls.ca"));
  Tls half;
  half.set_key("/tls/w.key");
  half.set_ca("/tls/ca.pem");
  EXPECT_THAT(BadFields(&half), ElementsAre("tls.certificate"));
}

TEST(TlsConfigTest, WhatDoesNotFitIsNamed) {
  Tls tls = Smallest();
  tls.set_join_token_file("/tls/token");
  tls.set_client_key("/tls/c.key");
  tls.mutable_join_ca()->set_key("/tls/ca.key");
  EXPECT_THAT(BadFields(&tls),
              ElementsAre("tls.join_token_file", "tls.client_certificate",
                          "tls.join_ca"));
}

}  // namespace
}  // namespace ordo::worker::agent
