import { InvalidQueryParameter } from './request-errors.ts'

/** Milliseconds since the epoch: the first is included, the second is not. */
export type FinishedRange = { finishedFrom?: number | undefined; finishedTo?: number | undefined }

/**
 * @param from RFC 3339, as `to`
 * @param names of the parameters, for errors
 * @throws InvalidQueryParameter
 */
export function parseTimeRange(
  from: string | undefined,
  to: string | undefined,
  [first, last]: [string, string] = ['from', 'to'],
) {
  const range = { from: toTime(from), to: toTime(to) }
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new InvalidQueryParameter([{ path: first, message: `${first} must be before ${last}.` }])
  return range
}

const toTime = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))

type FinishedQuery = { finishedFrom?: string | undefined; finishedTo?: string | undefined }

/** When executions have to have ended; null if at any time, or not yet. @throws InvalidQueryParameter */
export function parseFinished({ finishedFrom, finishedTo }: FinishedQuery): FinishedRange | null {
  const { from, to } = parseTimeRange(finishedFrom, finishedTo, ['finishedFrom', 'finishedTo'])
  return from === undefined && to === undefined ? null : { finishedFrom: from, finishedTo: to }
}

/** Whether an execution became final in the range. Null: also if it has not. */
export function isFinishedIn(
  { finishedAt }: { finishedAt?: string | null },
  range: FinishedRange | null,
): boolean {
  const { finishedFrom, finishedTo } = range ?? {}
  if (finishedFrom === undefined && finishedTo === undefined) return true
  const at = finishedAt ? Date.parse(finishedAt) : Number.NaN
  return at >= (finishedFrom ?? Number.NEGATIVE_INFINITY) && at < (finishedTo ?? Number.POSITIVE_INFINITY)
}
