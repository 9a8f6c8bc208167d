"""Reads [{ "timezone", "year", "rules" }], and writes for each [{ "first", "last", "offsets", "times": one list per rule }],
a window around each change of the time zone's offset in that year, or around its July 1 if there is none. All times are
in minutes since the epoch, offsets in minutes. A rule fires in a minute whose local time it matches. If that local time
exists twice, a rule without "*" or "/" in its minute and hour fires the first time only."""

import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

AROUND = 14 * 60
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
DAYS = "SUN MON TUE WED THU FRI SAT".split()
RANGES = [(0, 59, []), (0, 23, []), (1, 31, []), (1, 12, MONTHS), (0, 7, DAYS)]
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def local_time(minute, zone):
    return (EPOCH + timedelta(minutes=minute)).astimezone(zone)


def offset(minute, zone):
    return int(local_time(minute, zone).utcoffset().total_seconds() // 60)


def find_changes(zone, year):
    start = int((datetime(year, 1, 1, tzinfo=timezone.utc) - EPOCH).total_seconds() // 60)
    for day in range(start, start + 366 * 1440, 1440):
        low, high = day, day + 1440
        if offset(low, zone) == offset(high, zone):
            continue
        before = offset(low, zone)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle, zone) == before else (low, middle)
        yield high


def value(text, names, low):
    return names.index(text.upper()) + low if text.upper() in names else int(text)


def parse(field, low, high, names):
    values = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        end = 7 if last.upper() == "SUN" else value(last or first, names, low)
        values.update(range(value(first, names, low), end + 1, int(step or 1)))
    return values


def compile_rule(rule):
    fields = NICKNAMES.get(rule, rule).split()
    minutes, hours, days, months, weekdays = (parse(f, *r) for f, r in zip(fields, RANGES))
    follows_elapsed_time = any(sign in fields[0] + fields[1] for sign in "*/")
    is_either = fields[2] != "*" and fields[4] != "*"

    def matches(t):
        if t.minute not in minutes or t.hour not in hours or t.month not in months:
            return False
        if t.fold and not follows_elapsed_time:
            return False
        weekday = t.isoweekday()
        is_day = t.day in days
        is_weekday = weekday in weekdays or (weekday == 7 and 0 in weekdays)
        return (is_day or is_weekday) if is_either else (is_day and is_weekday)

    return matches


def enumerate_windows(case):
    zone = ZoneInfo(case["timezone"])
    year = case["year"]
    middle = int((datetime(year, 7, 1, tzinfo=timezone.utc) - EPOCH).total_seconds() // 60)
    rules = [compile_rule(rule) for rule in case["rules"]]
    for change in list(find_changes(zone, year)) or [middle]:
        minutes = range(change - AROUND, change + AROUND + 1)
        local = [(minute, local_time(minute, zone)) for minute in minutes]
        yield {
            "first": minutes[0],
            "last": minutes[-1],
            "offsets": [offset(minutes[0], zone), offset(minutes[-1], zone)],
            "times": [[minute for minute, t in local if matches(t)] for matches in rules],
        }


json.dump([list(enumerate_windows(case)) for case in json.load(sys.stdin)], sys.stdout)
