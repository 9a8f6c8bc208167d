import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Execution, failure } from '../../lib/core/execution.ts'
import { attemptsExhausted, CANCELLED } from '../../lib/core/execution-errors.ts'
import { leaseTimes, nextSweep } from '../../lib/core/lease-times.ts'
import { NO_USAGE } from '../../lib/core/model-usage.ts'
import * as transitions from '../../lib/core/transitions.ts'
import { propertyRuns } from '../support/data/property-runs.ts'
import { anExecution } from '../support/engine/executions.ts'
import { isPermitted } from '../support/lifecycle/reference-model.ts'

const TIMES = leaseTimes()
const START = 1_800_000_000_000
const DEADLINE_MS = 20 * TIMES.leaseMs
const ERROR = { code: 'Unavailable', message: 'The model did not respond.' }
const ENDS = ['finish', 'cancel', 'dead-letter'] as const
const KINDS = ['claim', 'renew', 'step', 'release', 'wait', 'outage', 'list', 'postpone', ...ENDS] as const
const command = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...KINDS) },
    { weight: 2, arbitrary: fc.constantFrom('claim', 'step', 'release', 'list') },
  ),
  worker: fc.nat({ max: 2 }),
  waitMs: fc.constantFrom(0, 1, TIMES.heartbeatMs, TIMES.leaseMs, TIMES.leaseMs + 1, TIMES.graceMs * 5),
})

describe('isPermitted and applyTransition', () => {
  it('allow one lease owner at a time and one final state, and count correctly, in any interleaving', () => {
    fc.assert(
      fc.property(fc.array(command, { minLength: 1, maxLength: 60 }), (commands) => {
        // An independent model of the rules: who holds the lease, until when, and what is counted.
        let holder: { owner: string; until: number } | null = null
        let final: Execution | null = null
        let [claims, sinceProgress, outages, firstClaim] = [0, 0, 0, null as string | null]
        let lastError: unknown = null

        let execution = anExecution({ now: START, deadlineMs: DEADLINE_MS })
        let now = START
        let listed = execution.openUntil
        const owners = ['a', 'b', 'c']
        const apply = (transition: transitions.Transition, isExpected: boolean): boolean => {
          const isAllowed = isPermitted(execution, transition.guard)
          expect(isAllowed).toBe(isExpected && final === null)
          if (isAllowed) execution = transitions.applyTransition(execution, transition)
          return isAllowed
        }

        for (const [index, { kind, worker, waitMs }] of commands.entries()) {
          now += waitMs
          const owner = owners[worker] ?? ''
          const lease = { owner, expiresAt: now + TIMES.leaseMs }
          const at = new Date(now).toISOString()
          const isOwner = holder !== null && holder.owner === owner
          const isUnleased = holder === null || holder.until < now
          if (kind === 'claim') {
            // Each claim has a new owner, as in the service.
            const own = { ...lease, owner: `${owner}-${index}` }
            if (!apply(transitions.claim(own, now), isUnleased)) continue
            owners[worker] = own.owner
            holder = { owner: own.owner, until: own.expiresAt }
            firstClaim ??= at
            claims++
            sinceProgress++
          } else if (kind === 'renew' || kind === 'step') {
            const progress = { steps: execution.steps + 1, usage: NO_USAGE, model: 'a/b' }
            if (!apply(transitions.renew({ lease, ...(kind === 'step' && { progress }) }), isOwner)) continue
            holder = { owner, until: lease.expiresAt }
            if (kind === 'step') [sinceProgress, outages, lastError] = [0, 0, null]
          } else if (kind === 'release') {
            if (!apply(transitions.release(owner, { until: now + TIMES.graceMs, error: ERROR }), isOwner))
              continue
            holder = null
            lastError = ERROR
          } else if (kind === 'wait' || kind === 'outage') {
            const progress =
              sinceProgress === 0 ? { steps: execution.steps, usage: NO_USAGE, model: null } : null
            const uncounted = { isCounted: false, isOutage: kind === 'outage' }
            const release = { until: now + TIMES.graceMs, error: null, progress, ...uncounted }
            if (!apply(transitions.release(owner, release), isOwner)) continue
            holder = null
            if (progress) [sinceProgress, outages] = [0, 0]
            else {
              sinceProgress--
              if (kind === 'outage') outages++
            }
          } else if (kind === 'finish') {
            if (apply(transitions.finish(owner, { outcome: failure(CANCELLED), finishedAt: at }), isOwner))
              final = execution
          } else if (kind === 'cancel') {
            const { organizationId } = execution
            apply(transitions.end({ organizationId: 'another' }, { error: CANCELLED, finishedAt: at }), false)
            if (apply(transitions.end({ organizationId }, { error: CANCELLED, finishedAt: at }), true))
              final = execution
          } else if (kind === 'dead-letter') {
            const error = attemptsExhausted(execution)
            expect(error.code).toBe(lastError ? ERROR.code : 'AttemptsExhausted')
            if (apply(transitions.end({ unleasedAt: now }, { error, finishedAt: at }), isUnleased))
              final = execution
          } else if (kind === 'list') {
            listed = execution.openUntil ?? listed
          } else if (kind === 'postpone' && listed !== null) {
            const until = nextSweep(TIMES, START, now)
            expect(until).toBeGreaterThan(now)
            apply(transitions.postpone(listed, { until, now }), execution.openUntil === listed && isUnleased)
          }
          expect(execution).toMatchObject({ attempts: claims, startedAt: firstClaim })
          expect(execution.attemptsSinceProgress).toBeGreaterThanOrEqual(0)
          if (final === null) {
            const counts = { attemptsSinceProgress: sinceProgress, outages, lastError }
            expect(execution).toMatchObject({ ...counts, status: 'IN_PROGRESS', finishedAt: null })
            expect(execution.lease).toEqual(holder && { owner: holder.owner, expiresAt: holder.until })
          } else {
            expect(execution).toBe(final)
            expect(execution).toMatchObject({ lease: null, openUntil: null, finishedAt: expect.any(String) })
          }
        }
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
