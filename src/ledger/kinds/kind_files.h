// The tables of names, as the build put them into the program.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace jarvis::ledger {

std::span<const EmbeddedFile> NameFiles();       // names/*.json: names of GPU work
std::span<const EmbeddedFile> OpNameFiles();     // ops.json: names of ops that launch it
std::span<const EmbeddedFile> PrecisionFiles();  // precisions.json: spellings of data types

}  // namespace jarvis::ledger
