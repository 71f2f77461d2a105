#include "tools/ranks/fleet_words.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/ranks/fleet_tables.h"
#include "base/text.h"
#include "documents/markdown_text.h"
#include "output/number_format.h"
#include "tools/ranks/job_figures.h"

namespace jarvis::tools {
namespace {

using analysis::FleetFindings;
using analysis::FleetGroup;
using analysis::FleetHost;
using analysis::FleetLink;
using analysis::FleetRank;
using analysis::FleetStep;
using documents::CellOfText;

constexpr std::size_t kFleetShown = 5;
constexpr std::size_t kFleetNamed = 3;  // in a sentence
constexpr std::size_t kFleetReported = 5;
// Of what chance alone would make of all that were compared.
constexpr double kSureChance = 0.001;
constexpr double kLikelyChance = 0.05;

// With so many samples it is not their number that is wanting.
constexpr std::size_t kManySamples = 20;

// `tried`: of how many the worst is shown, each of which chance could have made; `samples`: how
// many there are of it.
std::string_view SureWord(double chance, std::size_t tried, std::size_t samples) {
  const double expected = chance * static_cast<double>(std::max<std::size_t>(1, tried));
  if (expected < kSureChance) return "sure";
  if (expected < kLikelyChance) return "likely";
  return samples < kManySamples ? "a hint: few samples" : "by few but long stops";
}

std::string ShareWords(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0);
}

std::string OfText(const analysis::FleetSigns& signs) {
  return fmt::format("{} of {}", signs.above, signs.count());
}

// One thing that is slow.
struct SlowItem {
  std::string what;     // "rank 13"
  std::string where;    // where that is known: "on node-0001"
  double excess;        // of own time, or of transfers
  std::string because;  // what takes longer; may be empty
  std::string samples;  // "5 of 5 steps"
  std::string_view sure;
};

// Names of hosts come from files: one line, not endless.
std::string HostText(const FleetFindings& fleet, std::size_t host) {
  constexpr std::size_t kHostCharacters = 40;
  const std::string line = OneLine(analysis::FleetHostName(fleet, host));
  const std::string_view shown = Utf8Characters(line, kHostCharacters);
  return std::string(shown) + (shown.size() < line.size() ? "..." : "");
}

std::string LinkText(const FleetFindings& fleet, const FleetLink& link) {
  constexpr std::size_t kHostsNamed = 8;
  std::vector<std::string> names;
  for (const std::size_t host : link.hosts) {
    if (names.size() == kHostsNamed) break;
    names.push_back(HostText(fleet, host));
  }
  if (link.within) return fmt::format("the links within {}", names.front());
  if (names.size() == 1) return fmt::format("the links of {} to other hosts", names.front());
  if (names.size() == 2) return fmt::format("the link between {} and {}", names[0], names[1]);
  std::string text = fmt::format("a link somewhere among {}", fmt::join(names, ", "));
  if (link.hosts.size() > names.size())
    text += fmt::format(" and {} more", link.hosts.size() - names.size());
  return text;
}

class FleetTeller {
 public:
  explicit FleetTeller(const FleetView& view) : view_(view), fleet_(view.fleet) {}

  // The worst first.
  std::vector<SlowItem> Hosts() const {
    std::vector<const FleetHost*> slow;
    for (const FleetHost& host : fleet_.hosts) {
      if (host.slow) slow.push_back(&host);
    }
    std::stable_sort(slow.begin(), slow.end(),
                     [](const auto* a, const auto* b) { return *a->excess > *b->excess; });
    std::vector<SlowItem> items;
    for (const FleetHost* host : slow) {
      const auto place = static_cast<std::size_t>(host - fleet_.hosts.data());
      items.push_back(
          {HostText(fleet_, place), fmt::format("ranks {}", Numbers(host->ranks)), *host->excess,
           std::string(analysis::FleetCauseText(host->cause)),
           fmt::format("{} ranks, {} {}", host->ranks_above, OfText(host->steps), SampleWord()),
           SureWord(host->chance, fleet_.hosts.size(), host->steps.count())});
    }
    return items;
  }

