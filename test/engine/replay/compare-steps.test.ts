import { describe, expect, it } from 'vitest'
import type { RecordedStep, StepStore } from '../../../lib/core/step.ts'
import { compareSteps } from '../../../lib/engine/replay/compare-executions.ts'
import { modelStep } from '../../support/engine/executions.ts'

const at = new Date(0).toISOString()
const names = (count: number) => Array.from({ length: count }, (_, index) => `step ${index + 1}`)
const ofCode = (all: string[]): RecordedStep[] =>
  all.map((name, index) => ({
    step: { kind: 'CODE', number: index + 1, name, value: 1, startedAt: at, finishedAt: at },
    results: new Map(),
  }))
const ofModel = (count: number): RecordedStep[] =>
  Array.from({ length: count }, (_, index) => ({
    step: modelStep({ number: index + 1 }),
    results: new Map(),
  }))

/** The journals of two executions. `reads`: whose pages were read. */
function journals(left: RecordedStep[], right: RecordedStep[]) {
  const reads: string[] = []
  const list: StepStore['list'] = async ({ executionId, limit, after }) => {
    reads.push(executionId)
    const rest = (executionId === 'left' ? left : right).slice(Number(after?.order ?? 0))
    const items = rest.slice(0, limit)
    return { items, next: rest.length > limit ? { order: String(items.at(-1)?.step.number) } : null }
  }
  const ignored = { isEnd: false, members: new Map() }
  return { reads, compare: () => compareSteps({ list }, { left: 'left', right: 'right', ignored }) }
}

describe('the names of steps', () => {
  it('are looked for among the first 1,000 of the other execution', async () => {
    const { compare } = journals(ofCode(['step 1', 'step 1000', 'step 1001']), ofCode(names(1_001)))
    const { steps } = await compare()
    expect(steps.slice(0, 3).map(({ right }) => right)).toEqual([1, 1_000, null])
  })

  it('are not looked for on further pages of an agent without code', async () => {
    const { compare, reads } = journals([], ofModel(250))
    expect((await compare()).steps).toHaveLength(250)
    // The first page for its names, and all three for what only this execution has.
    expect(reads.filter((id) => id === 'right')).toHaveLength(4)
  })
})
