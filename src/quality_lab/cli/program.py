"""The program and its verbs. A verb is one row here and one module beside this one, read when it is used."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import click


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of the command line."""

    name: str
    target: str  # module:attribute
    summary: str  # its line in `quality-lab --help`, which reads no module of a verb
    group: str


IN, ASK, TAKE, CHECK = "Bring data in", "Ask", "Take away and show", "Look after the lab"
SAY, TRY = "Say", "Try cases"

VERBS = (
    Verb("load", "quality_lab.cli.load:load", "Read files into the lab and say what was not understood.", IN),
    Verb("rejects", "quality_lab.cli.rejects:rejects", "List the lines that could not be read, and why.", IN),
    Verb("pull", "quality_lab.cli.pull:pull", "Fetch what the upstream Quality API holds.", IN),
    Verb("formats", "quality_lab.cli.formats:formats", "List what can be read and how it is recognised.", IN),
    Verb("sources", "quality_lab.cli.sources:sources", "List the files behind the lab.", IN),
    Verb(
        "summary",
        "quality_lab.cli.summary:summary",
        "Show the totals and the first rows of each question.",
        ASK,
    ),
    Verb(
        "failing-tools",
        "quality_lab.cli.failing_tools:failing_tools",
        "Rank tools by how often they fail, and how sure that is.",
        ASK,
    ),
    Verb("labels", "quality_lab.cli.labels:labels", "Count what reviewers said.", ASK),
    Verb(
        "proposals",
        "quality_lab.cli.proposals:proposals",
        "Group what reviewers complained of into proposals.",
        ASK,
    ),
    Verb("calls", "quality_lab.cli.calls:calls", "List single calls.", ASK),
    Verb(
        "conversation",
        "quality_lab.cli.conversation:conversation",
        "Tell one conversation from start to end.",
        ASK,
    ),
    Verb("coverage", "quality_lab.cli.coverage:coverage", "Show where reviewers have not looked.", ASK),
    Verb(
        "agreement", "quality_lab.cli.agreement:agreement", "Show how far reviewers agree beyond chance.", ASK
    ),
    Verb(
        "disputes", "quality_lab.cli.agreement:disputes", "List the calls on which reviewers disagree.", ASK
    ),
    Verb(
        "confusion",
        "quality_lab.cli.agreement:confusion",
        "Show which tool was called in place of which.",
        ASK,
    ),
    Verb(
        "sequences",
        "quality_lab.cli.sequences:sequences",
        "Show calls that repeat, retry unchanged or go in circles.",
        ASK,
    ),
    Verb("themes", "quality_lab.cli.themes:themes", "Group what reviewers wrote by theme.", ASK),
    Verb("trend", "quality_lab.cli.trend:trend", "Show calls, errors and reviews by day or week.", ASK),
    Verb("latency", "quality_lab.cli.latency:latency", "Show how long calls took.", ASK),
    Verb("guards", "quality_lab.cli.guards:guards", "Count what guards stopped.", ASK),
    Verb(
        "definitions",
        "quality_lab.cli.definitions:definitions",
        "Show how tools were offered and what changed.",
        ASK,
    ),
    Verb("export", "quality_lab.cli.export:export", "Write calls, feedback or whole tables to files.", TAKE),
    Verb("report", "quality_lab.cli.report:report", "Make a report, and show, list or open reports.", TAKE),
    Verb(
        "notebook",
        "quality_lab.cli.notebook:notebook",
        "Open JupyterLab on the notebooks of this home.",
        TAKE,
    ),
    Verb(
        "queue", "quality_lab.cli.queue:queue", "Draw calls to review, and weigh what the reviews say.", SAY
    ),
    Verb("label", "quality_lab.cli.label:label", "Label a call.", SAY),
    Verb("adjudicate", "quality_lab.cli.label:adjudicate", "Settle what a call is.", SAY),
    Verb("undo", "quality_lab.cli.label:undo", "Take back a line of the journal.", SAY),
    Verb("push", "quality_lab.cli.push:push", "Send labels and decisions to the upstream Quality API.", SAY),
    Verb(
        "coach", "quality_lab.cli.coach:coach", "Show what a style can be coached on; draft edits of it.", SAY
    ),
    Verb(
        "cases",
        "quality_lab.cli.cases:cases",
        "Freeze calls into regression cases; list, change and check them.",
        TRY,
    ),
    Verb(
        "regressions",
        "quality_lab.cli.regressions:regressions",
        "Check regression cases as the upstream runner does.",
        TRY,
    ),
    Verb("tools", "quality_lab.cli.tools:tools", "List tools, show one, check a file of them.", TRY),
    Verb(
        "lint-tools",
        "quality_lab.cli.lint_tools:lint_tools",
        "Say what definitions of tools leave a model to guess.",
        TRY,
    ),
    Verb(
        "forget",
        "quality_lab.cli.forget:forget",
        "Take a person's content out, and say what remains in files.",
        CHECK,
    ),
    Verb(
        "doctor",
        "quality_lab.cli.doctor:doctor",
        "Say what is installed, what is missing and how to get it.",
        CHECK,
    ),
)


class Program(click.Group):
    """A group whose commands are looked up in `VERBS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which people meet them."""
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a verb, reading its module now; None for an unknown verb."""
        for verb in VERBS:
            if verb.name == cmd_name:
                module, _, attribute = verb.target.partition(":")
                command = getattr(import_module(module), attribute)
                assert isinstance(command, click.Command)  # the table above is ours
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that *args* name; an unknown one is answered with the nearest."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.list_commands(ctx), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs in their groups, without reading their modules."""
        for group in dict.fromkeys(verb.group for verb in VERBS):
            with formatter.section(group):
                formatter.write_dl([(verb.name, verb.summary) for verb in VERBS if verb.group == group])


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--home",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where data/ and reports/ lie. Default: QUALITY_LAB_HOME, else the nearest folder at or above this "
    "one that has a data/.",
)
@click.version_option(package_name="quality-lab", message="%(prog)s %(version)s")
def program(home: str | None) -> None:
    """Find out what an agent's tool calls get wrong, how sure that is, and whether a change held.

    \b
    Start:
      quality-lab load exports/            read exported traces and labels
      quality-lab failing-tools            ask
      quality-lab report quality           one page to show

    \b
    Completion:
      eval "$(_QUALITY_LAB_COMPLETE=bash_source quality-lab)"     (zsh_source, fish_source)

    Exit codes: 0 fine, 1 not fine or nothing to judge, 2 wrong usage, 3 input, database or output cannot be
    used, 4 a service failed, 130 interrupted, 141 the reader of standard output left.
    """
