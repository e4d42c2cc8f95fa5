"""What a window's title shows before the project's name, in three styles; which tools do work that one can see."""

EMOJI, SAFE, ASCII = "emoji", "safe", "ascii"
STYLES = (EMOJI, SAFE, ASCII)

ASKING = "AskUserQuestion"
# They read, plan and ask: a turn with nothing else has done nothing visible.
QUIET = frozenset(
    (
        "Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "ToolSearch",
        "TodoRead", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput", "BashOutput",
        "ListAgents", "ListMcpResourcesTool", "ReadMcpResourceTool",
        ASKING, "EnterPlanMode", "ExitPlanMode", "ReportFindings",
    )
)  # fmt: skip

KINDS = {
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
    "Bash": "bash",
    "Read": "read", "Grep": "read", "Glob": "read", "NotebookRead": "read", "LS": "read",
    "TodoWrite": "todo", "TodoRead": "todo",
    "TaskCreate": "todo", "TaskUpdate": "todo", "TaskGet": "todo", "TaskList": "todo",
    "WebFetch": "web", "WebSearch": "web",
    "Write": "write",
    "Skill": "agent", "Agent": "agent", "Task": "agent",
    "SlashCommand": "cmd",
    "TaskOutput": "out", "BashOutput": "out",
    ASKING: "ALERT",
}  # fmt: skip
OTHER = "tool"

# By state, and while a tool runs by its kind. `ACTIVE` is a turn without a tool.
EMOJI_GLYPHS = {
    "IDLE": "🤖✅", "COMPLETED": "🤖✅", "WORKING": "🤖⚙️", "BASE": "🤖", "ALERT": "🚨", "ACTIVE": "🤖",
    "edit": "✏️", "bash": "🧪", "read": "🔍", "todo": "⚙️", "web": "🌐", "write": "📝", "agent": "🎯",
    "cmd": "⚡", "out": "📤", "tool": "💎",
}  # fmt: skip
SAFE_GLYPHS = {**EMOJI_GLYPHS, "edit": "🔧", "todo": "📋", "WORKING": "🤖🔄"}
ASCII_GLYPHS = {
    "IDLE": "[ok]", "COMPLETED": "[ok]", "WORKING": "[bg]", "BASE": "[ib]", "ALERT": "[!]", "ACTIVE": "[ib]",
    "edit": "[edit]", "bash": "[bash]", "read": "[read]", "todo": "[todo]", "web": "[web]", "write": "[write]",
    "agent": "[agent]", "cmd": "[cmd]", "out": "[out]", "tool": "[tool]",
}  # fmt: skip
GLYPHS = {EMOJI: EMOJI_GLYPHS, SAFE: SAFE_GLYPHS, ASCII: ASCII_GLYPHS}


def glyph(state: str, tool: str, style: str) -> str:
    """The tool counts while the session is active; an unknown style is emoji, an unknown state the bare robot."""
    glyphs = GLYPHS.get(style, EMOJI_GLYPHS)
    if state.startswith("ACTIVE"):
        return glyphs[KINDS.get(tool, OTHER)] if tool else glyphs["ACTIVE"]
    return glyphs.get(state, glyphs["ACTIVE"])


def is_visible(tool: str) -> bool:
    """Does a call of it count as work? What is unknown does."""
    return tool != "" and tool not in QUIET
