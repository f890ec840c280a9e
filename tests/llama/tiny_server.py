"""A llama.cpp server over a tiny random model, in a process of its own.

python tiny_server.py FOLDER   # writes the model there, prints its address, ends when its input closes
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import xllamacpp
from tiny_model import CONTEXT, write_model

SLOTS = 4


def serve(folder: Path) -> xllamacpp.Server:
    """Start the server; it listens when this returns."""
    model = folder / "tiny.gguf"
    write_model(model)
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = CONTEXT
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 128  # each open connection holds one
    params.warmup = False
    params.cache_ram_mib = 0
    params.cache_prompt = False
    params.fit_params = False
    params.ui = False
    params.use_jinja = True
    params.model_alias = {"tiny"}
    params.verbosity = 0
    return xllamacpp.Server(params)


def main() -> None:
    """Serve until standard input closes."""
    server = serve(Path(sys.argv[1]))
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
