"""The command group, and every way out of a command."""

import os
from typing import Any

import click

import ibstatus
from ibstatus.cli import calling, output
from ibstatus.cli.lazy import Lazy
from ibstatus.errors import IbError, refused
from ibstatus.ops import access

# name → (module, its command, the heading in `ib --help`)
AGENTS, TALK, BOARD, SETUP, HISTORY, PROOF = "Agents", "Talk", "Board", "Set up", "History", "Proof"
COMMANDS: dict[str, tuple[str, str, str]] = {
    "new-agent": ("agents", "new_agent", AGENTS),
    "list": ("fleet", "list_agents", AGENTS),
    "tree": ("fleet", "tree", AGENTS),
    "status": ("fleet", "status", AGENTS),
    "look": ("looking", "look", AGENTS),
    "attach": ("looking", "attach", AGENTS),
    "wait": ("looking", "wait", AGENTS),
    "info": ("looking", "info", AGENTS),
    "why": ("why", "why", AGENTS),
    "diff": ("work", "diff", AGENTS),
    "pause": ("agents", "pause", AGENTS),
    "resume": ("agents", "resume", AGENTS),
    "reassign": ("agents", "reassign", AGENTS),
    "merge": ("merging", "merge", AGENTS),
    "merge-check": ("merging", "merge_check", AGENTS),
    "kill": ("removing", "kill", AGENTS),
    "nuke": ("removing", "nuke", AGENTS),
    "undo": ("removing", "undo", AGENTS),
    "gc": ("removing", "gc", AGENTS),
    "attend": ("agents", "attend", AGENTS),
    "session-ended": ("agents", "session_ended", AGENTS),
    "status-watchdog": ("supervise", "status_watchdog", AGENTS),
    "send": ("say", "send", TALK),
    "ask": ("talk", "ask", TALK),
    "questions": ("talk", "list_questions", TALK),
    "messages": ("talk", "list_messages", TALK),
    "answer": ("talk", "answer", TALK),
    "acknowledge": ("say", "acknowledge", TALK),
    "notify": ("say", "notify", TALK),
    "listen": ("listen", "listen", TALK),
    "wake": ("wake", "wake", TALK),
    "board": ("board", "board", BOARD),
    "log": ("say", "log", HISTORY),
    "events": ("history", "events", HISTORY),
    "trace": ("history", "trace", HISTORY),
    "init": ("setup", "init", SETUP),
    "uninstall": ("setup", "uninstall", SETUP),
    "doctor": ("setup", "doctor", SETUP),
    "hooks": ("hooks", "hooks", SETUP),
    "config": ("config", "config", SETUP),
    "titles": ("titles", "titles", SETUP),
    "completion": ("setup", "completion", SETUP),
    "demo": ("demo", "demo", SETUP),
    "sim": ("sim", "sim", SETUP),
    "parse-state": ("proof_screens", "parse_state", PROOF),
    "test-build-settings": ("proof_settings", "build_settings", PROOF),
    "test-detect-state-message": ("proof_settings", "turn_end", PROOF),
    "test-enforce-access": ("proof_settings", "enforce_access", PROOF),
    "test-format-age": ("proof", "format_age", PROOF),
    "test-inject-status-filter": ("proof_settings", "inject_status_filter", PROOF),
    "test-load-config": ("proof", "load_config", PROOF),
    "test-log-format": ("proof", "log_format", PROOF),
    "test-reassign": ("proof_fleet", "reassign", PROOF),
    "test-relationships": ("proof_fleet", "relationships", PROOF),
    "test-resolve-id": ("proof_fleet", "resolve_id", PROOF),
    "test-notify-drain": ("proof", "notify_drain", PROOF),
    "test-notify-format": ("proof", "notify_format", PROOF),
    "test-main-path": ("proof_permissions", "main_path", PROOF),
    "test-pretooluse": ("proof_permissions", "pretooluse", PROOF),
    "test-session-start": ("proof_settings", "session_start", PROOF),
    "test-tool-allowed": ("proof_permissions", "tool_allowed", PROOF),
    "test-tool-match": ("proof_permissions", "tool_match", PROOF),
}
ALIASES = {"ack": "acknowledge", "ls": "list", "new": "new-agent"}


class Everything(Lazy):
    table, aliases = COMMANDS, ALIASES
    headings, words = (AGENTS, TALK, BOARD, HISTORY, SETUP, PROOF), "ib"
    folded = "test-", "What the real functions make of the fixture in a file"

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is not None and not calling.is_person():
            access.check(args)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # before click makes an exit 1 of it
            output.hush()
            return 0


@click.command(cls=Everything, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(ibstatus.__version__, message="ib %(version)s")
def ib() -> None:
    """Your Claude always knows what its agents are doing, is woken when it must act, and nothing is lost."""


def main(argv: list[str]) -> int:
    """Run one command; every way out has its code here: 0 done, 1 expected failure, 2 usage, 3 our bug, 130 Ctrl-C."""
    output.prepare()
    try:
        result = ib.main(argv, prog_name="ib", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return 0
    except click.UsageError as error:
        return output.fail(output.usage(error))
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except IbError as error:
        return 0 if "_IB_COMPLETE" in os.environ else output.fail(error)
    except OSError as error:
        return output.fail(refused(f"finish ib {argv[0] if argv else ''}".rstrip(), error))
    except SystemExit:  # how click ends when nobody reads its help any more
        output.hush()
        return 0
    except Exception:
        return 0 if "_IB_COMPLETE" in os.environ else output.crashed(argv)
    return result if isinstance(result, int) else 0
