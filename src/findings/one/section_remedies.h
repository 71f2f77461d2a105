// What the remedies of a section of host work say of it: how many workers, which ops, when.
#pragma once

#include <vector>

#include "findings/one/host_findings.h"
#include "findings/one/idle_sections.h"

namespace jarvis::findings {

// Of rounds that get longer and longer; notes in `cause` what the change leaves, and that nothing
// tells how much goes where it is not the work on all that was collected so far.
std::vector<Advice> AdviceForGrowth(const SectionGroup& group, HostCause* cause);

// Each adds facts to the remedies of `finding` that take them. SayWorkers and SayTransforms: of
// data loading; SayWhatAndWhen: of a section, absent: of work that lies anywhere.
void SayWorkers(const HostEvidence& evidence, Finding* finding);
void SayWhatAndWhen(const SectionGroup* group, Finding* finding);
void SayTransforms(Finding* finding);

// One long call of a function that is called again and again: code is loaded, tables are made.
bool IsFirstOfMany(const trace::EventStore& events, const SectionGroup& group);

}  // namespace jarvis::findings
