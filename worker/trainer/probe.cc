#include "worker/trainer/probe.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/process/apart.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/lines.h"
#include "base/units/proto_time.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/time_util.h"
#include "kernels/common/device_name.h"
#include "kernels/cuda/load.h"
#include "kernels/probe/probe.h"

namespace ordo::worker::trainer {
namespace {

namespace probe = ::ordo::kernels::probe;

using google::protobuf::util::TimeUtil;
using kernels::Device;
using ordo::training::v1::KernelFailure;
using ordo::training::v1::KernelProbe;

// Of a kernel, which takes a tenth of a second.
constexpr absl::Duration kKernelLimit = absl::Seconds(10);
constexpr size_t kMaxInfoBytes = 1 << 20;

struct Gpu {
  const kernels::DeviceMemory* memory;
  std::string hardware;
};

// Loads the kernels. What CUDA knows is asked in another process, as none that
// has asked can be copied.
absl::StatusOr<Gpu> OpenGpu(const ProbeOptions& options, int index) {
  kernels::SeeGpu(index);
  const auto loaded = kernels::cuda::LoadCuda(options.gpu_kernels);
  if (!loaded.ok()) {
    return absl::UnavailableError(
        absl::StrCat(options.device, ": ", loaded.status().message()));
  }
  const kernels::cuda::CudaLibrary& library = **loaded;
  constexpr char kThere[] = "there: ";
  const auto answer = base::RunApart(
      [&]() -> std::string {
        const char* const missing = library.missing_device();
        if (missing != nullptr) return missing;
        return absl::StrCat(kThere, library.device_text());
      },
      options.limit);
  const std::string text =
      answer.ok() ? *answer : std::string(answer.status().message());
  if (!absl::StartsWith(text, kThere)) {
    return absl::UnavailableError(
        absl::StrCat(options.device, " is not there: ", text));
  }
  return Gpu{&library.memory, text.substr(sizeof kThere - 1)};
}

void Fail(const std::string& kernel, const std::string& message,
          KernelProbe* result) {
  KernelFailure& failure = *result->add_failed();
  failure.set_kernel(kernel);
  failure.set_message(message);
}

// One kernel's part of the result.
KernelProbe Describe(const std::string& row,
                     const absl::StatusOr<probe::Finding>& finding) {
  KernelProbe result;
  if (!finding.ok()) {
    Fail(row, std::string(finding.status().message()), &result);
  } else if (finding->miss) {
    Fail(row, finding->miss->what, &result);
    KernelFailure& failure = *result.mutable_failed(0);
    failure.set_problem(finding->problem);
    failure.set_error(finding->miss->error);
    failure.set_bound(finding->miss->bound);
  } else if (finding->num_problems == 0) {
    auto& refusal = *result.add_refused();
    refusal.set_kernel(row);
    refusal.set_message(std::string(finding->unsupported.message()));
  } else {
    result.add_passed(row);
  }
  return result;
}

void ProbeKernel(const std::string& row, const kernels::DeviceMemory* memory,
                 absl::Duration limit, KernelProbe* result) {
  if (limit <= absl::ZeroDuration()) {
    return Fail(row, "there was no time left for it", result);
  }
  const auto bytes = base::RunApart(
      [&] {
        return Describe(row, probe::ProbeRow(row, memory)).SerializeAsString();
      },
      std::min(limit, kKernelLimit));
  KernelProbe part;
  if (!bytes.ok()) {
    return Fail(row, std::string(bytes.status().message()), result);
  }
  if (!part.ParseFromString(*bytes)) return Fail(row, "no answer", result);
  result->MergeFrom(part);
}

std::string Reason(const KernelFailure& failure) {
  if (failure.problem().empty()) return failure.message();
  if (failure.bound() == 0) {
    return absl::StrCat(failure.problem(), ": ", failure.message());
  }
  return absl::StrCat(failure.problem(), ": ", failure.message(), " is ",
                      failure.error(), " off, at most ", failure.bound(),
                      " is right");
}

std::string Table(const KernelProbe& probe) {
  std::string text =
      absl::StrCat(probe.kind(), ": ", probe.hardware(), "\ntrainer ",
                   probe.build_digest().substr(0, 12), ", ",
                   TimeUtil::ToString(probe.time()), ", ",
                   TimeUtil::ToString(probe.duration()), "\n\n");
  for (const std::string& kernel : probe.passed()) {
    absl::StrAppend(&text, "passed   ", kernel, "\n");
  }
  for (const auto& refusal : probe.refused()) {
    absl::StrAppend(&text, "refused  ", refusal.kernel(), ": ",
                    refusal.message(), "\n");
  }
  for (const KernelFailure& failure : probe.failed()) {
    absl::StrAppend(&text, "FAILED   ", failure.kernel(), ": ", Reason(failure),
                    "\n");
  }
  absl::StrAppend(&text, "\n", probe.passed_size(), " kernels passed, ",
                  probe.failed_size(), " failed\n");
  return text;
}

}  // namespace

absl::StatusOr<KernelProbe> Probe(base::Filesystem& files, base::Clock& clock,
                                  const ProbeOptions& options) {
  const auto parsed = kernels::ParseDevice(options.device);
  if (!parsed.ok()) {
    return base::InvalidField("--device",
                              std::string(parsed.status().message()));
  }
  const kernels::DeviceName& name = *parsed;
  const absl::Duration begin = clock.Monotonic();
  KernelProbe result;
  *result.mutable_time() = base::ToTimestamp(clock.Now());
  result.set_build_digest(options.build_digest);
  const kernels::DeviceMemory* memory = nullptr;
  if (name.device == Device::kCuda) {
    ORDO_ASSIGN_OR_RETURN(const Gpu gpu, OpenGpu(options, name.index));
    memory = gpu.memory;
    result.set_kind("cuda");
    result.set_hardware(gpu.hardware);
  } else {
    result.set_kind("cpu");
    const auto about = base::ReadFile(files, "/proc/cpuinfo", kMaxInfoBytes);
    if (about.ok()) result.set_hardware(base::LineValue(*about, "model name"));
  }
  probe::Prepare(name.device);
  for (const std::string& row : probe::Rows(name.device)) {
    const absl::Duration left = options.limit - (clock.Monotonic() - begin);
    ProbeKernel(row, memory, left, &result);
  }
  *result.mutable_duration() = base::ToProtoDuration(clock.Monotonic() - begin);
  return result;
}

absl::StatusOr<std::string> ProbeText(const KernelProbe& probe,
                                      const std::string& output) {
  if (output.empty() || output == "table") return Table(probe);
  if (output != "json") {
    return base::InvalidField(
        "-o", absl::StrCat("must be table or json, is '", output, "'"));
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(probe, &text, options);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("write the result as JSON: ", status.ToString()));
  }
  return text + "\n";
}

}  // namespace ordo::worker::trainer
