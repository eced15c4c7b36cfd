import calendar

print(calendar.mine, calendar.__file__)
import queue

print(queue.mine)
# --- file: calendar.py
mine = "own calendar"
# --- file: queue.py
mine = "own queue"
