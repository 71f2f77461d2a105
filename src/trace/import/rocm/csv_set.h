// The CSV files that rocprofv3 writes under one prefix: any one of them stands for all.
#pragma once

#include "trace/import/shared/importer.h"

namespace jarvis::trace {

extern const Importer kRocprofv3Csv;

}  // namespace jarvis::trace
