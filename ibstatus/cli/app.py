"""The command group, and every way out of a command."""

import os
from typing import Any

import click

import ibstatus
from ibstatus.cli import arguments, output
from ibstatus.cli.lazy import Lazy
from ibstatus.errors import IbError, refused
from ibstatus.guard import ib_access

# name → (module:command, the heading in `ib --help`)
AGENTS, TALK, BOARD, SETUP, HISTORY, PROOF = "Agents", "Talk", "Board", "Set up", "History", "Proof"
COMMANDS: dict[str, tuple[str, str]] = {
    "new-agent": ("ibstatus.cli.agents:new_agent", AGENTS),
    "list": ("ibstatus.cli.state:list_agents", AGENTS),
    "tree": ("ibstatus.cli.state:tree", AGENTS),
    "status": ("ibstatus.cli.state:status", AGENTS),
    "look": ("ibstatus.cli.sessions:look", AGENTS),
    "attach": ("ibstatus.cli.sessions:attach", AGENTS),
    "wait": ("ibstatus.cli.sessions:wait", AGENTS),
    "info": ("ibstatus.cli.sessions:info", AGENTS),
    "why": ("ibstatus.cli.state:why", AGENTS),
    "diff": ("ibstatus.cli.state:diff", AGENTS),
    "pause": ("ibstatus.cli.agents:pause", AGENTS),
    "resume": ("ibstatus.cli.agents:resume", AGENTS),
    "reassign": ("ibstatus.cli.agents:reassign", AGENTS),
    "merge": ("ibstatus.cli.merge:merge", AGENTS),
    "merge-check": ("ibstatus.cli.merge:merge_check", AGENTS),
    "kill": ("ibstatus.cli.remove:kill", AGENTS),
    "nuke": ("ibstatus.cli.remove:nuke", AGENTS),
    "undo": ("ibstatus.cli.remove:undo", AGENTS),
    "gc": ("ibstatus.cli.remove:gc", AGENTS),
    "attend": ("ibstatus.cli.agents:attend", AGENTS),
    "session-ended": ("ibstatus.cli.agents:session_ended", AGENTS),
    "status-watchdog": ("ibstatus.cli.setup:status_watchdog", AGENTS),
    "send": ("ibstatus.cli.mail:send", TALK),
    "ask": ("ibstatus.cli.mail:ask", TALK),
    "questions": ("ibstatus.cli.mail:list_questions", TALK),
    "messages": ("ibstatus.cli.mail:list_messages", TALK),
    "answer": ("ibstatus.cli.mail:answer", TALK),
    "acknowledge": ("ibstatus.cli.mail:acknowledge", TALK),
    "notify": ("ibstatus.cli.mail:notify", TALK),
    "listen": ("ibstatus.cli.listen:listen", TALK),
    "wake": ("ibstatus.cli.listen:wake", TALK),
    "board": ("ibstatus.cli.board.group:board", BOARD),
    "log": ("ibstatus.cli.mail:log", HISTORY),
    "events": ("ibstatus.cli.listen:events", HISTORY),
    "trace": ("ibstatus.cli.listen:trace", HISTORY),
    "init": ("ibstatus.cli.setup:init", SETUP),
    "uninstall": ("ibstatus.cli.setup:uninstall", SETUP),
    "doctor": ("ibstatus.cli.setup:doctor", SETUP),
    "hooks": ("ibstatus.cli.hooks:hooks", SETUP),
    "config": ("ibstatus.cli.config:config", SETUP),
    "titles": ("ibstatus.cli.titles:titles", SETUP),
    "completion": ("ibstatus.cli.setup:completion", SETUP),
    "demo": ("ibstatus.cli.rehearse:demo", SETUP),
    "sim": ("ibstatus.cli.rehearse:sim", SETUP),
    "parse-state": ("ibstatus.cli.fixtures:parse_state", PROOF),
    "test-build-settings": ("ibstatus.cli.fixtures:build_settings", PROOF),
    "test-detect-state-message": ("ibstatus.cli.fixtures:turn_end", PROOF),
    "test-enforce-access": ("ibstatus.cli.fixtures:enforce_access", PROOF),
    "test-format-age": ("ibstatus.cli.fixtures:format_age", PROOF),
    "test-inject-status-filter": ("ibstatus.cli.fixtures:inject_status_filter", PROOF),
    "test-load-config": ("ibstatus.cli.fixtures:load_config", PROOF),
    "test-log-format": ("ibstatus.cli.fixtures:log_format", PROOF),
    "test-reassign": ("ibstatus.cli.fixtures:reassign", PROOF),
    "test-relationships": ("ibstatus.cli.fixtures:relationships", PROOF),
    "test-resolve-id": ("ibstatus.cli.fixtures:resolve_id", PROOF),
    "test-notify-drain": ("ibstatus.cli.fixtures:notify_drain", PROOF),
    "test-notify-format": ("ibstatus.cli.fixtures:notify_format", PROOF),
    "test-main-path": ("ibstatus.cli.fixtures:main_path", PROOF),
    "test-pretooluse": ("ibstatus.cli.fixtures:pretooluse", PROOF),
    "test-session-start": ("ibstatus.cli.fixtures:session_start", PROOF),
    "test-tool-allowed": ("ibstatus.cli.fixtures:tool_allowed", PROOF),
    "test-tool-match": ("ibstatus.cli.fixtures:tool_match", PROOF),
}
ALIASES = {"ack": "acknowledge", "ls": "list", "new": "new-agent"}


class Everything(Lazy):
    table, aliases = COMMANDS, ALIASES
    headings, words = (AGENTS, TALK, BOARD, HISTORY, SETUP, PROOF), "ib"
    folded = "test-", "What the real functions make of the fixture in a file"

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is not None and not arguments.is_person():
            ib_access.check(args)
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
