#include "base/files/testing/temporary_folder.h"

#include <cstdlib>

#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"

namespace ordo::base::testing {

namespace {

std::string DefaultParent() {
  const char* parent = std::getenv("TEST_TMPDIR");
  return parent == nullptr ? "/tmp" : parent;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(DefaultParent()) {}

TemporaryFolder::TemporaryFolder(const std::string& parent)
    : path_(JoinPath(parent, "ordo-test-XXXXXX")) {
  ORDO_CHECK(::mkdtemp(path_.data()) != nullptr) << path_;
}

TemporaryFolder::~TemporaryFolder() {
  PosixFilesystem().RemoveTree(path_).IgnoreError();
}

std::string TemporaryFolder::Path(std::string_view name) const {
  return JoinPath(path_, name);
}

}  // namespace ordo::base::testing
