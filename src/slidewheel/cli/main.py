"""Where the command `slidewheel` begins: it only looks whether what the commands need is installed."""

import sys

NEEDED = ("typer", "rich")


def main() -> None:
    """Run the command that the arguments name."""
    try:
        from slidewheel.cli.commands import app
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in NEEDED:
            raise
        print(f"The command slidewheel needs the package {package}: pip install 'slidewheel[cli]'", file=sys.stderr)
        sys.exit(2)
    app()
