import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { addUsage, type Usage } from '../../../lib/core/model-usage.ts'
import type { Recording } from '../../../lib/core/recording.ts'
import type { CallResult, RecordedModelStep, StepCall } from '../../../lib/core/step.ts'
import { RecordedRun } from '../../../lib/engine/replay/recorded-run.ts'
import { system } from '../../../lib/system.ts'
import type { ToolDocument } from '../../../lib/tools/document/tool-fields.ts'
import { modelStep, runOptions } from '../../support/engine/executions.ts'
import { ask, asksOnce } from '../../support/engine/family.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, originalsOn, replayOf, runReplay } from '../../support/replay/a-replay.ts'
import type { ScriptedCall } from '../../support/scripted-model/turn.ts'
import { serveMcp } from '../../tools/kinds/mcp-server.ts'

const at = '2026-01-01T00:00:00.000Z'

function stepOf(number: number, calls: StepCall[]): RecordedModelStep {
  const resultOf = (callId: string): CallResult => {
    const result = { ok: true, value: callId } as const
    return { callId, result, startedAt: at, finishedAt: at }
  }
  return { step: modelStep({ number, calls }), results: new Map(calls.map(({ id }) => [id, resultOf(id)])) }
}

it('a recorded run hashes the input of each call once, however often it is looked for', () => {
  let reads = 0
  const input = (id: number) =>
    Object.defineProperty({}, 'id', { enumerable: true, get: () => ++reads && id }) as Json
  const approval = { id: 'a', until: at, inputSchema: {} } as unknown as NonNullable<StepCall['approval']>
  const callsOf = (prefix: string): StepCall[] =>
    Array.from({ length: 30 }, (_, index) => ({
      ...{ id: `${prefix}${index}`, name: 'look', input: input(index % 3), error: null, approval },
    }))
  const recorded: RecordedModelStep[] = []
  const journal = { recorded, appendResult: async () => undefined }
  const steps = [stepOf(1, callsOf('o')), stepOf(2, callsOf('p'))]
  const recording = { original: {}, steps } as unknown as Recording
  const replay = replayOf({ id: 'original' })
  const run = new RecordedRun({ replay, recording, options: runOptions(), journal, refuses: () => false })
  const opened = reads
  for (const number of [1, 2]) {
    const calls = run.withApprovals(callsOf(`${number}-`), number)
    const { step } = stepOf(number, calls)
    recorded.push({ step, results: new Map() })
    const document = { name: 'look' } as ToolDocument
    const found = calls.map(({ id }) => run.resultOf(document, `${number}-${id}`))
    expect(found.map((result) => result?.ok && result.value)).toEqual(
      calls.map((_, index) => `${number === 1 ? 'o' : 'p'}${index}`),
    )
  }
  // As many calls as the original has.
  expect(reads).toBe(2 * opened)
})

const scripted = await startScriptedEngine()

const { anOriginal, aDraft } = originalsOn(scripted)

const tools = [{ name: 'helper', agent: 'helper' }]

describe('agents that a replayed agent calls', () => {
  const { engine, scriptModel } = scripted
  /** An original that has called another agent, whose model is asked as often as it is called. */
  async function aParent(calls: ScriptedCall[]) {
    const organizationId = system.newId()
    const helper = scriptModel(() => ({ calls: [finalAnswer({ answer: 'Helped.' })] }))
    await aModelAgent({ organizationId, slug: 'helper', model: helper.model })
    const parent = await anOriginal(asksOnce(calls), { organizationId, tools })
    return { ...parent, helper }
  }
  const childrenOf = async ({ organizationId, id }: Execution) => {
    const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 100, after: null }
    return (await engine.executions.list(page)).items.filter((each) => each.parentExecutionId === id)
  }

  it('do not run: their results are those of the original, and so is what they used', async () => {
    const { original, version, steps, helper } = await aParent([ask('helper'), ask('helper')])
    expect(original.childUsage).not.toBeNull()
    expect(helper.requests).toHaveLength(2)
    const live = { tools: { default: 'live' as const, helper: 'live' as const } }
    for (const settings of [{}, live, { models: 'recorded' as const }]) {
      const { draft } = await aDraft(version, asksOnce([ask('helper'), ask('helper')]), { tools })
      const isRecorded = 'models' in settings
      const replayed = await runReplay(engine, original, isRecorded ? version : draft, { settings })
      const { output, usage, childUsage } = original
      expect(replayed.execution).toMatchObject({ status: 'SUCCESS', output, childUsage: null })
      expect(contentOf(replayed.steps)[0]?.results).toEqual(contentOf(steps)[0]?.results)
      const used = childUsage as Usage
      expect(replayed.execution.replayedUsage).toEqual(isRecorded ? addUsage(used, usage) : used)
      expect(await childrenOf(replayed.execution)).toEqual([])
    }
    expect(helper.requests).toHaveLength(2)
  })

  it('are not started by a call that the original did not make', async () => {
    const { original, version, helper } = await aParent([ask('helper')])
    const other = { name: 'helper', input: { question: 'Another one?' } }
    const { draft } = await aDraft(version, [{ calls: [other] }, answer], { tools })
    const settings = { tools: { default: 'live' as const } }
    const { execution } = await runReplay(engine, original, draft, { settings })
    expect(execution.error).toMatchObject({ code: 'Diverged', tool: 'helper', input: other.input, step: 1 })
    expect(await childrenOf(execution)).toEqual([])
    expect(helper.requests).toHaveLength(1)
  })
})

