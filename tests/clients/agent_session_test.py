#!/usr/bin/env python3
"""A whole analysis as an agent does it: this script knows the server by its skill alone. It takes
the steps of skills/standalone-analysis in their order, decides by what the answers say, and counts
what an agent would have paid.

    agent_session_test.py      program: $JARVIS_BINARY
    UPDATE_GOLDEN=1            writes examples/sessions/standalone_analysis.md anew
"""

import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
sys.path.insert(0, str(HERE.parent / "evaluator"))
import evaluator  # noqa: E402
import program  # noqa: E402

SKILL = program.SOURCE / "skills/standalone-analysis/SKILL.md"
TRANSCRIPT = program.SOURCE / "examples/sessions/standalone_analysis.md"
BYTES_PER_TOKEN = 3.5
CALLS_MAX = 20
TOKENS_MAX = 10_000


def skill_steps():
    """Step number -> the tools that it names, in order."""
    body = SKILL.read_text(encoding="utf-8").split("## Steps", 1)[1].split("\n## ", 1)[0]
    steps = {}
    for number, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", body, re.M | re.S):
        named = re.findall(r"`(\w+)` with", text)
        steps[int(number)] = list(dict.fromkeys(named))
    return steps


class Agent:
    """Calls tools, remembers what came back."""

    def __init__(self, session, out):
        self.session, self.out = session, out
        self.calls = []  # (step, tool, arguments, text)

    def call(self, step, tool, **arguments):
        reply = self.session.ask("tools/call", {"name": tool, "arguments": arguments})
        text = reply["content"][0]["text"]
        assert not reply.get("isError"), (tool, arguments, text)
        self.calls.append((step, tool, arguments, self.placeless(text)))
        return reply["structuredContent"]

    def placeless(self, text):
        """The same wherever the test runs, to the last byte counted."""
        return text.replace(str(self.out), "OUT").replace(str(program.EXAMPLE),
                                                          "transformer_step.json.gz")

    @property
    def tokens(self):
        return sum(math.ceil(len(text.encode()) / BYTES_PER_TOKEN) for *_, text in self.calls)

    def transcript(self):
        lines = ["# A standalone analysis, call by call", "",
                 "Recorded by tests/clients/agent_session_test.py, which follows",
                 "skills/standalone-analysis. What the agent read:", "",
                 f"{len(self.calls)} calls, about {self.tokens} tokens of answers.", ""]
        for number, (step, tool, arguments, text) in enumerate(self.calls, 1):
            shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            lines += [f"## {number}. {tool} (step {step})", "", f"`{tool}({shown})`", "", "```",
                      text, "```", ""]
        return self.placeless("\n".join(lines))


def rows(answer):
    return [dict(zip(answer["columns"], row)) for row in answer["rows"]]


def analyse(agent):
    """The steps of the skill."""
    loaded = agent.call(1, "load_trace", trace=str(program.EXAMPLE))
    trace, out = loaded["trace"], str(agent.out)
    timeline = {row["part"]: row["percent"] for row in rows(agent.call(2, "gpu_timeline",
                                                                       trace=trace))}
    found = rows(agent.call(3, "prioritize", trace=trace))
    if (timeline.get("idle") or 0) > 15:
        agent.call(4, "category_analysis", trace=trace, category="idle")
    agent.call(4, "category_analysis", trace=trace, category=found[0]["category"])
    places = [name for finding in found for name in (finding["rows"] or "").split()[:1]]
    for name in list(dict.fromkeys(places))[:3]:
        agent.call(5, "parent_chain", trace=trace, row=name)
    agent.call(6, "what_if", trace=trace, changes=[finding["finding"] for finding in found[:2]])
    replay = [name for finding in found if (finding["efficiency"] or 100) < 30
              and (finding["percent"] or 0) > 10 for name in (finding["rows"] or "").split()]
    if replay:
        agent.call(7, "make_replay", trace=trace, rows=replay[:3], output_dir=out)
    agent.call(8, "category_filter", trace=trace, output_dir=out)
    report = agent.call(8, "render_report", trace=trace, output_dir=out)
    for finding in rows(report)[:2]:
        agent.call(9, "write_findings", trace=trace, output_dir=out, finding=finding["finding"],
                   action="Ask the owner of the module first: both ways out change what they wrote.")
    return agent.call(10, "validate", trace=trace, output_dir=out)


class AgentSession(unittest.TestCase):
    maxDiff = None

    def test_an_agent_that_follows_the_skill(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            with program.Session(program.ANYTHING) as session:
                prompt = session.ask("prompts/get", {"name": "standalone_analysis", "arguments": {
                    "trace": str(program.EXAMPLE)}})
                self.assertIn("## Steps", prompt["messages"][0]["content"]["text"])
                agent = Agent(session, out)
                verdict = analyse(agent)
            self.assertEqual((verdict["valid"], verdict["rows"]), (True, []))
            self.assertLessEqual(len(agent.calls), CALLS_MAX)
            self.assertLessEqual(agent.tokens, TOKENS_MAX)
            self.follows_the_skill(agent)
            self.notes_are_true(agent, out)
            score = evaluator.evaluate(out)
            self.assertGreaterEqual(score.total, 95, score.lost)
            self.compare(agent.transcript())
            print(f"{len(agent.calls)} calls, {agent.tokens} tokens")

    def follows_the_skill(self, agent):
        steps = skill_steps()
        self.assertEqual([step for step, *_ in agent.calls],
                         sorted(step for step, *_ in agent.calls))
        for step, tool, *_ in agent.calls:
            self.assertIn(tool, steps[step])

    def notes_are_true(self, agent, out):
        """The working notes tell of every call before they were written last."""
        rough = (out / "standalone_analysis_rough.md").read_text(encoding="utf-8")
        told = re.findall(r"^### Step \d+: (\w+)$", rough, re.M)
        made = [tool for _, tool, *_ in agent.calls]
        last = len(made) - 1 - made[::-1].index("write_findings")
        self.assertEqual(told, made[:last])

    def compare(self, transcript):
        if os.environ.get("UPDATE_GOLDEN"):
            TRANSCRIPT.write_text(transcript, encoding="utf-8")
        self.assertEqual(TRANSCRIPT.read_text(encoding="utf-8"), transcript,
                         "UPDATE_GOLDEN=1 accepts what an agent would read now")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
