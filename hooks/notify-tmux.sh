#!/bin/sh
# For a settings file that you write yourself: any event of Claude Code → sh /path/to/hooks/notify-tmux.sh, and the
# name of the tmux window follows the session. Where `ib hooks install` has put its own entries, those do it alone. It
# reads all of stdin, prints nothing and exits 0, whatever happens.

{
	if [ -n "$TMUX_PANE" ]; then
		self=$0
		[ -L "$self" ] && self=$(readlink -f "$self")
		here=${self%/*}
		case ${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME ;; *) state=${HOME-}/.local/state ;; esac
		if [ "$here" != "$self" ] && [ -r "$here/run" ] && [ -f "$state/ib/program" ]; then
			sh "$here/run" notify-tmux
		else # only this file was copied, or no ib was ever set up; a `run` where the session stands is none of ours
			ib hooks notify-tmux
		fi
	fi
	cat
} >/dev/null 2>&1
exit 0
