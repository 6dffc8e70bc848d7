#ifndef ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_
#define ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_

// Kernels that a probe must find.

namespace ordo::kernels::probe::testing {

// Adds to the tables, for as long as the process lives; to that of attention:
//   cpu_crashing  an instruction that no processor has;
//   cpu_idle      writes nothing;
//   cpu_wrong     right but for a gradient of k in padded rows of fp32;
//   cpu_shy       takes no problem: "never";
// and to that of the update:
//   cpu_forgetful right but for the first token of the second tile of 16, with
//                 TAPE's usual 12 heads in fp32.
void AddBrokenKernels();

}  // namespace ordo::kernels::probe::testing

#endif  // ORDO_KERNELS_PROBE_TESTING_BROKEN_KERNELS_H_
