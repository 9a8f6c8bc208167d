import { Cron } from 'croner'

/**
 * The first times after `from` (milliseconds since the epoch), at most `count`: fewer if there are no more. A rule with
 * `*` or a step in its minute or hour fires in both passes of a repeated hour, any other one in the first.
 */
export function nextTimes(cron: string, timezone: string, from: number, count = 1): number[] {
  const rule = open(cron, timezone)
  const times: number[] = []
  for (let at: Date | null = new Date(from); at && times.length < count; ) {
    at = rule.nextRun(at)
    if (at && exists(rule, at)) times.push(at.getTime())
  }
  return times
}

/** The last times from `first` to `last`, both included, at most `count`; the latest comes first. */
export function lastTimes(
  cron: string,
  timezone: string,
  { first, last, count }: { first: number; last: number; count: number },
): number[] {
  const rule = open(cron, timezone)
  const times: number[] = []
  for (let at = new Date(last + 1); times.length < count; ) {
    const [earlier] = rule.previousRuns(1, at)
    if (!earlier || earlier.getTime() < first) break
    at = earlier
    if (exists(rule, at)) times.push(at.getTime())
  }
  return times
}

/** croner moves a local time that does not exist to the next one that does, which the rule does not match. */
const exists = (rule: Cron, at: Date): boolean => rule.match(at)

const open = (cron: string, timezone: string): Cron =>
  new Cron(cron, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true })
