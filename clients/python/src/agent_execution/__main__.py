"""`python -m agent_execution types`: writes the input and output types of all published agents."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from .client import Client
from .errors import AgentError
from .typegen import write_module


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser("python -m agent_execution", description="Types of the agents of an organization.")
    command = parser.add_subparsers(required=True).add_parser("types", help=__doc__)
    command.add_argument("--url", help="the address of the service")
    command.add_argument("--token", help="an API token with the scope read; default: $AGENTS_TOKEN")
    command.add_argument("--agents", type=Path, help="a JSON file with the agents, in place of a service")
    command.add_argument("--pydantic", action="store_true", help="write models of pydantic, not TypedDict")
    command.add_argument("--out", type=Path, help="the file to write; default: standard output")
    options = parser.parse_args(arguments)
    try:
        agents = _read(options, command)
        text = write_module(agents, pydantic=options.pydantic)
        if options.out is None:
            # A module is UTF-8, whatever the terminal is.
            sys.stdout.buffer.write(text.encode())
            return 0
        options.out.write_text(text, "utf-8")
    except (AgentError, OSError, ValueError) as error:
        print(f"Cannot write the types: {error}", file=sys.stderr)
        return 1
    count = "1 agent" if len(agents) == 1 else f"{len(agents)} agents"
    print(f"Wrote the types of {count} to {options.out}.")
    return 0


def _read(options: argparse.Namespace, command: argparse.ArgumentParser) -> list[dict[str, Any]]:
    if options.agents is not None:
        return json.loads(options.agents.read_text("utf-8"))  # type: ignore[no-any-return]
    token = options.token or os.environ.get("AGENTS_TOKEN")
    if options.url is None or not token:
        command.error("--url needs an API token: specify both, or set AGENTS_TOKEN. Or specify --agents.")
    with Client(options.url, token) as client:
        # Others cannot be run by their slug.
        return [{**each} for each in client.agents(limit=100) if each["currentVersionId"] is not None]


if __name__ == "__main__":
    sys.exit(main())
