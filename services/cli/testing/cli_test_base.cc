#include "services/cli/testing/cli_test_base.h"

#include <optional>

#include "base/files/file_util.h"

namespace ordo::services::cli::testing {

CliTest::CliTest() {
  client_.address = scheduler_.address();
  client_.user = "ada";
  client_.retry_for = absl::Milliseconds(300);
  client_.patience = absl::Seconds(20);
}

int CliTest::Run(const std::vector<std::string>& args) {
  out_.str("");
  err_.str("");
  std::istringstream in(input_);
  const auto environment =
      [this](const std::string& name) -> std::optional<std::string> {
    const auto found = environment_.find(name);
    if (found == environment_.end()) return std::nullopt;
    return found->second;
  };
  App app{in,         out_,   err_,   terminal_,   Terminal(),
          interrupt_, files_, clock_, environment, client_};
  return RunApp(app, args);
}

std::string CliTest::WriteFile(const std::string& name,
                               const std::string& content) {
  const std::string path = folder_.Path(name);
  EXPECT_TRUE(base::AtomicWrite(files_, path, content).ok());
  return path;
}

}  // namespace ordo::services::cli::testing
