#include "model/training/peer_watch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/sockets/connect.h"
#include "base/status/status.h"

namespace ordo::model::training {
namespace {

// Between questions whether to go on waiting.
constexpr absl::Duration kAskInterval = absl::Milliseconds(20);
// For the first word of a connection. Who is no rank says none.
constexpr absl::Duration kHelloTimeout = absl::Seconds(1);

// What a rank says once: this, in the order of bytes of its machine, as all of
// them compute alike.
struct Hello {
  char name[8] = {'o', 'r', 'd', 'o', 'r', 'a', 'n', 'k'};
  int32_t rank = 0;
};

// Signals wait meanwhile: one would end it early, as if nothing had come.
bool Readable(int fd, absl::Duration timeout) {
  sigset_t all;
  sigfillset(&all);
  pollfd polled = {fd, POLLIN, 0};
  const timespec left = absl::ToTimespec(timeout);
  return ppoll(&polled, 1, &left, &all) > 0;
}

void Set(int event) {
  const uint64_t one = 1;
  ORDO_CHECK(write(event, &one, sizeof(one)) == sizeof(one));
}

void CloseAll(const std::vector<int>& fds) {
  for (const int fd : fds) {
    if (fd >= 0) close(fd);
  }
}

// The rank that a connection is of; 0: of none.
int RankOf(int connection, int ranks) {
  Hello hello;
  if (!Readable(connection, kHelloTimeout) ||
      recv(connection, &hello, sizeof(hello), MSG_DONTWAIT) != sizeof(hello) ||
      std::memcmp(hello.name, Hello().name, sizeof(hello.name)) != 0 ||
      hello.rank < 1 || hello.rank >= ranks) {
    return 0;
  }
  return hello.rank;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerWatch>> PeerWatch::Accept(
    const base::Listener& listener, int ranks,
    const std::function<absl::Status()>& go_on, Options options) {
  // By rank, from 1.
  std::vector<int> connections(ranks - 1, -1);
  int missing = ranks - 1;
  while (missing > 0) {
    const absl::Status status = go_on();
    if (!status.ok()) {
      CloseAll(connections);
      return status;
    }
    if (!Readable(listener.fd, kAskInterval)) continue;
    const int fd = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int rank = RankOf(fd, ranks);
    if (rank == 0 || connections[rank - 1] >= 0) {
      close(fd);
      continue;
    }
    connections[rank - 1] = fd;
    --missing;
  }
  return std::unique_ptr<PeerWatch>(
      new PeerWatch(std::move(connections), std::move(options)));
}

absl::StatusOr<std::unique_ptr<PeerWatch>> PeerWatch::Join(
    const std::string& host, uint16_t port, int rank, Options options) {
  ORDO_ASSIGN_OR_RETURN(const int fd, base::ConnectTo(host, port));
  Hello hello;
  hello.rank = rank;
  if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello)) {
    const absl::Status status = absl::UnavailableError(
        absl::StrCat("tell rank 0 of this one: ", std::strerror(errno)));
    close(fd);
    return status;
  }
  return std::unique_ptr<PeerWatch>(new PeerWatch({fd}, std::move(options)));
}

PeerWatch::PeerWatch(std::vector<int> connections, Options options)
    : connections_(std::move(connections)),
      options_(std::move(options)),
      end_(eventfd(0, EFD_CLOEXEC)),
      loss_(eventfd(0, EFD_CLOEXEC)) {
  ORDO_CHECK(end_ >= 0 && loss_ >= 0) << std::strerror(errno);
  thread_ = std::thread([this] { Watch(); });
}

PeerWatch::~PeerWatch() {
  Set(end_);
  thread_.join();
  CloseAll(connections_);
  CloseAll({end_, loss_});
}

void PeerWatch::Leave(const absl::Status& failure) {
  {
    // Before the watch can notice.
    base::MutexLock lock(mutex_);
    failure_ = failure;
  }
  ShutConnections();
}

bool PeerWatch::AwaitLoss(absl::Duration timeout) const {
  return lost_ || Readable(loss_, timeout);
}

void PeerWatch::Watch() {
  std::vector<pollfd> polled = {{end_, POLLIN, 0}};
  for (const int fd : connections_) polled.push_back({fd, POLLIN, 0});
  // Whatever comes over a connection is its end: nothing more is said there.
  while (poll(polled.data(), polled.size(), -1) < 0) {
    ORDO_CHECK(errno == EINTR || errno == EAGAIN) << std::strerror(errno);
  }
  if (polled[0].revents != 0) return;
  lost_ = true;
  // Behind it: a call that begins from here on finds out by itself.
  const int64_t call = calls_;
  Set(loss_);
  ShutConnections();
  if (Readable(end_, options_.patience)) return;
  const bool in_call = call % 2 != 0;
  if (!in_call || calls_ != call) return;
  absl::Status failure;
  {
    base::MutexLock lock(mutex_);
    failure = failure_;
  }
  options_.on_stuck(failure);
}

void PeerWatch::ShutConnections() {
  for (const int fd : connections_) shutdown(fd, SHUT_RDWR);
}

}  // namespace ordo::model::training
