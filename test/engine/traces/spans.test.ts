import { describe, expect, it } from 'vitest'
import { attemptId } from '../../../lib/core/attempts.ts'
import { spanIdOf } from '../../../lib/core/traceparent.ts'
import { callKeyOf } from '../../../lib/engine/model-agent/call-key.ts'
import { parseRecordedModel } from '../../../lib/engine/traces/conventions.ts'
import { toRunSpan, toStepSpans } from '../../../lib/engine/traces/spans.ts'
import { aRun, at, codeJournal, modelJournal, SECRET } from './a-journal.ts'

/** The attributes of v0.1.0 that spans of these kinds may have, without those of requests, which are not recorded. */
const REGISTRY = [
  'gen_ai.agent.name',
  'gen_ai.agent.version',
  'gen_ai.input.messages',
  'gen_ai.operation.name',
  'gen_ai.output.messages',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.finish_reasons',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.id',
  'gen_ai.tool.call.result',
  'gen_ai.tool.name',
  'gen_ai.tool.type',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.reasoning.output_tokens',
  'error.type',
]

function spansOf(journal = modelJournal(), run = aRun(), hasContent = false) {
  const traced = { execution: run, slug: 'shop', hasContent }
  const spans = [toRunSpan(traced), ...journal.flatMap((each) => toStepSpans(traced, each))]
  return spans.map(({ name, startTime, endTime, status, attributes, parentSpanContext, spanContext }) => ({
    ...{ name, status, attributes, traceId: spanContext().traceId, spanId: spanContext().spanId },
    parentSpanId: parentSpanContext?.spanId ?? null,
    ...{ startedAt: toIso(startTime), finishedAt: toIso(endTime) },
  }))
}

const toIso = ([seconds, nanoseconds]: readonly [number, number]) =>
  new Date(seconds * 1_000 + nanoseconds / 1e6).toISOString()

const named = (spans: ReturnType<typeof spansOf>, name: string) => {
  const span = spans.find((each) => each.name === name)
  if (!span) throw new Error(`No span ${name}: ${spans.map((each) => each.name).join(', ')}`)
  return span
}

describe('the spans of a model agent', () => {
  it('are the run, and below it responses, calls with a result and approvals', () => {
    const run = aRun()
    const spans = spansOf(modelJournal(), run)
    const [root, ...others] = spans
    expect(spans.map(({ name }) => name)).toEqual([
      'invoke_agent shop',
      'chat amazon.nova-lite-v1:0',
      'execute_tool look_up',
      'wait refund',
      'execute_tool refund',
    ])
    const digits = run.id.replaceAll('-', '')
    expect(root).toMatchObject({ traceId: digits, spanId: digits.slice(16), parentSpanId: null })
    for (const span of others) expect(span).toMatchObject({ traceId: digits, parentSpanId: root?.spanId })
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(named(spans, 'execute_tool look_up').spanId).toBe(
      spanIdOf(callKeyOf(run, modelJournal()[0]?.step as never, { id: 'c1' })),
    )
  })

  it('have the attributes that the conventions require, tokens and cost', () => {
    const run = aRun({ tenantId: 'acme' })
    const spans = spansOf(modelJournal(), run)
    expect(spans[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'shop',
      'gen_ai.agent.version': run.versionId,
      'gen_ai.request.model': 'amazon.nova-lite-v1:0',
      'agent_execution.id': run.id,
      'agent_execution.organization_id': run.organizationId,
      'agent_execution.tenant_id': 'acme',
      'agent_execution.source': 'API',
      'agent_execution.cost_usd': 0.25,
    })
    expect(spans[1]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'amazon.nova-lite-v1:0',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 12,
      'gen_ai.usage.cache_read.input_tokens': 20,
      'gen_ai.usage.cache_creation.input_tokens': 5,
      'gen_ai.usage.reasoning.output_tokens': 2,
      'agent_execution.step': 1,
      'agent_execution.cost_usd': 0.25,
    })
    expect(named(spans, 'execute_tool refund')).toMatchObject({
      ...{ startedAt: at(42), finishedAt: at(43), status: { code: 2 } },
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'refund',
        'gen_ai.tool.call.id': 'c2',
        'error.type': 'ToolError',
      },
    })
    expect(named(spans, 'wait refund')).toMatchObject({ startedAt: at(3), finishedAt: at(41) })
  })

  it('of an error have its code, and its message only as content', () => {
    const failed = aRun({ status: 'ERROR', output: null, error: { code: 'AgentFailed', message: SECRET } })
    const [root] = spansOf([], failed)
    expect(root?.attributes['error.type']).toBe('AgentFailed')
    expect(root?.status).toEqual({ code: 2 })
    expect(spansOf([], failed, true)[0]?.status).toEqual({ code: 2, message: SECRET })
  })
})