  std::vector<SlowItem> Ranks() const {
    std::vector<std::size_t> slow;
    for (std::size_t rank = 0; rank < fleet_.ranks.size(); ++rank) {
      if (fleet_.ranks[rank].slow) slow.push_back(rank);
    }
    std::stable_sort(slow.begin(), slow.end(), [&](std::size_t a, std::size_t b) {
      return *fleet_.ranks[a].excess > *fleet_.ranks[b].excess;
    });
    std::vector<SlowItem> items;
    for (const std::size_t rank : slow) {
      const FleetRank& of = fleet_.ranks[rank];
      std::vector<std::string> samples;
      if (of.steps.count() > 0) samples.push_back(OfText(of.steps) + " steps");
      if (of.calls.count() > 0) samples.push_back(OfText(of.calls) + " collectives of a group");
      items.push_back({fmt::format("rank {}", Number(rank)),
                       of.host ? "on " + HostText(fleet_, *of.host) : "", *of.excess,
                       std::string(analysis::FleetCauseText(of.cause)),
                       fmt::format("{}", fmt::join(samples, ", ")),
                       SureWord(of.chance, fleet_.compared, of.calls.count())});
    }
    return items;
  }

  std::vector<SlowItem> Links() const {
    std::vector<SlowItem> items;
    for (const FleetLink& link : fleet_.links) {
      items.push_back({LinkText(fleet_, link), "", link.excess, "",
                       fmt::format("{} groups, {} transfers", link.groups, OfText(link.calls)),
                       SureWord(link.calls.Chance(), fleet_.groups.size(), link.calls.count())});
    }
    return items;
  }

  std::vector<const FleetStep*> OddSteps() const {
    std::vector<const FleetStep*> odd;
    for (const FleetStep& step : fleet_.steps) {
      if (step.odd) odd.push_back(&step);
    }
    std::stable_sort(odd.begin(), odd.end(),
                     [](const auto* a, const auto* b) { return a->excess > b->excess; });
    return odd;
  }

  // That those who idle longer lose what all lose; empty: nobody does.
  std::string SharedLoss() const {
    std::vector<std::size_t> idle;
    for (std::size_t rank = 0; rank < fleet_.ranks.size(); ++rank) {
      if (fleet_.ranks[rank].shared_loss) idle.push_back(rank);
    }
    if (idle.empty()) return {};
    const auto& ranks = view_.job.story.ranks;
    const auto [least, most] = std::minmax_element(
        ranks.begin(), ranks.end(),
        [](const auto& a, const auto& b) { return a.starved_ns < b.starved_ns; });
    return fmt::format(
        "No rank is slow by itself: the hosts of all {} ranks lose about as much ({} to {} ms), "
        "and "
        "the GPU{} of {} idle{} longer, with less work queued ahead.",
        ranks.size(), MsText(least->starved_ns), MsText(most->starved_ns),
        idle.size() == 1 ? "" : "s", RanksText(view_.job, idle), idle.size() == 1 ? "s" : "");
  }

  // Why it says less than it could.
  std::vector<std::string> Less() const {
    std::vector<std::string> less;
    const std::size_t ranks = fleet_.ranks.size();
    if (fleet_.compared < ranks) {
      less.push_back(fmt::format(
          "{} of {} ranks have less than {} others of the same work, or no figures: what is usual "
          "for them is not known",
          ranks - fleet_.compared, ranks, analysis::kFleetPeersMin - 1));
    }
    if (view_.job.story.starved_ranks * 2 >= ranks && ranks > 0 && SharedLoss().empty()) {
      less.push_back(fmt::format(
          "the hosts of {} of {} ranks lose their processors: which of them is slow is who has no "
          "work queued ahead, and no fault of its own",
          view_.job.story.starved_ranks, ranks));
    }
    for (const analysis::FleetClass& peers : fleet_.classes) {
      if (!peers.apart_from) continue;
      less.push_back(fmt::format(
          "{} ranks ({}) seem to do the same work as {} others and take {} longer: too many for "
          "exceptions, so other work is likelier, and they are compared among themselves",
          peers.ranks.size(), Numbers(peers.ranks), fleet_.classes[*peers.apart_from].ranks.size(),
          ShareWords(peers.apart_excess)));
    }
    AddPairs(&less);
    if (fleet_.compared > 0 && !fleet_.by_step) {
      less.emplace_back(
          "no steps are marked (ProfilerStep), so own time is taken between collectives, and idle "
          "time is not told from computing");
    }
    if (fleet_.groups.empty() && !view_.job.joint.collectives.empty()) {
      less.push_back(
          fmt::format("no {} groups move the same bytes, or sizes are not recorded: "
                      "links are not compared",
                      analysis::kFleetPeersMin));
    }
    if (less.size() > kFleetShown) {
      const std::size_t more = less.size() - kFleetShown;
      less.resize(kFleetShown);
      less.push_back(fmt::format("{} more of the kind", more));
    }
    return less;
  }

