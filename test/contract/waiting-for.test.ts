import { expect, it } from 'vitest'
import type { Wait } from '../../lib/core/wait.ts'
import { toWaitingFor } from '../../lib/core/wait.ts'

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `signal-${index}`)

const aWait = (signals: string[]): Wait => ({
  kind: 'signal',
  name: 'any',
  since: '2026-11-24T12:00:00.000Z',
  until: null,
  step: 1,
  signals,
})

it('shows at most 1 kB of what a run waits for, and never nothing', () => {
  const small = aWait(namesOf(2))
  const large = aWait(namesOf(100))
  expect(toWaitingFor([large, small])).toEqual([small])
  const [shown, ...others] = toWaitingFor([large, large])
  expect(others).toEqual([])
  expect(shown).toMatchObject({ name: 'any', step: 1 })
  expect(shown?.signals).toEqual(namesOf(shown?.signals?.length ?? 0))
  const bytes = Buffer.byteLength(JSON.stringify([shown]))
  expect(bytes).toBeLessThanOrEqual(1_000)
  expect(bytes).toBeGreaterThan(980)
})
