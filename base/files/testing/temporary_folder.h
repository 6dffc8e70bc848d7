#ifndef ORDO_BASE_FILES_TESTING_TEMPORARY_FOLDER_H_
#define ORDO_BASE_FILES_TESTING_TEMPORARY_FOLDER_H_

#include <string>
#include <string_view>

namespace ordo::base::testing {

// A new, empty folder that is removed with all in it at the end of its scope.
class TemporaryFolder {
 public:
  // In the test's own folder ($TEST_TMPDIR), else in /tmp.
  TemporaryFolder();
  // In a folder that exists.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // A path in the folder.
  std::string Path(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_FILES_TESTING_TEMPORARY_FOLDER_H_
