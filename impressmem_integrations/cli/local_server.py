"""The HTTP server of the local model: a program for the model's own Python, which has xllamacpp but not this package.

    python local_server.py MODEL.gguf TEMPLATE.jinja PORT

It listens on 127.0.0.1 and ends on SIGTERM, or when its standard input closes: a parent that dies takes it along.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 8_192


def parameters(engine: Any, model: str, template: str, port: int) -> Any:
    """What the server runs with: one thread and no prompt cache, so that equal requests get equal answers."""
    made = engine.CommonParams()
    made.model.path = model
    made.hostnames, made.port, made.n_threads_http = ["127.0.0.1"], port, 2
    # One slot: requests are answered one after the other.
    made.n_ctx, made.n_parallel = CONTEXT_TOKENS, 1
    # A second thread would spin on the first: any other work on the machine then slows both to a tenth.
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = 1
    made.cache_prompt, made.cache_ram_mib = False, 0
    made.sampling.seed, made.sampling.temp = 42, 0.0
    made.ui, made.fit_params, made.use_jinja = False, False, True
    made.chat_template = template
    return made


def main() -> None:
    """Serve until told to end."""
    import xllamacpp

    model, template, port = sys.argv[1:]
    served = xllamacpp.Server(parameters(xllamacpp, model, Path(template).read_text(encoding="utf-8"), int(port)))
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())

    def watch_parent() -> None:
        # Not through sys.stdin: its lock, held in a thread, would break the interpreter's exit.
        while os.read(0, 1):
            pass
        ended.set()

    threading.Thread(target=watch_parent, daemon=True).start()
    ended.wait()
    del served


if __name__ == "__main__":
    main()
