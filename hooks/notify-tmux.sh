#!/bin/sh
# For a settings file that you write yourself: any event of Claude Code → sh /path/to/hooks/notify-tmux.sh, and the
# name of the tmux window follows the session. Where `ib hooks install` has put its own entries, those do it alone. It
# reads all of stdin, prints nothing and exits 0, whatever happens.

{
	if [ -n "$TMUX_PANE" ]; then
		self=$0
		[ -L "$self" ] && self=$(readlink -f "$self")
		here=${self%/*}
		if [ "$here" != "$self" ] && [ -r "$here/run" ]; then
			sh "$here/run" notify-tmux
		else # only this file was copied; and a `run` of the folder that the session stands in is none of ours
			ib hooks notify-tmux
		fi
	fi
	cat
} >/dev/null 2>&1
exit 0