  // Two ranks, or two hosts: which of them is the usual one nobody knows.
  void AddPairs(std::vector<std::string>* less) const {
    for (const analysis::FleetClass& peers : fleet_.classes) {
      if (peers.ranks.size() != 2) continue;
      const auto& one = fleet_.ranks[peers.ranks[0]].excess;
      const auto& other = fleet_.ranks[peers.ranks[1]].excess;
      if (!one || !other) continue;
      AddPair(fmt::format("rank {}", Number(peers.ranks[0])), *one,
              fmt::format("rank {}", Number(peers.ranks[1])), *other, less);
    }
    std::vector<std::size_t> hosts;
    for (std::size_t i = 0; i < fleet_.hosts.size(); ++i) {
      if (fleet_.hosts[i].excess) hosts.push_back(i);
    }
    if (hosts.size() != 2) return;
    AddPair(HostText(fleet_, hosts[0]), *fleet_.hosts[hosts[0]].excess, HostText(fleet_, hosts[1]),
            *fleet_.hosts[hosts[1]].excess, less);
  }

  static void AddPair(const std::string& a, double a_excess, const std::string& b, double b_excess,
                      std::vector<std::string>* less) {
    const double longer = (1 + std::max(a_excess, b_excess)) / (1 + std::min(a_excess, b_excess));
    if (longer - 1 < analysis::kFleetSlowShare) return;
    const bool first = a_excess > b_excess;
    less->push_back(
        fmt::format("own work of {} takes {} longer than that of {}; of two nobody knows which is "
                    "the usual one",
                    first ? a : b, ShareWords(longer - 1), first ? b : a));
  }

  std::int64_t Number(std::size_t rank) const { return *view_.job.set.ranks[rank].rank; }
  std::string Numbers(const std::vector<std::size_t>& ranks) const {
    std::vector<std::int64_t> numbers;
    for (const std::size_t rank : ranks)
      numbers.push_back(Number(rank));
    return analysis::RankList(numbers);
  }
  const char* SampleWord() const { return fleet_.by_step ? "steps" : "collectives"; }

  // How far like ranks lie from each other.
  std::string Usual() const {
    double most = 0;
    for (const analysis::FleetClass& peers : fleet_.classes) {
      if (peers.excess) most = std::max(most, peers.excess->sigma);
    }
    return ShareWords(most);
  }

 private:
  const FleetView& view_;
  const FleetFindings& fleet_;
};

std::string ItemText(const SlowItem& item, bool transfers) {
  std::string text =
      fmt::format("{} ({}{} longer", item.what, transfers ? "transfers take " : "own work takes ",
                  ShareWords(item.excess));
  if (!item.because.empty()) text += ": " + item.because;
  return text + fmt::format(", in {}; {})", item.samples, item.sure);
}

void AppendItems(const std::vector<SlowItem>& items, bool transfers,
                 std::vector<std::string>* texts) {
  for (std::size_t i = 0; i < items.size() && i < kFleetNamed; ++i)
    texts->push_back(ItemText(items[i], transfers));
  if (items.size() > kFleetNamed)
    texts->push_back(fmt::format("{} more", items.size() - kFleetNamed));
}

Json ItemsJson(const std::vector<SlowItem>& items) {
  Json list = Json::array();
  for (const SlowItem& item : items) {
    if (list.size() == kFleetShown) break;
    Json one = {{"what", item.what}, {"longer_percent", output::Rounded(item.excess * 100)}};
    if (!item.where.empty()) one["where"] = item.where;
    if (!item.because.empty()) one["because"] = item.because;
    one["above"] = item.samples;
    one["sure"] = item.sure;
    list.push_back(std::move(one));
  }
  return list;
}

std::string HostsByText(analysis::FleetHostsBy by) {
  switch (by) {
    case analysis::FleetHostsBy::kNothing: return "hosts are not known";
    case analysis::FleetHostsBy::kGiven: return "hosts are consecutive ranks, as given";
    case analysis::FleetHostsBy::kNames: return "hosts are those that the traces' names speak of";
    case analysis::FleetHostsBy::kDevices:
      return "hosts are consecutive ranks, as many as a trace lists GPUs";
  }
  return "";
}

std::string MethodText(const FleetFindings& fleet) {
  return fmt::format(
      "Own time is what a rank does not spend in communication that nothing hides, so waiting for "
      "others is not in it; of each step, and between the collectives of each group, against the "
      "median of the ranks whose collectives and kernels are of the same kinds and as many. Slow: "
      "{:.0f} % and {:.0f} robust deviations (1.4826 x the median absolute deviation) above it. "
      "Links: the shortest call of each collective, which waits for nobody, against groups of as "
      "many ranks and hosts that move the same; slow: {:.0f} % and {:.0f} deviations. How sure: "
      "the sign test on steps and collectives, times all that were compared (`sure`: chance below "
      "{}, `likely`: below {}); samples of one rank in a row are not independent. {}.",
      analysis::kFleetSlowShare * 100, analysis::kFleetScoreMin, analysis::kFleetSlowTransfer * 100,
      analysis::kFleetScoreMin, kSureChance, kLikelyChance,
      documents::Capitalised(HostsByText(fleet.hosts_by)));
}

void AddItemRows(const std::vector<SlowItem>& items, documents::MarkdownTable* table) {
  for (std::size_t i = 0; i < items.size() && i < kFleetReported; ++i) {
    const SlowItem& item = items[i];
    table->Row({CellOfText(item.what + (item.where.empty() ? "" : ", " + item.where)),
                ShareWords(item.excess), item.because, item.samples, std::string(item.sure)});
  }
  if (items.size() > kFleetReported)
    table->Row({fmt::format("{} more", items.size() - kFleetReported), "", "", "", ""});
}

}  // namespace

