#ifndef ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_
#define ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_

// Kernels that a probe must find.

namespace ordo::kernels::probe::testing {

// Adds to the table of attention, for as long as the process lives:
//   cpu_crashing  an instruction that no processor has;
//   cpu_idle      writes nothing;
//   cpu_wrong     right but for a gradient of k in padded rows of fp32;
//   cpu_shy       takes no problem: "never".
void AddBrokenKernels();

}  // namespace ordo::kernels::probe::testing

#endif  // ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_
