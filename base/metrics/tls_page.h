#ifndef ORDO_BASE_METRICS_TLS_PAGE_H_
#define ORDO_BASE_METRICS_TLS_PAGE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/certificates/tls_files.h"

namespace ordo::base {

// Serves one text at https://<address>/metrics until destroyed: the web server
// that serves it without TLS cannot speak TLS with the OpenSSL of Debian. The
// files are read again when they change. Some connections are served at a
// time, each for some seconds at most; further ones wait.
class TlsPage {
 public:
  // `listen` is "HOST:PORT"; port 0 takes a free one. Whoever reads the page
  // must show a certificate of files.ca, where one is named. `text` makes the
  // page, on threads of the server. INVALID_ARGUMENT as CheckTlsFiles;
  // FAILED_PRECONDITION when the port is in use.
  static absl::StatusOr<std::unique_ptr<TlsPage>> Start(
      const std::string& listen, const TlsFiles& files,
      std::function<std::string()> text);
  ~TlsPage();

  int port() const;

 private:
  class Server;

  explicit TlsPage(std::unique_ptr<Server> server);

  const std::unique_ptr<Server> server_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_TLS_PAGE_H_
