import { afterAll, describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import type { Replay } from '../../../lib/core/trial.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, originalsOn, runReplay, withSteps } from '../../support/replay/a-replay.ts'

const scriptedEngine = await startScriptedEngine()
const { engine } = scriptedEngine
let served = 0
/** Each response is another one. */
const server = await startToolServer((path, response) => {
  response.statusCode = path.startsWith('/broken') ? 500 : 200
  response.end(JSON.stringify({ path, served: ++served }))
})
afterAll(() => server.stop())

const TOOLS = [
  httpTool(server, 'look_up', '/things/{id}', { readOnly: true }),
  httpTool(server, 'order', '/orders/{id}'),
  httpTool(server, 'fail', '/broken/{id}'),
]
const call = (name: string, id: string, more: object = {}) => ({ name, input: { id, ...more } as Json })
const look = { calls: [call('look_up', 'a')] }

const { anAgent, anOriginal, aDraft } = originalsOn(scriptedEngine, { tools: TOOLS })

/** A replay, and the requests that it makes to the tool server. */
async function replayed(original: Execution, version: Version, settings: Partial<Replay> = {}, on = engine) {
  const before = server.calls.length
  const result = await runReplay(on, original, version, { settings })
  return { ...result, paths: server.calls.slice(before).map(({ path }) => path) }
}

describe('calls of recorded tools', () => {
  it('have the results of the same calls of the original, in the order in which it made them', async () => {
    const twice = [call('look_up', 'a'), call('look_up', 'b'), call('look_up', 'a')]
    const { version, original, steps } = await anOriginal([{ calls: twice }, { calls: twice }, answer])
    const others = ['aa', 'bba'].map((ids) => ({ calls: [...ids].map((id) => call('look_up', id)) }))
    const instructions = 'Answer differently.'
    const { draft } = await aDraft(version, [look, ...others, answer], { instructions })
    const { paths, execution, steps: repeated } = await replayed(original, draft)
    expect(paths).toEqual([])
    expect(execution).toMatchObject({ status: 'SUCCESS', source: 'TRIAL', steps: 4 })
    const servedIn = (all: typeof steps, id: string) =>
      all.flatMap(({ step, results }) =>
        step.calls.flatMap(({ id: callId, input }) => {
          const result = results.get(callId)?.result
          return (input as { id?: string }).id === id ? [result?.ok && result.value] : []
        }),
      )
    for (const id of ['a', 'b']) {
      const recorded = servedIn(steps, id)
      expect(new Set(recorded.map((each) => JSON.stringify(each))).size).toBe(recorded.length)
      expect(servedIn(repeated, id)).toEqual(recorded)
    }
  })

  it('have the errors that the original got', async () => {
    const { version, original, steps } = await anOriginal([{ calls: [call('fail', 'x')] }, answer])
    const { draft } = await aDraft(version, [{ calls: [call('fail', 'x')] }, answer])
    const { paths, steps: repeated } = await replayed(original, draft)
    expect(paths).toEqual([])
    const results = contentOf(steps)[0]?.results
    expect(contentOf(repeated)[0]?.results).toEqual(results)
    expect(results).toMatchObject([{ ok: false, error: expect.stringContaining('500') }])
  })

  it('are the same without what is ignored, and whatever the order of their arguments', async () => {
    const integer = { type: 'integer' }
    const deep = { type: 'object', properties: { x: integer, y: integer } }
    const input = { id: { type: 'string' }, options: { type: 'object', properties: { day: integer, deep } } }
    const tools = [httpTool(server, 'look_up', '/things/{id}', { input })]
    const at = (day: number, x: number) => call('look_up', 'a', { options: { day, deep: { x, y: 2 } } })
    const { version, original } = await anOriginal([{ calls: [at(1, 1)] }, answer], { tools })
    const other = { name: 'look_up', input: { options: { deep: { y: 2, x: 5 }, day: 2 }, id: 'a' } }
    const repeat = async (ignore: string[]) => {
      const { draft } = await aDraft(version, [{ calls: [other] }, answer], { tools })
      return (await replayed(original, draft, { ignore })).execution.error
    }
    expect(await repeat(['/options/day', '/options/deep/x', '/missing/0'])).toBeNull()
    expect(await repeat(['/options/day'])).toMatchObject({ code: 'Diverged', input: other.input })
  })

  it.each([
    ['of a tool that it did not call', call('order', 'a'), 1],
    ['with other arguments', call('look_up', 'b'), 1],
    ['more often', call('look_up', 'a'), 2],
  ])('that the original did not make, %s, are not executed, and end the run', async (_, made, step) => {
    const { version, original } = await anOriginal([look, answer])
    const last = { calls: [made, finalAnswer({ answer: 'x' })] }
    const { draft, requests } = await aDraft(version, [...(step === 2 ? [{ calls: [made] }] : []), last])
    const { paths, execution } = await replayed(original, draft)
    expect(paths).toEqual([])
    const { name: tool, input } = made
    const error = { code: 'Diverged', tool, input, step, message: expect.stringContaining(tool) }
    expect(execution).toMatchObject({ status: 'ERROR', error, steps: step, output: null })
    expect(requests).toHaveLength(step)
  })

  it('are in the error of the run without most of a long input', async () => {
    const { version, original } = await anOriginal([answer])
    const { draft } = await aDraft(version, [{ calls: [call('look_up', 'x'.repeat(1_000_000))] }])
    const { execution } = await replayed(original, draft)
    expect(execution).toMatchObject({ error: { code: 'Diverged' }, judgement: { verdict: 'DIVERGED' } })
    expect(JSON.stringify(execution.error).length).toBeLessThan(1_000)
  })

  it('without a result, because the original was cut off, are not executed', async () => {
    const { version, original, steps } = await anOriginal([look, answer])
    const on = withSteps(engine, original, async () =>
      steps.map(({ step }) => ({ step, results: new Map() })),
    )
    const { draft } = await aDraft(version, [look, answer])
    const { paths, execution } = await replayed(original, draft, {}, on)
    expect(paths).toEqual([])
    expect(execution.error).toMatchObject({ code: 'Diverged', step: 1 })
  })

  it('that no tool would get are refused as in any other run', async () => {
    const wrong = { name: 'look_up', input: { id: 5, more: true } }
    const unknown = { name: 'nothing', input: {} }
    const { version, original } = await anOriginal([look, answer])
    const { draft } = await aDraft(version, [{ calls: [wrong, unknown, call('look_up', 'a')] }, answer])
    const { execution, steps } = await replayed(original, draft)
    expect(execution).toMatchObject({ status: 'SUCCESS' })
    const [shown] = contentOf(steps)
    const error = expect.stringContaining('does not match')
    expect(shown?.results).toMatchObject([{ ok: false, error }, { ok: null }, { ok: true }])
    expect(shown?.calls[1]?.error).toContain('nothing')
  })

  it('that were refused in the original, and are not any more, have no result', async () => {
    const made = { name: 'look_up', input: {} }
    const { version, original } = await anOriginal([{ calls: [made] }, answer])
    const input = { id: { type: 'string', required: false } }
    const tools = [httpTool(server, 'look_up', '/things', { input })]
    const { draft } = await aDraft(version, [{ calls: [made] }, answer], { tools })
    const { paths, execution } = await replayed(original, draft)
    expect(paths).toEqual([])
    expect(execution.error).toMatchObject({ code: 'Diverged' })
  })

  it.each([true, false])(
    'are counted without those that no tool got (in one step: %s)',
    async (isOneStep) => {
      const input = { id: { type: 'string' }, at: { type: 'integer' } }
      const tools = [httpTool(server, 'look_up', '/things/{id}', { input })]
      const made = ['wrong', 1, 'wrong', 2].map((at) => call('look_up', 'a', { at }))
      const script = [...(isOneStep ? [{ calls: made }] : made.map((each) => ({ calls: [each] }))), answer]
      const { version, original, steps } = await anOriginal(script, { tools })
      const { draft } = await aDraft(version, script, { tools })
      const { execution, steps: repeated } = await replayed(original, draft, { ignore: ['/at'] })
      expect(execution).toMatchObject({ status: 'SUCCESS', judgement: { verdict: 'SAME' } })
      const resultsIn = (all: typeof steps) => contentOf(all).map(({ results }) => results)
      expect(resultsIn(repeated)).toEqual(resultsIn(steps))
    },
  )

  it('are made if the tool is live; the others are not', async () => {
    const calls = [call('look_up', 'a'), call('order', 'a')]
    const { version, original, steps } = await anOriginal([{ calls }, answer])
    const made = [call('look_up', 'a'), call('look_up', 'new'), call('order', 'a')]
    const { draft } = await aDraft(version, [{ calls: made }, answer])
    const settings: Partial<Replay> = { tools: { default: 'recorded', look_up: 'live' } }
    const { paths, execution, steps: repeated } = await replayed(original, draft, settings)
    expect(paths.sort()).toEqual(['/things/a', '/things/new'])
    expect(execution).toMatchObject({ status: 'SUCCESS' })
    const [before, after] = [contentOf(steps)[0]?.results, contentOf(repeated)[0]?.results]
    expect(after?.[0]).not.toEqual(before?.[0])
    expect(after?.[2]).toEqual(before?.[1])
    const [shown] = repeated.map(toStepRecord)
    expect(shown).not.toHaveProperty('replayed')
    expect(shown?.toolCalls?.map((each) => each.replayed)).toEqual([undefined, undefined, true])
  })
})

describe('the original', () => {
  const repeated = [look, answer]

  it('that was deleted ends the run, also between two attempts', async () => {
    const { version, original } = await anOriginal(repeated)
    const { draft } = await aDraft(version, (_, index) => (index === 0 ? look : { status: 503 }))
    const released = await runReplay(engine, original, draft)
    expect(released.execution).toMatchObject({ status: 'IN_PROGRESS', steps: 1 })
    await engine.executions.delete({ ...original, now: Date.now() })
    await processMessage(engine, released.execution.id, aMessage(2))
    const ended = await engine.executions.get(released.execution)
    expect(ended).toMatchObject({ status: 'ERROR', error: { code: 'ExecutionNotFound' }, steps: 1 })
    const { execution } = await runReplay(engine, original, draft)
    expect(execution).toMatchObject({ status: 'ERROR', error: { code: 'ExecutionNotFound' }, steps: 0 })
  })

  it('that is deleted while it is read is not taken for a shorter one', async () => {
    const { version, original } = await anOriginal(repeated)
    const { draft, requests } = await aDraft(version, repeated)
    const on = withSteps(engine, original, async (key) => {
      await engine.executions.delete({ ...original, now: Date.now() })
      return engine.steps.read(key)
    })
    const { execution } = await runReplay(on, original, draft)
    expect(execution).toMatchObject({ status: 'ERROR', error: { code: 'ExecutionNotFound' } })
    expect(requests).toHaveLength(0)
  })

  it('of another organization is none', async () => {
    const { original } = await anOriginal(repeated)
    const { version, requests } = await anAgent(repeated)
    const { execution } = await runReplay(engine, original, version)
    expect(execution).toMatchObject({ status: 'ERROR', error: { code: 'ExecutionNotFound' }, output: null })
    expect(requests).toHaveLength(0)
  })

  it('that reused the result of another execution has the recording of that one', async () => {
    const { version, original, steps } = await anOriginal(repeated)
    const id = system.newId()
    const cached = { ...original, id, cached: true, cachedExecutionId: original.id }
    await engine.executions.create({ execution: { ...cached, steps: 0 } })
    const { draft } = await aDraft(version, repeated)
    const { execution, steps: again } = await runReplay(engine, cached, draft)
    expect(execution).toMatchObject({ status: 'SUCCESS', replay: { executionId: id } })
    expect(contentOf(again)[0]?.results).toEqual(contentOf(steps)[0]?.results)
  })
})
