"""The board: tasks, claims, events and the merge queue. One port, two stores."""
