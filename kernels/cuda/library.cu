// The entry of libordo_cuda.so.

#include <cstdio>
#include <cuda_runtime.h>

#include "kernels/cuda/library.h"

namespace ordo::kernels::cuda {
namespace {

const char* Text(cudaError_t error) {
  if (error == cudaSuccess) return nullptr;
  // Else the next launch would be blamed.
  static_cast<void>(cudaGetLastError());
  return cudaGetErrorString(error);
}

void* Allocate(int64_t bytes) {
  void* memory = nullptr;
  // Of no bytes there is a null pointer, which means something else.
  const size_t count = bytes > 0 ? static_cast<size_t>(bytes) : 1;
  return Text(cudaMalloc(&memory, count)) == nullptr ? memory : nullptr;
}

void Release(void* memory) { static_cast<void>(Text(cudaFree(memory))); }

const char* Copy(void* to, const void* from, int64_t bytes) {
  // A kernel's error is that of what waits for it first.
  const char* const error = Text(cudaDeviceSynchronize());
  if (error != nullptr) return error;
  return Text(
      cudaMemcpy(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault));
}

const char* Capture(void (*queue)(void* of, void* stream), void* of,
                    void** graph) {
  cudaStream_t stream = nullptr;
  const char* error = Text(cudaStreamCreate(&stream));
  if (error != nullptr) return error;
  // Of all threads: what may not be captured anywhere is an error.
  error = Text(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t made = nullptr;
  if (error == nullptr) {
    queue(of, stream);
    error = Text(cudaStreamEndCapture(stream, &captured));
  }
  if (error == nullptr) error = Text(cudaGraphInstantiate(&made, captured, 0));
  if (captured != nullptr) static_cast<void>(Text(cudaGraphDestroy(captured)));
  static_cast<void>(Text(cudaStreamDestroy(stream)));
  *graph = made;
  return error;
}

const char* Replay(void* graph) {
  const char* const error =
      Text(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), nullptr));
  return error != nullptr ? error : Text(cudaDeviceSynchronize());
}

void ReleaseGraph(void* graph) {
  static_cast<void>(
      Text(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph))));
}

const char* MissingDevice() {
  int count = 0;
  const char* const error = Text(cudaGetDeviceCount(&count));
  if (error != nullptr) return error;
  return count == 0 ? "no device" : nullptr;
}

const char* DeviceText() {
  static char text[512];
  cudaDeviceProp of = {};
  int device = 0, driver = 0;
  static_cast<void>(Text(cudaGetDevice(&device)));
  static_cast<void>(Text(cudaGetDeviceProperties(&of, device)));
  static_cast<void>(Text(cudaDriverGetVersion(&driver)));
  std::snprintf(text, sizeof(text), "%s, sm_%d%d, %d processors, driver %d.%d",
                of.name, of.major, of.minor, of.multiProcessorCount,
                driver / 1000, driver % 1000 / 10);
  return text;
}

}  // namespace

extern "C" const CudaLibrary* OrdoCudaLibrary() {
  static const attention::CudaCode* const kAttention[] = {
      &attention::HopperCuda(), &attention::TiledCuda(),
      &attention::CountedCuda()};
  static const CudaLibrary kLibrary = {CallBytes(),
                                       kAttention,
                                       3,
                                       &update::FusedCuda(),
                                       &rows::FusedCuda(),
                                       {Allocate, Release, Copy},
                                       {Capture, Replay, ReleaseGraph},
                                       MissingDevice,
                                       DeviceText};
  return &kLibrary;
}

}  // namespace ordo::kernels::cuda
