#include "analysis/frames/time_frames.h"

namespace jarvis::analysis {

std::string_view StepSourceText(StepSource source) {
  switch (source) {
    case StepSource::kMarks: return "marks";
    case StepSource::kAnnotation: return "annotation";
    case StepSource::kModule: return "module";
    case StepSource::kKernelPeriod: return "kernel_period";
    case StepSource::kNone: break;
  }
  return "none";
}

}  // namespace jarvis::analysis
