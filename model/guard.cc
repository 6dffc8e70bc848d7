#include "model/guard.h"

#include <exception>
#include <new>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "c10/util/Exception.h"

namespace ordo::model {
namespace {

absl::Status Describe(absl::StatusCode code, std::string_view attempted,
                      std::string_view what) {
  return absl::Status(
      code, absl::StrCat(std::string(attempted), ": ", std::string(what)));
}

// LibTorch's CPU allocator throws the general error with a text of its own.
bool IsOutOfMemory(const std::string& what) {
  return absl::StrContains(what, "DefaultCPUAllocator") ||
         absl::StrContains(what, "out of memory");
}

bool IsDeviceFailure(const std::string& what) {
  return absl::StrContains(what, "CUDA error") ||
         absl::StrContains(what, "CUBLAS_STATUS") ||
         absl::StrContains(what, "CUDNN_STATUS");
}

}  // namespace

absl::Status StatusOfException(std::string_view attempted) {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    return Describe(absl::StatusCode::kResourceExhausted, attempted,
                    error.what_without_backtrace());
  } catch (const c10::ValueError& error) {
    return Describe(absl::StatusCode::kInvalidArgument, attempted,
                    error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    const absl::StatusCode code =
        IsOutOfMemory(what)     ? absl::StatusCode::kResourceExhausted
        : IsDeviceFailure(what) ? absl::StatusCode::kUnavailable
                                : absl::StatusCode::kInternal;
    return Describe(code, attempted, what);
  } catch (const std::bad_alloc&) {
    return Describe(absl::StatusCode::kResourceExhausted, attempted,
                    "memory ran out");
  } catch (const std::exception& error) {
    return Describe(absl::StatusCode::kInternal, attempted, error.what());
  } catch (...) {
    return Describe(absl::StatusCode::kInternal, attempted,
                    "an exception of unknown type");
  }
}

}  // namespace ordo::model