bool FindsAny(const FleetFindings& fleet) {
  const auto slow = [](const auto& one) { return one.slow; };
  return std::any_of(fleet.ranks.begin(), fleet.ranks.end(), slow) ||
         std::any_of(fleet.hosts.begin(), fleet.hosts.end(), slow) || !fleet.links.empty();
}

std::string FleetSentence(const FleetView& view) {
  const FleetTeller teller(view);
  if (view.fleet.compared == 0 && view.fleet.groups.empty()) {
    return fmt::format(
        "Which of the {} ranks is slow cannot be told: less than {} of them do the same work.",
        view.fleet.ranks.size(), analysis::kFleetPeersMin);
  }
  std::vector<std::string> texts;
  AppendItems(teller.Hosts(), false, &texts);
  AppendItems(teller.Ranks(), false, &texts);
  AppendItems(teller.Links(), true, &texts);
  if (!texts.empty()) return fmt::format("Slow: {}.", fmt::join(texts, "; "));
  if (view.fleet.compared == 0) return "No link is slow.";
  if (std::string shared = teller.SharedLoss(); !shared.empty()) return shared;
  return fmt::format(
      "No rank, host or link is slow: like ranks lie within {} of each other (robust deviation).",
      teller.Usual());
}

std::string SharedWaitText(const FleetView& view) {
  const CommSums sums = CommSumsOf(view.job);
  return fmt::format("{} of the {} of the job is waiting{}.", PartText(sums.wait, sums.comm),
                     sums.name(),
                     view.fleet.classes.size() > 1
                         ? ", of ranks of different work for each other and not of all for one"
                         : ", which changes hands");
}

Json FleetJson(const FleetView& view) {
  const FleetTeller teller(view);
  Json json = {{"text", FleetSentence(view)}, {"compared_ranks", view.fleet.compared}};
  const auto add = [&](const char* name, const std::vector<SlowItem>& items) {
    if (items.empty()) return;
    json[name] = ItemsJson(items);
    if (items.size() > kFleetShown) json[std::string(name) + "_in_all"] = items.size();
  };
  add("slow_hosts", teller.Hosts());
  add("slow_ranks", teller.Ranks());
  add("slow_links", teller.Links());
  Json steps = Json::array();
  for (const FleetStep* step : teller.OddSteps()) {
    if (steps.size() == kFleetShown) break;
    steps.push_back({{"step", step->number},
                     {"ms", output::Rounded(step->dur_ns / 1e6)},
                     {"longer_percent", output::Rounded(step->excess * 100)}});
  }
  if (!steps.empty()) json["odd_steps"] = std::move(steps);
  if (const auto less = teller.Less(); !less.empty()) json["less"] = less;
  return json;
}

std::string FleetSection(const FleetView& view) {
  const FleetTeller teller(view);
  std::string text =
      "## Which ranks, hosts and links are slow\n\n" + CellOfText(FleetSentence(view)) + "\n\n";
  documents::MarkdownTable table({"what", "takes longer by", "what of it", "in", "how sure"});
  AddItemRows(teller.Hosts(), &table);
  AddItemRows(teller.Ranks(), &table);
  AddItemRows(teller.Links(), &table);
  if (!table.empty()) text += table.text() + "\n";
  for (const FleetStep* step : teller.OddSteps()) {
    text += fmt::format("- step {} took {} longer than the median step on the median of {} ranks\n",
                        step->number, ShareWords(step->excess), step->ranks);
  }
  for (const std::string& less : teller.Less())
    text += fmt::format("- {}.\n", CellOfText(documents::Capitalised(less)));
  return text + fmt::format("- How: {}\n\n", MethodText(view.fleet));
}

}  // namespace jarvis::tools
