#include "scheduler/main/tls.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using config::v1::Tls;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Tls Smallest() {
  Tls tls;
  tls.set_certificate("/tls/s.pem");
  tls.set_key("/tls/s.key");
  tls.set_client_ca("/tls/ca.pem");
  return tls;
}

std::vector<std::string> BadFields(Tls* tls) {
  std::vector<base::FieldViolation> violations;
  ResolveTls(tls, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(TlsTest, OneCertificateAndOneAuthorityServeAllEnds) {
  Tls tls = Smallest();
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(PortFiles(tls).certificate.path, "/tls/s.pem");
  EXPECT_EQ(PortFiles(tls).key.path, "/tls/s.key");
  EXPECT_EQ(PortFiles(tls).ca.path, "/tls/ca.pem");
  EXPECT_EQ(CallFiles(tls).certificate.path, "/tls/s.pem");
  EXPECT_EQ(CallFiles(tls).key.path, "/tls/s.key");
  EXPECT_EQ(CallFiles(tls).ca.path, "/tls/ca.pem");
  EXPECT_EQ(PageFiles(tls).certificate.path, "/tls/s.pem");
  EXPECT_EQ(PageFiles(tls).ca.path, "");
}

TEST(TlsTest, EachEndMayHaveItsOwn) {
  Tls tls = Smallest();
  tls.set_ca("/tls/workers.pem");
  tls.set_client_certificate("/tls/c.pem");
  tls.set_client_key("/tls/c.key");
  tls.set_metrics_client_ca("/tls/watch.pem");
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(PortFiles(tls).ca.path, "/tls/ca.pem");
  EXPECT_EQ(CallFiles(tls).certificate.path, "/tls/c.pem");
  EXPECT_EQ(CallFiles(tls).key.path, "/tls/c.key");
  EXPECT_EQ(CallFiles(tls).ca.path, "/tls/workers.pem");
  EXPECT_EQ(PageFiles(tls).ca.path, "/tls/watch.pem");
}

TEST(TlsTest, WhatIsMissingIsNamed) {
  Tls tls;
  EXPECT_THAT(BadFields(&tls), ElementsAre("tls.certificate", "tls.ca"));
  Tls half = Smallest();
  half.set_client_key("/tls/c.key");
  half.mutable_join_ca()->set_certificate("/tls/ca.pem");
  EXPECT_THAT(BadFields(&half),
              ElementsAre("tls.client_certificate", "tls.join_ca.key"));
}

TEST(TlsTest, AFileMayHoldACertificateAndItsKey) {
  Tls tls;
  tls.set_certificate("/tls/s.pem");
  tls.set_ca("/tls/ca.pem");
  tls.set_client_certificate("/tls/c.pem");
  EXPECT_THAT(BadFields(&tls), IsEmpty());
  EXPECT_EQ(PortFiles(tls).key.path, "/tls/s.pem");
  EXPECT_EQ(CallFiles(tls).key.path, "/tls/c.pem");
}

TEST(TlsTest, PathsAreAbsolute) {
  Tls tls = Smallest();
  tls.set_certificate("s.pem");
  tls.set_metrics_client_ca("ca.pem");
  EXPECT_THAT(BadFields(&tls),
              ElementsAre("tls.certificate", "tls.metrics_client_ca"));
}

TEST(TlsTest, ASchedulerJoinsNobody) {
  Tls tls = Smallest();
  tls.set_join_token_file("/tls/token");
  EXPECT_THAT(BadFields(&tls), ElementsAre("tls.join_token_file"));
}

}  // namespace
}  // namespace ordo::scheduler
