#include "base/metrics/tls_page.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/rpc/address.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr int kNumThreads = 16;
constexpr int kBacklog = 128;
// Who connects and sends nothing gets no thread for so long.
constexpr int kSilentSeconds = 5;
// Of a whole connection, whatever trickles in.
constexpr absl::Duration kConnectionTimeout = absl::Seconds(5);
// Who comes while the process may have no more files stays at the door.
constexpr absl::Duration kNoFilePause = absl::Milliseconds(100);
constexpr size_t kMaxRequestBytes = 8 << 10;
constexpr size_t kPartBytes = 16 << 10;

struct Free {
  void operator()(SSL_CTX* it) const { SSL_CTX_free(it); }
  void operator()(SSL* it) const { SSL_free(it); }
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  int get() const { return fd_; }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> Listen(const std::string& listen) {
  ORDO_ASSIGN_OR_RETURN(const HostPort address, ParseHostPort(listen));
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(
      address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("serve metrics on ", listen, ": ", gai_strerror(error)));
  }
  Descriptor fd(::socket(found->ai_family,
                         SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &kSilentSeconds,
               sizeof kSilentSeconds);
  const bool listens =
      ::bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0 &&
      ::listen(fd.get(), kBacklog) == 0;
  const int reason = errno;
  freeaddrinfo(found);
  if (listens) return fd;
  return absl::FailedPreconditionError(
      absl::StrCat(SystemError(reason, "serve metrics on " + listen).message(),
                   "; is the port in use? Name another, or 0 for a free one"));
}

int PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

// Changes whenever a file is replaced or written.
std::string StateOf(const TlsFiles& files) {
  std::string state;
  for (const NamedFile& file : {files.certificate, files.key, files.ca}) {
    struct stat info = {};
    if (file.path.empty() || ::stat(file.path.c_str(), &info) != 0) continue;
    absl::StrAppend(&state, info.st_ino, " ", info.st_size, " ",
                    info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, "\n");
  }
  return state;
}

absl::StatusOr<std::shared_ptr<SSL_CTX>> MakeContext(const TlsFiles& files) {
  if (files.certificate.path.empty()) {
    return absl::InvalidArgumentError(files.certificate.name +
                                      " must name a PEM file");
  }
  ORDO_RETURN_IF_ERROR(CheckTlsFiles(files, RealClock().Now()));
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), Free());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Connections are few, and a resumed one would not show its certificate.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  bool loaded =
      SSL_CTX_use_certificate_chain_file(context.get(),
                                         files.certificate.path.c_str()) == 1 &&
      SSL_CTX_use_PrivateKey_file(context.get(), files.key.path.c_str(),
                                  SSL_FILETYPE_PEM) == 1;
  if (!files.ca.path.empty()) {
    loaded = loaded && SSL_CTX_load_verify_locations(
                           context.get(), files.ca.path.c_str(), nullptr) == 1;
    SSL_CTX_set_verify(context.get(),
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
  }
  ERR_clear_error();
  if (loaded) return context;
  return absl::InvalidArgumentError(absl::StrCat(
      files.certificate.name, " ", files.certificate.path,
      ": OpenSSL does not take it, its key or the authorities beside it"));
}

}  // namespace

class TlsPage::Server {
 public:
  Server(Descriptor door, const TlsFiles& files,
         std::shared_ptr<SSL_CTX> context, std::function<std::string()> text)
      : door_(std::move(door)),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        files_(files),
        text_(std::move(text)),
        context_(std::move(context)) {
    for (int i = 0; i < kNumThreads; ++i) {
      threads_.emplace_back([this] { Run(); });
    }
  }
  ~Server() {
    const uint64_t one = 1;
    static_cast<void>(!::write(stop_.get(), &one, sizeof one));
    for (std::thread& thread : threads_) thread.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return PortOf(door_.get()); }

 private:
  void Run() {
    // A reader that goes before its page has come is no reason to end.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    while (WaitFor(door_.get(), POLLIN, absl::InfiniteDuration())) {
      const Descriptor connection(::accept4(door_.get(), nullptr, nullptr,
                                            SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection.get() >= 0) {
        Serve(connection.get());
      } else if (errno == EMFILE || errno == ENFILE) {
        WaitFor(stop_.get(), POLLIN, kNoFilePause);
      }
      // Else another thread took it.
    }
  }

