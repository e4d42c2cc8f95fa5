"""A stand-in for Claude Code: its screens, its hooks and its transcript, played from a script.

What the model does stands in the file that FAKE_CLAUDE_SCRIPT names, else in those lines of a prompt that begin with
`> `. One step a line; the steps after an end of turn go on with the next prompt; without a script: work, say, wait.

  say TEXT               a text              run COMMAND        a Bash call: hooks, permission, really run
  work SECONDS           thinks              write FILE TEXT    a Write call (\\n in TEXT is a new line)
  commit MESSAGE         git add and commit  ask QUESTION [| ANSWER | ANSWER]
  plan [TEXT]            asks to leave plan mode
  wait [TEXT]            ends the turn: WAITING
  finish [TEXT]          ends the turn: I HAVE COMPLETED THE GOAL
  end [TEXT]             ends the turn without such a phrase
  error WORD             ends it with an API error: server_error, authentication_failed, billing_error, invalid_request
  limit rate|usage|wait [TIME]  ends it at a limit: refused (429), a menu, "continuing automatically"
  dialog trust|trust-a|bypass|permission [COMMAND]|question; trust and bypass come before SessionStart when first
  screen NAME [SECONDS]  shows a recorded screen, such as 2.1.326/69
  compact [manual] [short|error]  compacts the conversation; short: there is too little to compact, and PreCompact is
                         the only hook; error: the API fails, PreCompact and then StopFailure. Where the next step is
                         a compaction, `/compact` at the prompt line plays it
  crash [SIGNAL|CODE]    is gone, without SessionEnd                      hang       until somebody presses Esc
  retry SECONDS [WORDS]  the API fails and is tried again: no hook tells of it
  orders FILE            steps that somebody adds to the file meanwhile; `hold [WORDS]` among them waits for the next,
                         trying the API again with these words

FAKE_CLAUDE_HOOKS="repeat=0.1,swap=0.05,drop=0.02,seed=7": so often a hook comes twice, after the next event, never;
not the ones that decide over a tool or tell the model something.

Besides the client's own options:  --heard TRANSCRIPT  prints what the model was shown, one JSON object a line.
"""
