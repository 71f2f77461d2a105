// Parts of recordings whose format has no order of its own: what is read of them is gone through as
// JSON of torch.profiler's format, whose parts can be told.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

// As Importer::survey, of a trace that the importer reads whole.
Result<Survey> SurveyWhole(const Importer& importer, const TraceInput& input,
                           const ReadOptions& options, Job& job);
template <const Importer& importer>
Result<Survey> SurveyByReading(const TraceInput& input, const ReadOptions& options, Job& job) {
  return SurveyWhole(importer, input, options, job);
}
// As Importer::read_window, for a survey of SurveyWhole: reads the file again for each pass.
Result<Trace> WindowOfWhole(const io::InputFile& file, const Survey& survey,
                            const TraceWindow& window, const ReadOptions& options, Job& job);

}  // namespace jarvis::trace