  // Until `fd` is ready for `events`; false when that takes longer or the
  // server ends.
  bool WaitFor(int fd, short events, absl::Duration timeout) {
    std::array<pollfd, 2> both = {{{stop_.get(), POLLIN, 0}, {fd, events, 0}}};
    const int timeout_ms = timeout == absl::InfiniteDuration()
                               ? -1
                               : static_cast<int>(std::max<int64_t>(
                                     0, absl::ToInt64Milliseconds(timeout)));
    const int ready = ::poll(both.data(), both.size(), timeout_ms);
    return ready != 0 && both[0].revents == 0;
  }

  // Repeats a step of OpenSSL's until it is done; its result, or 0 when it
  // cannot be done until `end`.
  int Do(SSL* ssl, absl::Duration end, const std::function<int()>& step) {
    while (true) {
      const int result = step();
      if (result > 0) return result;
      const int error = SSL_get_error(ssl, result);
      ERR_clear_error();
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        return 0;
      }
      const short events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
      const absl::Duration left = end - clock_.Monotonic();
      if (left <= absl::ZeroDuration() ||
          !WaitFor(SSL_get_fd(ssl), events, left)) {
        return 0;
      }
    }
  }

  void Serve(int connection) {
    const absl::Duration end = clock_.Monotonic() + kConnectionTimeout;
    const std::shared_ptr<SSL_CTX> context = Context();
    const std::unique_ptr<SSL, Free> ssl(SSL_new(context.get()));
    if (ssl == nullptr) return;
    SSL_set_fd(ssl.get(), connection);
    if (Do(ssl.get(), end, [&ssl] { return SSL_accept(ssl.get()); }) == 0) {
      return;
    }
    std::string request;
    std::array<char, 1024> part;
    while (!absl::StrContains(request, "\r\n\r\n") &&
           request.size() < kMaxRequestBytes) {
      const int size = Do(ssl.get(), end, [&] {
        return SSL_read(ssl.get(), part.data(), part.size());
      });
      if (size == 0) return;
      request.append(part.data(), static_cast<size_t>(size));
    }
    const std::string answer = AnswerTo(request);
    for (size_t sent = 0; sent < answer.size();) {
      const int size = Do(ssl.get(), end, [&] {
        return SSL_write(
            ssl.get(), answer.data() + sent,
            static_cast<int>(std::min(answer.size() - sent, kPartBytes)));
      });
      if (size == 0) return;
      sent += static_cast<size_t>(size);
    }
    SSL_shutdown(ssl.get());
    ERR_clear_error();
  }

  std::string AnswerTo(const std::string& request) {
    const bool is_page = absl::StartsWith(request, "GET /metrics ") ||
                         absl::StartsWith(request, "GET /metrics?");
    const std::string body =
        is_page ? text_() : "the metrics are at /metrics\n";
    return absl::StrCat(
        is_page ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found",
        "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8"
        "\r\nConnection: close\r\nContent-Length: ",
        body.size(), "\r\n\r\n", body);
  }

  // From the files as they are, or as they were when they last could be used.
  std::shared_ptr<SSL_CTX> Context() {
    const std::string state = StateOf(files_);
    MutexLock lock(mutex_);
    if (state == state_) return context_;
    state_ = state;
    auto changed = MakeContext(files_);
    if (changed.ok()) {
      context_ = *std::move(changed);
    } else {
      LogWarning("the metrics page keeps the certificate that it had",
                 {{"error", changed.status()}});
    }
    return context_;
  }

  const Descriptor door_;
  const Descriptor stop_;
  const TlsFiles files_;
  const std::function<std::string()> text_;
  const RealClock clock_;
  Mutex mutex_;
  // Of the files when they were last read; empty: they are read once more.
  std::string state_ ORDO_GUARDED_BY(mutex_);
  std::shared_ptr<SSL_CTX> context_ ORDO_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

absl::StatusOr<std::unique_ptr<TlsPage>> TlsPage::Start(
    const std::string& listen, const TlsFiles& files,
    std::function<std::string()> text) {
  ORDO_ASSIGN_OR_RETURN(auto context, MakeContext(files));
  ORDO_ASSIGN_OR_RETURN(Descriptor door, Listen(listen));
  return std::unique_ptr<TlsPage>(new TlsPage(std::make_unique<Server>(
      std::move(door), files, std::move(context), std::move(text))));
}

TlsPage::TlsPage(std::unique_ptr<Server> server) : server_(std::move(server)) {}

TlsPage::~TlsPage() = default;

int TlsPage::port() const { return server_->port(); }

}  // namespace ordo::base
