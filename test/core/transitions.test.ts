import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CANCELLED, type Execution, failure, isFinal, NO_USAGE } from '../../lib/core/execution.ts'
import { leaseTimes, nextSweep } from '../../lib/core/lease-times.ts'
import * as transitions from '../../lib/core/transitions.ts'
import { anExecution } from '../support/executions.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { endableBy, explore, keyOf, NOW } from '../support/state-graph.ts'

describe('every state that three workers, a client and the system can bring about', () => {
  const nodes = explore()
  const all = [...nodes.values()]
  const moves = all.flatMap(({ execution: from, moves }) => moves.map((move) => ({ from, ...move })))
  const open = all.filter(({ execution }) => !isFinal(execution))

  it('is one of many', () => {
    expect(open.length).toBeGreaterThan(1_000)
    expect(all.length - open.length).toBeGreaterThan(100)
    const names = ['tick', 'claim', 'renew', 'finish', 'release', 'cancel', 'sweep', 'bury', 'delete']
    expect(new Set(moves.map(({ name }) => name))).toEqual(new Set(names))
  })

  it('stays as it is, or goes as a whole, once it is final', () => {
    for (const { from, to } of moves.filter((move) => isFinal(move.from) && move.to)) {
      expect({ ...to, deadlineAt: 0 }).toEqual({ ...from, deadlineAt: 0 })
    }
  })

  it('is left alone by workers and by the sweeper exactly when it is final', () => {
    for (const { execution } of all) {
      const { lease, openUntil, finishedAt, output, error } = execution
      const isLeftAlone = lease === null && openUntil === null
      expect({ isLeftAlone, hasEnded: finishedAt !== null }).toEqual({
        isLeftAlone: isFinal(execution),
        hasEnded: isFinal(execution),
      })
      expect(openUntil === null).toBe(isFinal(execution))
      expect([output, error].filter((result) => result !== null)).toHaveLength(isFinal(execution) ? 1 : 0)
    }
  })

  it('is deleted only when it is final', () => {
    for (const { from } of moves.filter(({ to }) => to === null)) expect(isFinal(from)).toBe(true)
  })

  it('is renewed, finished and given back only by the owner of its lease', () => {
    const owned = moves.filter(({ name }) => ['renew', 'finish', 'release'].includes(name))
    for (const { from, owner } of owned) expect(from.lease?.owner).toBe(owner)
  })

  it('loses a live lease only to its owner or to a client that cancels', () => {
    for (const { name, owner, from, to } of moves) {
      const isLive = from.lease !== null && from.lease.expiresAt >= NOW
      if (!isLive || to?.lease?.owner === from.lease?.owner) continue
      expect(name === 'cancel' || owner === from.lease?.owner).toBe(true)
    }
  })

  it.each([
    ['the sweeper, at the deadline, when no worker lives', ['tick', 'sweep']],
    ['the end of its deliveries', ['tick', 'bury']],
    ['a new worker', ['tick', 'claim', 'finish']],
  ])('comes to an end by %s', (_, names) => {
    const endable = endableBy(nodes, names)
    for (const { execution } of open) expect(endable).toContain(keyOf(execution))
  })
})

const TIMES = leaseTimes()
const START = 1_800_000_000_000
const DEADLINE_MS = 20 * TIMES.leaseMs
const FAULT = { code: 'Unavailable', message: 'The model did not answer.' }
const KINDS = ['claim', 'renew', 'step', 'finish', 'release', 'cancel', 'bury', 'look', 'postpone'] as const
const command = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...KINDS) },
    { weight: 2, arbitrary: fc.constantFrom('claim', 'step', 'release', 'look') },
  ),
  worker: fc.nat({ max: 2 }),
  waitMs: fc.constantFrom(0, 1, TIMES.heartbeatMs, TIMES.leaseMs, TIMES.leaseMs + 1, TIMES.graceMs * 5),
})

describe('permits and applied', () => {
  it('keep one owner at a time, one end, and true counts in any interleaving at any pace', () => {
    fc.assert(
      fc.property(fc.array(command, { minLength: 1, maxLength: 60 }), (commands) => {
        // What the rules come to, kept apart from the execution: who may write, until when, and what is counted.
        let holder: { owner: string; until: number } | null = null
        let ended: Execution | null = null
        let [claims, idle, firstClaim] = [0, 0, null as string | null]
        let fault: unknown = null

        let execution = anExecution({ now: START, deadlineMs: DEADLINE_MS })
        let now = START
        let seen = execution.openUntil
        const owners = ['a', 'b', 'c']
        const carryOut = (transition: transitions.Transition, isRight: boolean): boolean => {
          const isPermitted = transitions.isPermitted(execution, transition.guard)
          expect(isPermitted).toBe(isRight && ended === null)
          if (isPermitted) execution = transitions.applyTransition(execution, transition)
          return isPermitted
        }

        for (const [place, { kind, worker, waitMs }] of commands.entries()) {
          now += waitMs
          const owner = owners[worker] ?? ''
          const lease = { owner, expiresAt: now + TIMES.leaseMs }
          const at = new Date(now).toISOString()
          const isOwner = holder !== null && holder.owner === owner
          const isUnleased = holder === null || holder.until < now
          if (kind === 'claim') {
            // As in reality, no two claims have the same owner.
            const own = { ...lease, owner: `${owner}-${place}` }
            if (!carryOut(transitions.claim(own, now), isUnleased)) continue
            owners[worker] = own.owner
            holder = { owner: own.owner, until: own.expiresAt }
            firstClaim ??= at
            claims++
            idle++
          } else if (kind === 'renew' || kind === 'step') {
            const progress = { steps: execution.steps + 1, usage: NO_USAGE, model: 'a/b' }
            if (!carryOut(transitions.renew(lease, kind === 'step' ? progress : undefined), isOwner)) continue
            holder = { owner, until: lease.expiresAt }
            if (kind === 'step') [idle, fault] = [0, null]
          } else if (kind === 'release') {
            if (!carryOut(transitions.release(owner, { until: now + TIMES.graceMs, error: FAULT }), isOwner))
              continue
            holder = null
            fault = FAULT
          } else if (kind === 'finish') {
            if (carryOut(transitions.finish(owner, failure(CANCELLED), at), isOwner)) ended = execution
          } else if (kind === 'cancel') {
            const { organizationId } = execution
            carryOut(transitions.end({ organizationId: 'another' }, CANCELLED, at), false)
            if (carryOut(transitions.end({ organizationId }, CANCELLED, at), true)) ended = execution
          } else if (kind === 'bury') {
            const error = transitions.attemptsExhausted(execution)
            expect(error.code).toBe(fault ? FAULT.code : 'AttemptsExhausted')
            if (carryOut(transitions.end({ unleasedAt: now }, error, at), isUnleased)) ended = execution
          } else if (kind === 'look') {
            seen = execution.openUntil ?? seen
          } else if (kind === 'postpone' && seen !== null) {
            const until = nextSweep(TIMES, START, now)
            expect(until).toBeGreaterThan(now)
            carryOut(transitions.postpone(seen, until), execution.openUntil === seen)
          }
          expect(execution).toMatchObject({ attempts: claims, startedAt: firstClaim })
          if (ended === null) {
            expect(execution).toMatchObject({
              attemptsSinceProgress: idle,
              lastError: fault,
              status: 'IN_PROGRESS',
            })
            expect(execution.lease).toEqual(holder && { owner: holder.owner, expiresAt: holder.until })
          } else expect(execution).toBe(ended)
        }
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
