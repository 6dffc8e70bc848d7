#include "worker/agent/gpus.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::DeviceFault;

struct Xid {
  uint64_t number;
  bool grave;
  const char* message;
};

// NVIDIA, "XID Errors", catalogue of driver r580. Grave is what leaves the GPU
// unusable, or its memory in doubt, until somebody resets or replaces it.
constexpr std::array kXids = {
    Xid{48, true, "a double-bit error of its memory"},
    Xid{61, false, "its microcontroller stopped at a breakpoint"},
    Xid{62, true, "its microcontroller halted"},
    Xid{63, false, "a row of its memory was or will be replaced"},
    Xid{64, true, "a row of its memory could not be replaced"},
    Xid{69, false, "an error of its graphics engine"},
    Xid{74, true, "an error of its NVLink"},
    Xid{79, true, "it has fallen off the bus"},
    Xid{92, false, "many single-bit errors of its memory"},
    Xid{94, false, "an error of its memory, contained in one program"},
    Xid{95, true, "an error of its memory that was not contained"},
    Xid{109, false, "a context switch took too long"},
    Xid{119, true, "its system processor (GSP) does not answer"},
    Xid{120, true, "its system processor (GSP) failed"},
    Xid{121, false, "an error of its link between chips (C2C)"},
    Xid{140, true, "an error of its memory that nothing corrected"},
    Xid{143, true, "it could not be initialised"},
    Xid{154, true, "its driver says that it must be recovered"},
};

// Of the program that ran: illegal instructions and addresses, its watchdog,
// its being ended.
constexpr std::array<uint64_t, 7> kOfPrograms = {8, 13, 31, 43, 44, 45, 68};

constexpr char kDoubleBit[] = "ECC_DOUBLE_BIT";

std::string CodeOf(uint64_t xid) { return absl::StrCat("XID_", xid); }

}  // namespace

bool DescribeXid(uint64_t xid, DeviceFault* fault) {
  if (std::count(kOfPrograms.begin(), kOfPrograms.end(), xid) > 0) return false;
  fault->set_code(CodeOf(xid));
  const auto* known =
      std::find_if(kXids.begin(), kXids.end(),
                   [xid](const Xid& entry) { return entry.number == xid; });
  fault->set_grave(known != kXids.end() && known->grave);
  fault->set_message(absl::StrCat(
      "its driver reported XID ", xid,
      known == kXids.end() ? "" : absl::StrCat(": ", known->message)));
  return true;
}

DeviceFault DoubleBitFault() {
  DeviceFault fault;
  fault.set_code(kDoubleBit);
  fault.set_message("an error of its memory that could not be corrected (ECC)");
  fault.set_grave(true);
  return fault;
}

std::string FaultLabel(const DeviceFault& fault) {
  const bool is_known =
      fault.code() == kDoubleBit ||
      std::any_of(kXids.begin(), kXids.end(), [&fault](const Xid& entry) {
        return fault.code() == CodeOf(entry.number);
      });
  return is_known ? fault.code() : kOtherFault;
}

}  // namespace ordo::worker::agent
