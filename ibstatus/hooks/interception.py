"""Which Task becomes an agent of ib, and by which command line. Everything else stays the client's own."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOLS = ("Agent", "Task")
# Helpers of the client itself, and those that exist to look at agents of ib.
LEFT_ALONE = ("Bash", "statusline-setup", "claude-code-guide", "meta-agent", "ib-merge")
MODELS = ("sonnet", "opus", "haiku")
HANDED_OVER = (
    "ib has taken this over: agent {id} works on it in a git worktree of its own. Do not do it yourself and do not ask "
    'for it again. Its news reaches you by itself; ib list shows its state, ib send {id} "…" speaks to it'
)


def prompt_of(tool: str, tool_input: object) -> str:
    """What the agent is to do; '' when this call is left alone."""
    if tool not in TOOLS or not isinstance(tool_input, dict) or tool_input.get("subagent_type") in LEFT_ALONE:
        return ""
    texts = (tool_input.get(key) for key in ("prompt", "description"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def words(prompt_file: str, caller: str, tool_input: "dict[str, Any]") -> list[str]:
    """`caller`: the managing agent, '' for the primary. What a manager spawns is its worker."""
    below = ["--worker", "--manager", caller] if caller else []
    model = tool_input.get("model")
    return ["new-agent", "--prompt-file", prompt_file, *below, *(["--model", model] if model in MODELS else [])]
