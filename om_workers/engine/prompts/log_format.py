"""The form of the log, which the Observer writes and the Reflector keeps."""

from __future__ import annotations

PRIORITIES = """\
🔴 high: what the user states about themselves and their world, wishes, decisions, limits, deadlines, unsolved trouble
🟡 medium: project details, tool results, what was learned, preferences of the moment
🟢 low: minor or uncertain details
✅ done: a task, question or step that is finished, so that nobody does it again"""

LINES = """\
* A line `Date: Mon D, YYYY` (`Date: Jun 1, 2026`) before the first observation of each day.
* Under it one bullet per observation: `* `, priority, time in 24 hours, text, sources. Example of the shape only:
  `* 🟡 (HH:MM) what happened (meaning Mon D, YYYY) [12]`
* Details of an observation are bullets indented by two spaces: `  * detail [13]`.
* Sources are the numbers of the messages it rests on, last on the line after a space: `[12]`, `[12-14]`, `[3, 7-9]`."""

ANSWER = """\
<observations>
the lines of the log
</observations>
<current-task>
one or two lines: what the assistant is working on now, and what it waits for
</current-task>
<suggested-response>
one or two lines: what the assistant should say or do next
</suggested-response>"""
