// Networks of convolutions that go down in resolution and come up again: those of diffusion, and
// others. Internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// What goes in and comes out of a U-Net that removes noise.
struct DiffusionUnet {
  std::int64_t batch = 0;
  std::int64_t channels = 0, height = 0, width = 0;  // of what comes in
  std::uint64_t calls = 0;                           // of its first convolution
  std::string evidence;
};

// By what its layers are: convolutions with group norms at several resolutions, attention over all
// places of at least two of them, dense layers for the time step, and as many channels out as in.
// Absent: the trace is of none.
std::optional<DiffusionUnet> FindDiffusionUnet(const WorkloadFacts& facts,
                                               const WorkloadSizes& sizes);

// Whether convolutions with group norms at several resolutions hold more time than attention and
// products do: a decoder of images, whatever attention it has in its middle.
bool IsGroupNormedPyramid(const WorkloadFacts& facts);

// Whether small products, each a sample's own, go from one width to those of several levels, as
// those of a time step do.
bool HasTimeStep(const WorkloadSizes& sizes, std::int64_t batch);

// The images of the convolutions with the most time together; 0: not known, or several that share
// it.
std::int64_t BatchOfConvolutions(const WorkloadFacts& facts);

void TellDiffusionUnet(const DiffusionUnet& unet, Workload* out);

}  // namespace jarvis::findings
