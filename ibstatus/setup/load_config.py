"""What a configuration file comes to, for `ib test-load-config`."""

from ibstatus.errors import IbError
from ibstatus.project import config, settings
from ibstatus.project.rules import settings_text

ROWS = {
    "manager_allow": "permissions.manager.allow",
    "manager_deny": "permissions.manager.deny",
    "worker_allow": "permissions.worker.allow",
    "worker_deny": "permissions.worker.deny",
    "create_prs": "createPullRequests",
    "max_agents": "maxAgents",
    "model": "model",
    "fps": "fps",
    "external_diff_tool": "externalDiffTool",
    "auto_compact_threshold": "autoCompactThreshold",
}


def load_config(path: str) -> str:
    """Ten lines `name: value`; what is unset has nothing after its colon."""
    data = config.content(path)
    if data is None:
        raise IbError(f"There is no file {path}", hint="ib test-load-config .ittybitty.json")
    file = config.File(settings.PROJECT, path, data)
    known = settings.settled([file.layer()], [])
    return "".join(f"{name}: {settings_text.bare(known.value(key))}".rstrip(" ") + "\n" for name, key in ROWS.items())
