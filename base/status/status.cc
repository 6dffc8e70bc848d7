#include "base/status/status.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/cord.h"

namespace ordo::base {

absl::Status AddContext(const absl::Status& status,
                        std::string_view attempted) {
  if (status.ok()) return status;
  std::string message(attempted);
  message.append(": ").append(status.message().data(), status.message().size());
  absl::Status result(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view type_url, const absl::Cord& data) {
        result.SetPayload(type_url, data);
      });
  return result;
}

absl::Status SystemError(int error_number, std::string_view attempted) {
  std::string message(attempted);
  message.append(": ").append(std::strerror(error_number));
  absl::StatusCode code = absl::ErrnoToStatusCode(error_number);
  // Abseil has UNKNOWN for this one, and bytes that cannot be read back or
  // written are lost.
  if (error_number == EIO) code = absl::StatusCode::kDataLoss;
  // A limit of who runs the process, as a full disk is.
  if (error_number == EFBIG) code = absl::StatusCode::kResourceExhausted;
  return absl::Status(code, message);
}

}  // namespace ordo::base
