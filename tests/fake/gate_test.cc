#include <chrono>
#include <dlfcn.h>
#include <stdlib.h>
#include <string>
#include <thread>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::tests::fake {
namespace {

constexpr std::chrono::seconds kDeadline{20};

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    setenv("ORDO_GATE_PATH", "/held", 1);
    setenv("ORDO_GATE_KEY", key_.c_str(), 1);
    library_ = dlopen("tests/fake/libgate.so", RTLD_NOW | RTLD_LOCAL);
  }
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << dlerror();
    ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("from"), "text"));
  }

  template <typename Function>
  Function* Of(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  // As a program with the library would.
  int Rename(const std::string& to) {
    return Of<int(const char*, const char*)>("rename")(
        folder_.Path("from").c_str(), to.c_str());
  }
  bool WaitUntilHeld() {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!base::Exists(files_, key_ + ".held")) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  const std::string key_ = folder_.Path("go");
  void* library_ = nullptr;
};

TEST_F(GateTest, RenameWaitsForTheKey) {
  const std::string to = folder_.Path("held");
  int result = -1;
  std::thread renaming([&] { result = Rename(to); });
  EXPECT_TRUE(WaitUntilHeld());
  EXPECT_FALSE(base::Exists(files_, to));
  ORDO_EXPECT_OK(base::AtomicWrite(files_, key_, ""));
  renaming.join();
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(base::Exists(files_, to));
}

TEST_F(GateTest, OpenWaitsForTheKey) {
  const std::string path = folder_.Path("held");
  ASSERT_EQ(Rename(folder_.Path("other")), 0);
  int result = 0;
  std::thread opening([&] {
    result = Of<int(const char*, int, ...)>("open")(path.c_str(), 0);
  });
  EXPECT_TRUE(WaitUntilHeld());
  ORDO_EXPECT_OK(base::AtomicWrite(files_, key_, ""));
  opening.join();
  EXPECT_EQ(result, -1);
}

TEST_F(GateTest, OtherPathsPass) {
  EXPECT_EQ(Rename(folder_.Path("held.not")), 0);
  EXPECT_FALSE(base::Exists(files_, key_ + ".held"));
}

}  // namespace
}  // namespace ordo::tests::fake
