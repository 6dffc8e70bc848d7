#include "worker/agent/gpus.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::DeviceFault;
using ::testing::HasSubstr;

TEST(GpusTest, WhatLeavesAGpuUnusableIsGrave) {
  DeviceFault fault;
  ASSERT_TRUE(DescribeXid(79, &fault));
  EXPECT_EQ(fault.code(), "XID_79");
  EXPECT_TRUE(fault.grave());
  EXPECT_THAT(fault.message(), HasSubstr("fallen off the bus"));
  EXPECT_TRUE(DoubleBitFault().grave());
}

TEST(GpusTest, WhatTheDriverMendedIsNotGrave) {
  DeviceFault fault;
  ASSERT_TRUE(DescribeXid(63, &fault));
  EXPECT_FALSE(fault.grave());
}

TEST(GpusTest, NumbersOfDriversToComeAreToldAndNotGrave) {
  DeviceFault fault;
  ASSERT_TRUE(DescribeXid(987, &fault));
  EXPECT_EQ(fault.code(), "XID_987");
  EXPECT_FALSE(fault.grave());
}

TEST(GpusTest, LabelsOfFaultsAreThoseThatAreKnown) {
  DeviceFault fault;
  ASSERT_TRUE(DescribeXid(79, &fault));
  EXPECT_EQ(FaultLabel(fault), "XID_79");
  EXPECT_EQ(FaultLabel(DoubleBitFault()), "ECC_DOUBLE_BIT");
  ASSERT_TRUE(DescribeXid(987, &fault));
  EXPECT_EQ(FaultLabel(fault), "other");
}

TEST(GpusTest, AnErrorOfAProgramIsNotTheDevices) {
  DeviceFault fault;
  for (const uint64_t xid : {13u, 31u, 43u, 45u}) {
    EXPECT_FALSE(DescribeXid(xid, &fault)) << xid;
  }
}

}  // namespace
}  // namespace ordo::worker::agent
