import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { ExecutionNotFound } from '../../../lib/core/resource-errors.ts'
import type { Step, StepCall } from '../../../lib/core/step.ts'
import { LIVE, type Replay } from '../../../lib/core/trial.ts'
import { compareExecutions } from '../../../lib/engine/replay/compare-executions.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { anExecution, leased, modelStep, NO_PROGRESS, toolCall } from '../../support/engine/executions.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const { executions, steps } = engineOn(await engineTable())
const organizationId = system.newId()
const access = { organizationId, tokenId: '', scopes: null, agents: null, tenantId: null, rate: null }
const at = new Date().toISOString()

type NewStep = { step: Step; results?: Json[] }
type Given = {
  output?: JsonObject
  error?: string
  steps?: NewStep[]
  replay?: Partial<Replay>
  of?: string
} & Partial<Pick<Execution, 'input' | 'options'>>

/** A final execution with these steps, whose calls have these results. */
async function aRun(options: Given = {}) {
  const { output = {}, error, steps: journal = [], replay, of = organizationId, ...given } = options
  const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
  const repeats = { ...LIVE, executionId: '', fromStep: 1, isTrial: true, defaultModel: null, ...replay }
  const accepted = anExecution({ organizationId: of, lease, ...given, ...(replay && { replay: repeats }) })
  const execution = leased(accepted, 'me')
  const executionId = execution.id
  await executions.create({ execution })
  for (const { step, results = [] } of journal) {
    await steps.append({ executionId, owner: 'me', step, progress: NO_PROGRESS })
    const calls = step.kind === 'MODEL' ? step.calls : []
    for (const [index, value] of results.entries()) {
      const ended = { result: { ok: true, value }, startedAt: at, finishedAt: at }
      const result = { callId: calls[index]?.id ?? '', ...ended } as never
      await steps.appendResult({ executionId, number: step.number, result })
    }
  }
  const outcome = error
    ? ({ status: 'ERROR', error: { code: error, message: error } } as const)
    : ({ status: 'SUCCESS', output, ...NO_PROGRESS } as const)
  return (await executions.finish({ execution, outcome, finishedAt: at })) as Execution
}

const codeStep = (number: number, name: string, value: Json): NewStep => ({
  step: { kind: 'CODE', number, name, value, startedAt: at, finishedAt: at },
})

const calls = (number: number, calls: StepCall[], results: Json[], text = ''): NewStep => ({
  step: modelStep({ number, calls, text }),
  results,
})

type Id = Pick<Execution, 'id'>
const compare = (left: Id, right: Id, on = access, from: Pick<typeof steps, 'list'> = steps) =>
  compareExecutions({ executions, steps: from }, { access: on, executionId: left.id, otherId: right.id })

const numbersOf = async (comparing: ReturnType<typeof compare>) =>
  (await comparing).steps.map((step) => [step.left, step.right])

