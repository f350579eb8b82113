"""Arguments of the `impressmem` command and its exit codes: 0 done, 1 something is wrong with the data, 2 bad use."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from impressmem_integrations.cli import commands, demo, evaluate
from impressmem_integrations.errors import ImpressMemError
from impressmem_integrations.evaluation.longconv import BUDGETS, TRACKS

_URL_HELP = "where the store is (default: $IMPRESSMEM_URL, else embedded)"


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    top = argparse.ArgumentParser(prog="impressmem", description="Look into and keep an assistant's long-term memory.")
    verbs = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def verb(name: str, run: Callable[[argparse.Namespace], int], help_text: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=help_text, description=help_text)
        made.set_defaults(run=run)
        made.add_argument("--json", action="store_true", help="print one JSON document instead of text")
        return made

    def scoped(name: str, run: Callable[[argparse.Namespace], int], help_text: str) -> argparse.ArgumentParser:
        made = verb(name, run, help_text)
        made.add_argument("--url", default=os.environ.get("IMPRESSMEM_URL") or "embedded", help=_URL_HELP)
        made.add_argument(
            "--bot", default=os.environ.get("IMPRESSMEM_BOT") or "assistant", help="the assistant (default: assistant)"
        )
        made.add_argument("--user", help="the user; without it the bot's own shared memory")
        return made

    show = scoped("show", commands.show, "List impressions, newest first, or the scopes of the server.")
    show.add_argument("clue", nargs="?", help="only this one, with its history")
    show.add_argument("--category", help="only this category")
    show.add_argument("--label", help="only this label")
    show.add_argument("--limit", type=int, default=50, help="at most so many (default: 50)")
    show.add_argument("--scopes", action="store_true", help="list whose memories the server holds")

    recall = scoped("recall", commands.recall, "Show what memory holds on a question, a category or labels.")
    recall.add_argument("query", nargs="?", help="a question")
    recall.add_argument("--category", help="a category")
    recall.add_argument("--label", action="append", default=[], help="a label; may be given several times")
    recall.add_argument("--budget", type=int, default=1_000, help="units of text (default: 1000)")
    recall.add_argument("--fill", action="store_true", help="use the budget up with weaker and then the newest items")

    context = scoped("context", commands.context, "Show the memory text that goes into a prompt.")
    context.add_argument("query", nargs="?", help="the current question")
    context.add_argument("--budget", type=int, help="units of text (default: 10000)")

    maintain = scoped("maintain", commands.maintain, "Distil a transcript (JSON Lines of OpenAI-style messages).")
    maintain.add_argument("transcript", help="the file, or - for standard input")
    maintain.add_argument("--thread", help="the thread it belongs to (default: default)")
    _model_arguments(maintain)

    scoped("check", commands.check, "Check that every record and index agree; exit code 1 where they do not.")
    scoped("stats", commands.stats, "Show counts of a scope.")

    play = verb("demo", demo.demo, "Replay a transcript of several sessions and show what is remembered.")
    play.add_argument("transcript", nargs="?", help="your own JSON Lines of messages; the built-in talk without it")
    play.add_argument("--data", help="folder of the embedded server (default: a temporary one)")
    _model_arguments(play)
    measure = verb("eval", evaluate.evaluate, "Measure how much of the evidence for questions recall brings up.")
    measure.add_argument("protocol", choices=["longconv"], help="which protocol")
    measure.add_argument(
        "--path",
        required=True,
        help="folder with conversations, a JSON file each: speakers, sessions, observations, questions with the ids of "
        "their evidence (docs/evaluation.md shows one)",
    )
    measure.add_argument("--url", default="embedded://:memory:", help="where to keep them meanwhile (default: nowhere)")
    measure.add_argument("--tracks", nargs="+", choices=TRACKS, default=list(TRACKS), help="what is kept")
    measure.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS), help="units of each context")
    return top


def _model_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--model",
        help="provider:name of any LangChain chat model, a plain name with --base-url, or local: a small model that is "
        "fetched from the Python index and served here (default: rules)",
    )
    made.add_argument("--base-url", help="an OpenAI-compatible server, e.g. http://127.0.0.1:8091/v1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns its exit code."""
    chosen = parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except ImpressMemError as error:
        print(f"impressmem: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: not an error worth a trace
        return 0
    except KeyboardInterrupt:
        return 130
    return code
