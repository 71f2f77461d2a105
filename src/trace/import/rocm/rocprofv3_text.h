// What rocprofv3 writes as text: results.json of one process, and the CSV files of one prefix, of
// which any one stands for all.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kRocprofv3Json;
extern const Importer kRocprofv3Csv;

}  // namespace jarvis::trace
