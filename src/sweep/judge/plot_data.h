// What the plots of a sweep show, from its facts.
#pragma once

#include <string>

#include "sweep/draw/plots.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

inline constexpr std::size_t kPlotPointsMax =
    20'000;  // GEMM launches; beyond it every nth is shown

SweepPlotData PlotDataOf(const SweepFacts& facts);

// "512 threads, 28 channels".
std::string ConfigText(const Sweep& sweep, const Config& config);

}  // namespace jarvis::sweep