describe('compareExecutions', () => {
  it('finds what differs in the inputs and the options', async () => {
    const options = { model: null, useDynamicLearning: false }
    const [one, two] = [
      await aRun({ input: { a: 1, b: 'x'.repeat(500) }, options: { ...options, maxAgentSteps: 5 } }),
      await aRun({ input: { a: 2 }, options: { ...options, maxAgentSteps: 6, maxTokens: 100 } }),
    ]
    expect((await compare(one, two)).request).toEqual({
      differences: [
        { path: '/input/a', original: 1, trial: 2 },
        { path: '/input/b', original: `${'x'.repeat(200)}…` },
        { path: '/options/maxAgentSteps', original: 5, trial: 6 },
        { path: '/options/maxTokens', trial: 100 },
      ],
    })
    expect((await compare(one, one)).request).toEqual({ differences: [] })
  })

  it('finds what differs in the results', async () => {
    const [one, two, failed] = [
      await aRun({ output: { sum: 1, text: 'a  b' } }),
      await aRun({ output: { sum: 2, text: ' a b' } }),
      await aRun({ error: 'TimedOut' }),
    ]
    expect(await compare(one, two)).toMatchObject({
      left: { id: one.id },
      right: { id: two.id },
      differences: [{ path: '/output/sum', original: 1, trial: 2 }],
      steps: [],
      hasMoreSteps: false,
    })
    expect((await compare(one, failed)).differences).toEqual([
      { path: '/output', original: { sum: 1, text: 'a  b' }, trial: null },
      { path: '/error', original: null, trial: { code: 'TimedOut', message: 'TimedOut' } },
    ])
    expect((await compare(one, one)).differences).toEqual([])
  })

  it('compares the steps of models by number, without ids and times', async () => {
    const begin = (a: string, b: string, n: number) => [
      calls(1, [toolCall(a, 'look_up', { id: n }), toolCall(b)], [{ price: n }, 'same']),
      calls(2, [], [], 'Done.'),
    ]
    const left = await aRun({ steps: [...begin('a', 'b', 1), calls(3, [], [])] })
    const right = await aRun({ steps: begin('c', 'd', 2) })
    const { steps } = await compare(left, right)
    expect(steps).toMatchObject([
      {
        left: 1,
        right: 1,
        isSame: false,
        differences: [
          { path: '/toolCalls/0/input/id', original: 1, trial: 2 },
          { path: '/toolCalls/0/result/price', original: 1, trial: 2 },
        ],
      },
      { left: 2, right: 2, isSame: true, differences: [] },
      { left: 3, right: null, isSame: false, differences: [{ path: '' }] },
    ])
    const turned = [...[1, 2].map((number) => [number, number]), [null, 3]]
    expect(await numbersOf(compare(right, left))).toEqual(turned)
  })

  it('compares the steps of code agents by name, whatever their order is', async () => {
    const left = await aRun({ steps: [codeStep(1, 'a', 1), codeStep(2, 'b', 2), codeStep(3, 'c', 3)] })
    const right = await aRun({ steps: [codeStep(1, 'c', 3), codeStep(2, 'd', 4), codeStep(3, 'a', 0)] })
    const { steps } = await compare(left, right)
    expect(steps.map(({ left, right, name, isSame }) => [left, right, name, isSame])).toEqual([
      [1, 3, 'a', false],
      [2, null, 'b', false],
      [3, 1, 'c', true],
      [null, 2, 'd', false],
    ])
    expect(steps[0]?.differences).toEqual([{ path: '/result', original: 1, trial: 0 }])
    const model = await aRun({ steps: [calls(1, [], [], 'Hi')] })
    const [lefts, rights] = [
      [1, 2, 3].map((number) => [number, null]),
      [1, 2, 3].map((number) => [null, number]),
    ]
    expect(await numbersOf(compare(left, model))).toEqual([...lefts, [null, 1]])
    expect(await numbersOf(compare(model, left))).toEqual([[1, null], ...rights])
  })

  it('leaves out what a replay of one of them ignores', async () => {
    const first = (input: Json): NewStep[] => [calls(1, [toolCall('a', 'look_up', input)], [1])]
    const left = await aRun({ output: { at: 1, sum: 1 }, steps: first({ at: 1, id: 1 }) })
    const replay = { executionId: left.id, ignore: ['/at'] }
    const right = await aRun({ output: { at: 2, sum: 2 }, steps: first({ at: 2, id: 2 }), replay })
    for (const pair of [await compare(left, right), await compare(right, left)]) {
      expect(pair.differences.map(({ path }) => path)).toEqual(['/output/sum'])
      expect(pair.steps[0]?.differences.map(({ path }) => path)).toEqual(['/toolCalls/0/input/id'])
    }
    const other = await aRun({ output: { at: 3, sum: 2 } })
    expect((await compare(other, right)).differences.map(({ path }) => path)).toEqual(['/output/at'])
  })

  it('reads many large steps page by page, and keeps a limited number of differences', async () => {
    const large = 'x'.repeat(200_000)
    const many = (value: number) =>
      Array.from({ length: 120 }, (_, i) =>
        codeStep(i + 1, `step ${i}`, i < 60 ? { large, list: Array(30).fill(value) } : { large }),
      )
    const [left, right] = [await aRun({ steps: many(1) }), await aRun({ steps: many(2) })]
    let items = 0
    const list: typeof steps.list = async (params) => {
      const page = await steps.list(params)
      items = Math.max(items, page.items.length)
      return page
    }
    const compared = await compare(left, right, access, { list })
    expect(items).toBeLessThan(25)
    expect(compared.steps).toHaveLength(120)
    expect(compared.steps.filter(({ isSame }) => isSame)).toHaveLength(60)
    expect(compared.steps.flatMap(({ differences }) => differences)).toHaveLength(1_000)
    expect(compared.steps[0]).toMatchObject({ isCut: true, differences: { length: 20 } })
    expect(compared.steps[59]).toMatchObject({ isCut: true, isSame: false, differences: [] })
  })

  it('does not find what a token may not see, on either side', async () => {
    const [own, other] = [await aRun(), await aRun({ of: system.newId() })]
    for (const [left, right] of [
      [own, other],
      [other, own],
      [own, { id: system.newId() }],
      [own, { id: 'none' }],
    ] as const)
      await expect(compare(left, right)).rejects.toThrow(ExecutionNotFound)
    const ofTenant = { ...access, tenantId: 'acme' as never }
    await expect(compare(own, own, ofTenant)).rejects.toThrow(ExecutionNotFound)
  })
})
