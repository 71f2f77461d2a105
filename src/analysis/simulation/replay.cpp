#include "analysis/simulation/replay.h"

#include <algorithm>

namespace jarvis::analysis {
namespace {

constexpr double kOpaqueMin = 100;       // a residual beyond this is no noise
constexpr double kUnrecordedMin = 5000;  // nor is this late a start a launch's latency

bool Holds(Assumption assumption, const Assumptions& assumptions) {
  switch (assumption) {
    case Assumption::kNone: return true;
    case Assumption::kHiddenWait: return assumptions.hidden_waits;
    case Assumption::kHiddenCandidate: return assumptions.hidden_candidates;
    case Assumption::kInferredWait: return assumptions.inferred_waits;
    case Assumption::kHandOver: return assumptions.hand_overs;
    case Assumption::kCollectiveEnd: return assumptions.collective_ends;
    case Assumption::kAnchor: break;
  }
  return false;
}

class Fitter {
 public:
  Fitter(const DependencyGraph& graph, const Assumptions& assumptions)
      : graph_(graph), assumptions_(assumptions) {}

  FittedGraph Run() {
    fitted_.constants = graph_.delays;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      if (!Holds(graph_.edges[e].assumption, assumptions_)) fitted_.constants[e] = kNoEdge;
    }
    fitted_.observed.resize(fitted_.constants.size());
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node)
      FitNode(node);
    return std::move(fitted_);
  }

 private:
  double SpanOf(std::uint32_t edge, std::uint32_t node) const {
    return graph_.observed[node] - graph_.observed[graph_.edges[edge].from];
  }

  // A thread that woke without a cause worked on; what has no other edge starts when it did.
  void Complete(std::uint32_t node) {
    bool caused = false;
    std::uint32_t segment = kNoPlace;
    std::uint32_t anchor = kNoPlace;
    for (std::uint32_t e = graph_.EdgesBegin(node); e < graph_.EdgesEnd(node); ++e) {
      if (graph_.edges[e].kind == EdgeKind::kHostSegment) {
        segment = e;
      } else if (graph_.edges[e].assumption == Assumption::kAnchor) {
        anchor = e;
      } else if (fitted_.constants[e] != kNoEdge) {
        caused = true;
      }
    }
    if (caused) return;
    if (graph_.kinds[node] == NodeKind::kWake && segment != kNoPlace) {
      fitted_.constants[segment] = SpanOf(segment, node);
    } else if (segment == kNoPlace && anchor != kNoPlace) {
      fitted_.constants[anchor] = SpanOf(anchor, node);
    }
  }

  void FitNode(std::uint32_t node) {
    Complete(node);
    const std::uint32_t begin = graph_.EdgesBegin(node);
    const std::uint32_t end = graph_.EdgesEnd(node);
    std::uint32_t binding = kNoPlace;
    double ready = 0;
    for (std::uint32_t e = begin; e < end; ++e) {
      if (fitted_.constants[e] == kNoEdge) continue;
      const double at = graph_.observed[graph_.edges[e].from] + fitted_.constants[e];
      if (binding != kNoPlace && at <= ready) continue;
      binding = e;
      ready = at;
    }
    if (binding == kNoPlace) {
      std::fill(fitted_.observed.begin() + begin, fitted_.observed.begin() + end, kNoEdge);
      return;
    }
    double residual = graph_.observed[node] - ready;
    if (residual > kOpaqueMin) {
      MakeOpaque(node, binding, residual);
      residual = 0;
    } else if (residual < -kOpaqueMin) {
      Shorten(node, &fitted_.constants);
      residual = 0;
    }
    for (std::uint32_t e = begin; e < end; ++e)
      fitted_.observed[e] = fitted_.constants[e];
    if (residual > 0) fitted_.observed[binding] += residual;
    if (residual < 0) Shorten(node, &fitted_.observed);
  }

  void Shorten(std::uint32_t node, Delays* delays) const {
    for (std::uint32_t e = graph_.EdgesBegin(node); e < graph_.EdgesEnd(node); ++e)
      (*delays)[e] = std::min((*delays)[e], SpanOf(e, node));
  }

  void MakeOpaque(std::uint32_t node, std::uint32_t binding, double us) {
    if (graph_.edges[binding].kind == EdgeKind::kLaunch && us > kUnrecordedMin) {
      for (std::uint32_t e = graph_.EdgesBegin(node); e < graph_.EdgesEnd(node); ++e) {
        if (graph_.edges[e].assumption != Assumption::kAnchor) continue;
        fitted_.constants[e] = graph_.observed[node];
        fitted_.constants[binding] = kNoEdge;
        fitted_.unrecorded.push_back({node, e, us});
        return;
      }
    }
    fitted_.constants[binding] += us;
    fitted_.opaque.push_back({node, binding, us});
  }

  const DependencyGraph& graph_;
  const Assumptions& assumptions_;
  FittedGraph fitted_;
};

}  // namespace

FittedGraph Fit(const DependencyGraph& graph, const Assumptions& assumptions) {
  return Fitter(graph, assumptions).Run();
}

Delays TieToLaunches(const DependencyGraph& graph, const FittedGraph& fitted) {
  Delays delays = fitted.observed;
  for (const OpaqueDelay& opaque : fitted.opaque) {
    for (std::uint32_t e = graph.EdgesBegin(opaque.node); e < graph.EdgesEnd(opaque.node); ++e) {
      if (graph.edges[e].kind != EdgeKind::kLaunch || delays[e] == kNoEdge) continue;
      delays[e] =
          std::max(delays[e], graph.observed[opaque.node] - graph.observed[graph.edges[e].from]);
      if (e != opaque.edge) delays[opaque.edge] -= opaque.us;
    }
  }
  return delays;
}

double Replay(const DependencyGraph& graph, const Delays& delays, std::vector<double>* times) {
  const std::size_t nodes = graph.nodes();
  times->resize(nodes);
  double* at = times->data();
  const GraphEdge* edges = graph.edges.data();
  double latest = 0;
  if (nodes > 0) at[0] = 0;
  std::uint32_t e = nodes > 0 ? graph.first_edge[1] : 0;
  for (std::size_t node = 1; node < nodes; ++node) {
    const std::uint32_t end = graph.first_edge[node + 1];
    double time = kNoEdge;
    for (; e < end; ++e)
      time = std::max(time, at[edges[e].from] + delays[e]);
    at[node] = time;
    latest = std::max(latest, time);
  }
  return latest;
}

std::uint32_t BindingEdge(const DependencyGraph& graph, const Delays& delays,
                          const std::vector<double>& times, std::uint32_t node) {
  std::uint32_t binding = kNoPlace;
  double ready = 0;
  for (std::uint32_t e = graph.EdgesBegin(node); e < graph.EdgesEnd(node); ++e) {
    const double at = times[graph.edges[e].from] + delays[e];
    if (binding != kNoPlace && at <= ready) continue;
    binding = e;
    ready = at;
  }
  return binding;
}

}  // namespace jarvis::analysis
