import fc from 'fast-check'
import { expect, it } from 'vitest'
import { attemptId, attemptsAt, stepBackoff, timeInBackoff } from '../../lib/core/attempts.ts'
import type { CallResult, RecordedStep } from '../../lib/core/step.ts'

it('a backoff doubles up to 300 s, and loses at most a quarter to jitter', () => {
  const seconds = [1, 2, 3, 4, 5].map((failures) => stepBackoff({ first: 40, failures, jitter: 0 }).seconds)
  expect(seconds).toEqual([40, 80, 160, 300, 300])
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 300, noNaN: true }),
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (first, failures, jitter) => {
        const { seconds, delayMs } = stepBackoff({ first, failures, jitter })
        expect(seconds).toBe(Math.min(first * 2 ** (failures - 1), 300))
        expect(delayMs).toBeLessThanOrEqual(seconds * 1_000 + 1)
        expect(delayMs).toBeGreaterThanOrEqual(seconds * 750 - 1)
      },
    ),
  )
})

it('attempts are in order, whatever the order in which they were read', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString()
  const attempt = (number: number): CallResult => ({
    callId: attemptId(number),
    result: { ok: false, error: String(number) },
    startedAt: at(number * 10),
    finishedAt: at(number * 10 + 1),
  })
  const recorded: RecordedStep = {
    step: { kind: 'CODE', name: 'charge', number: 1, startedAt: at(10), finishedAt: at(11) },
    results: new Map([3, 11, 1, 2].map((number) => [attemptId(number), attempt(number)])),
  }
  const attempts = attemptsAt(recorded)
  expect(attempts.map(({ callId }) => callId)).toEqual(['attempt-1', 'attempt-2', 'attempt-3'])
  expect(timeInBackoff(attempts)).toBe(18_000)
})