const find = (name: string) => ({ name: 'crm_find_customer', input: { name } })

const script = [{ calls: [find('Ada')] }, answer]

const RECORDED = { settings: { models: 'recorded' as const } }

/** An original that has called a tool of an MCP server. */
async function anMcpOriginal() {
  const server = await serveMcp()
  const crm = (mcp: object = {}, more: object = {}) => ({
    name: 'crm',
    mcp: { url: server.url, allowedHosts: [server.host], tools: ['find.customer'], ...mcp },
    ...more,
  })
  const made = await anOriginal(script, { tools: [crm()] })
  expect(contentOf(made.steps)[0]?.results).toEqual([{ ok: true, value: 'found Ada' }])
  return { server, crm, ...made }
}

describe('a replay of a run with tools of an MCP server', () => {
  const { engine } = scripted

  it('declares them as they were, without a request to the server', async () => {
    const { server, original, version, steps } = await anMcpOriginal()
    const before = server.seen.length
    const offline = { ...engine, environment: {} }
    const { execution, steps: replayed } = await runReplay(offline, original, version, RECORDED)
    expect(execution).toMatchObject({ status: 'SUCCESS', output: original.output })
    expect(contentOf(replayed)).toEqual(contentOf(steps))
    const { tools } = version
    const { draft, requests } = await aDraft(version, script, { tools, instructions: 'Differently.' })
    const live = await runReplay(engine, original, draft)
    expect(contentOf(live.steps)[0]?.results).toEqual(contentOf(steps)[0]?.results)
    expect(requests[0]?.tools.map(({ name }) => name)).toContain('crm_find_customer')
    const { draft: other } = await aDraft(version, [{ calls: [find('Bob')] }, answer], { tools })
    const { execution: diverged } = await runReplay(engine, original, other)
    const { name: tool, input } = find('Bob')
    expect(diverged.error).toMatchObject({ code: 'Diverged', tool, input })
    expect(server.seen).toHaveLength(before)
  })

  it('asks the server of a tool that is live, or whose document names others', async () => {
    const { server, crm, original, version } = await anMcpOriginal()
    const tools = [crm({}, { readOnly: true })]
    const { draft } = await aDraft(version, [{ calls: [find('Bob')] }, answer], { tools })
    const settings = { tools: { default: 'recorded' as const, crm: 'live' as const } }
    const { steps } = await runReplay(engine, original, draft, { settings })
    expect(contentOf(steps)[0]?.results).toEqual([{ ok: true, value: 'found Bob' }])
    const before = server.seen.length
    const more = crm({ tools: ['find.customer', 'structured'] })
    const { draft: wider, requests } = await aDraft(version, script, { tools: [more] })
    const { execution } = await runReplay(engine, original, wider)
    expect(execution.status).toBe('SUCCESS')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['crm_find_customer', 'crm_structured']),
    )
    const listed = server.seen.slice(before).map(({ method }) => method)
    expect(listed.length).toBeGreaterThan(0)
    expect(listed).not.toContain('find.customer')
  })

  it('asks the server if the original has kept none', async () => {
    const { server, original, version } = await anMcpOriginal()
    const before = server.seen.length
    const { declarations: _, ...others } = engine
    const { execution } = await runReplay(others, original, version, RECORDED)
    expect(execution.status).toBe('SUCCESS')
    expect(server.seen.length).toBeGreaterThan(before)
  })
})
