#include "model/training/loaded_libraries.h"

#include <cstddef>
#include <dlfcn.h>
#include <link.h>
#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

// Where the loaded library lies whose path contains `part`.
std::string PathOf(const std::string& part) {
  std::pair<std::string, std::string> sought(part, "");
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* sought = static_cast<std::pair<std::string, std::string>*>(data);
        const std::string path = info->dlpi_name;
        if (path.find(sought->first) != std::string::npos) {
          sought->second = path;
        }
        return 0;
      },
      &sought);
  return sought.second;
}

class LoadedLibrariesTest : public ::testing::Test {
 protected:
  // The digest while a library is loaded as libtwin.so of a folder.
  std::string DigestWith(const std::string& bytes, const std::string& folder) {
    ORDO_EXPECT_OK(files_.MakeFolders(folder_.Path(folder)));
    const std::string copy = folder_.Path(folder + "/libtwin.so");
    ORDO_EXPECT_OK(base::AtomicWrite(files_, copy, bytes));
    void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr);
    if (library == nullptr) return "";
    const std::string digest = DigestOfLoaded({"libtwin."});
    EXPECT_EQ(dlclose(library), 0);
    return digest;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(LoadedLibrariesTest, NameWhatIsLoadedAndNothingElse) {
  const std::string digest = DigestOfLoaded({"libc."});
  EXPECT_THAT(digest, ::testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(DigestOfLoaded({"libc."}), digest);
  EXPECT_NE(DigestOfLoaded({"libnone."}), digest);
  EXPECT_NE(DigestOfLoaded({"libc.", "libm."}), digest);
  EXPECT_EQ(DigestOfLoaded({"libc.", "libnone."}), digest);
}

TEST_F(LoadedLibrariesTest, AnotherBuildUnderTheSameNameDiffers) {
  ORDO_ASSERT_OK_AND_ASSIGN(std::string bytes,
                            base::ReadFile(files_, PathOf("/libm."), 64 << 20));
  const std::string first = DigestWith(bytes, "a");
  EXPECT_EQ(DigestWith(bytes, "elsewhere"), first);
  // One of the same sizes: only its build id, 20 bytes behind this, tells.
  const std::string head("\x14\0\0\0\3\0\0\0GNU\0", 12);
  const size_t note = bytes.find(head);
  ASSERT_NE(note, std::string::npos) << "libm has no build id";
  bytes[note + head.size()] ^= 1;
  EXPECT_NE(DigestWith(bytes, "another"), first);
}

}  // namespace
}  // namespace ordo::model::training