it('the spans of a code agent are its steps, with all attempts, and its waits', () => {
  const run = aRun({ model: null })
  const spans = spansOf(codeJournal(), run)
  expect(spans.slice(1).map(({ name, startedAt, finishedAt }) => [name, startedAt, finishedAt])).toEqual([
    ['step load', at(1), at(2)],
    ['step save', at(2), at(6)],
    ['step ask', at(6), at(9)],
    ['wait nap', at(9), at(20)],
    ['wait paid', at(21), run.finishedAt],
  ])
  const attributes = { 'error.type': 'E_SAVE' }
  expect(named(spans, 'step save')).toMatchObject({ status: { code: 2 }, attributes })
  // The parent of the run of the agent.
  const step = codeJournal()[2]?.step as never
  expect(named(spans, 'step ask').spanId).toBe(spanIdOf(callKeyOf(run, step, { id: attemptId(1) })))
})

describe('content', () => {
  const all = (hasContent: boolean) =>
    [modelJournal(), codeJournal()].flatMap((journal) => spansOf(journal, aRun(), hasContent))

  it('is nowhere without the setting', () => {
    expect(JSON.stringify(all(false))).not.toContain(SECRET)
  })

  it('is in the attributes that the conventions have for it', () => {
    const spans = all(true)
    const have = (name: string) =>
      spans.filter(({ attributes }) => name in attributes).map((span) => span.name)
    expect(have('gen_ai.input.messages')).toEqual(['invoke_agent shop', 'invoke_agent shop'])
    expect(have('gen_ai.tool.call.arguments')).toEqual(['execute_tool look_up', 'execute_tool refund'])
    const { attributes } = named(spans, 'chat amazon.nova-lite-v1:0')
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: SECRET },
          { type: 'tool_call', id: 'c1', name: 'look_up', arguments: { q: SECRET } },
          { type: 'tool_call', id: 'c2', name: 'refund', arguments: { q: SECRET } },
          { type: 'tool_call', id: 'c3', name: 'never', arguments: {} },
          { type: 'tool_call', id: 'c4', name: 'final_answer', arguments: { text: SECRET } },
        ],
        finish_reason: 'tool-calls',
      },
    ])
  })

  it('is cut, and has no MAC of a callback', () => {
    const mac = `aescb_${'x'.repeat(43)}`
    const input = { url: `https://a.example/v1/callbacks/1/paid/${mac}`, long: 'x'.repeat(50_000) }
    const [root] = spansOf([], aRun({ input }), true)
    const text = String(root?.attributes['gen_ai.input.messages'])
    expect(text).toHaveLength(16_000)
    expect(text).not.toContain(mac)
  })
})

it('all attributes are those of the conventions, or have our prefix', () => {
  const failed = aRun({ status: 'ERROR', error: { code: 'TimedOut', message: '' } })
  const spans = [...spansOf(modelJournal(), failed, true), ...spansOf(codeJournal(), aRun(), true)]
  const names = [...new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))]
  const ours = names.filter((name) => name.startsWith('agent_execution.'))
  const theirs = names.filter((name) => !ours.includes(name))
  expect(theirs.sort()).toEqual([...REGISTRY].sort())
  expect(ours.length).toBeGreaterThan(0)
})

it('models are named without provider and reasoning level', () => {
  expect(parseRecordedModel('groq/meta/llama-4:high')).toEqual({ provider: 'groq', model: 'meta/llama-4' })
  expect(parseRecordedModel('openai/gpt-5')).toEqual({ provider: 'openai', model: 'gpt-5' })
})
