"""harbour: serve | jobs run | jobs once NAME | doctor | plan FILE | parked [--retry ID]"""

import argparse
import sys

from harbour.config import logs
from harbour.config.settings import load
from harbour.errors import HarbourError

EXIT_USAGE = 2
EXIT_TROUBLE = 3


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="harbour")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="start the API")
    jobs = commands.add_parser("jobs", help="background jobs")
    jobs.add_argument("what", choices=["run", "once"])
    jobs.add_argument("name", nargs="?")
    commands.add_parser("doctor", help="check settings, database and tides")
    plan = commands.add_parser("plan", help="try the planner on a file of requests")
    plan.add_argument("file")
    parked = commands.add_parser("parked", help="list parked events, or try one again")
    parked.add_argument("--retry", type=int, metavar="ID")
    return top


def main(argv: list[str] | None = None) -> int:
    options = parser().parse_args(argv)
    logs.setup()
    try:
        settings = load()
        if options.command == "doctor":
            from harbour.cli import doctor

            return doctor.run(settings)
        if options.command == "plan":
            from harbour.cli import plan

            return plan.run(options.file, settings)
        if options.command == "parked":
            from harbour.cli import parked

            return parked.run(settings, options.retry)
        if options.command == "jobs" and options.what == "once" and not options.name:
            print("say which job, for example: harbour jobs once fetch-tides", file=sys.stderr)
            return EXIT_USAGE
        from harbour.cli import serve

        return serve.run(options, settings)
    except HarbourError as error:
        print(error, file=sys.stderr)
        return EXIT_TROUBLE


if __name__ == "__main__":
    sys.exit(main())
