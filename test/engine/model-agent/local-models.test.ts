import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../lib/contract/records/execution.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { type RecordedRequest, resultsOf } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Reply, Script } from '../../support/scripted-model/turn.ts'

const { aToolAgent, engine, runScript } = await startScriptedEngine()

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string', description: 'The answer.' } },
  required: ['answer'],
  additionalProperties: false,
}
const lookup = { calls: [{ name: 'look_up', input: { id: 'x' } }] }
const json = { text: '{"answer":"Because."}' }
const bad = { text: '{"answer":42}' }
const chat = { text: 'Well, it depends.' }
const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

/** Runs an agent, by default one with a tool, on a script of which nothing is left. */
async function run(script: Script, { version, ...given }: Partial<Parameters<typeof runScript>[1]> = {}) {
  const { done, ...found } = await runScript(script, { version: version ?? (await aToolAgent()), ...given })
  done()
  return found
}

const storedWarnings = async (execution: Execution) => {
  const stored = await engine.executions.get(execution)
  return stored && toExecutionRecord(stored).warnings
}
const toolNames = (request: RecordedRequest | undefined) => request?.tools.map(({ name }) => name)

describe('an agent without tools on an openai-compatible server', () => {
  it('asks for JSON that matches the output schema, which is in the instructions', async () => {
    const { execution, requests } = await run([json], { version: await aModelAgent() })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 1 })
    expect(requests[0]).toMatchObject({ tools: [], responseSchema: SCHEMA, forcedTool: null })
    expect(requests[0]?.instructions).toContain(JSON.stringify(SCHEMA))
    expect(requests[0]?.instructions).not.toContain('final_answer')
  })

  it('gets the violations of a result that does not match', async () => {
    const { execution, requests } = await run([bad, json], { version: await aModelAgent() })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(requests[1]?.history.map((item) => item.type === 'text' && item.text)).toEqual([
      '{"question":"Why?"}',
      bad.text,
      expect.stringMatching(/does not match the output schema.*\n- \/answer must be a string/s),
    ])
  })
})

describe.each([
  ['response_format is not supported', 400],
  ['JSON schema conversion failed: Unrecognized schema', 400],
  ['Extra inputs are not permitted: response_format', 422],
  ['failed to parse grammar', 500],
])('a server that rejects response_format (%s)', (message, status) => {
  it('gets the final-answer tool, for the rest of the run', async () => {
    const script = ({ responseSchema, history }: RecordedRequest): Reply =>
      responseSchema
        ? { status, message }
        : { calls: [finalAnswer({ answer: history.length > 1 ? 'Because.' : 42 })] }
    const { execution, requests } = await runScript(script, { version: await aModelAgent() })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 2 })
    expect(requests.map(toolNames)).toEqual([[], ['final_answer'], ['final_answer']])
    expect(requests[1]?.instructions).toContain(JSON.stringify(SCHEMA))
  })
})

describe('an agent with tools on an openai-compatible server', () => {
  it('that announces a call in a text is reminded once, and keeps its tools', async () => {
    const script = [{ text: 'Let me look.' }, lookup, { text: 'Now I know.' }, answer]
    const { execution, requests } = await run(script)
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, warnings: [] })
    expect(requests.map(toolNames)).toEqual(script.map(() => ['look_up', 'final_answer']))
    expect(requests[1]?.history.slice(1)).toEqual([
      { type: 'text', role: 'assistant', text: 'Let me look.' },
      { type: 'text', role: 'user', text: expect.stringContaining('Call a tool') },
    ])
  })

  it('that answers in text twice is asked for JSON without tools', async () => {
    const { execution, requests } = await run([chat, chat, json])
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 3 })
    expect(toolNames(requests[1])).toEqual(['look_up', 'final_answer'])
    expect(requests[2]).toMatchObject({ tools: [], responseSchema: SCHEMA })
    expect(requests[2]?.history.slice(3)).toEqual([
      { type: 'text', role: 'assistant', text: chat.text },
      { type: 'text', role: 'user', text: expect.stringContaining('one JSON object') },
    ])
  })

  it.each([
    ['at once', [json]],
    ['after two texts', [chat, chat, json]],
  ])('that answers in JSON %s and never calls a tool has the warning ToolsNeverCalled', async (_, script) => {
    const { execution } = await run(script)
    expect(execution).toMatchObject({ status: 'SUCCESS', warnings: ['ToolsNeverCalled'] })
    expect(toExecutionRecord(execution).warnings).toEqual(['ToolsNeverCalled'])
    expect(await storedWarnings(execution)).toEqual(['ToolsNeverCalled'])
  })

  it('that runs without the tools of an MCP server has a warning, also in an ERROR', async () => {
    const mcp = { url: 'http://127.0.0.1:9/mcp', allowedHosts: ['127.0.0.1:9'] }
    const tools = [{ name: 'crm', timeoutSeconds: 5, mcp }]
    for (const script of [[answer], [bad, bad, bad]]) {
      const { execution } = await run(script, { version: await aToolAgent({ tools }) })
      const status = script.length === 1 ? 'SUCCESS' : 'ERROR'
      expect(execution).toMatchObject({ status, warnings: ['McpServerUnavailable: crm'] })
      expect(await storedWarnings(execution)).toEqual(['McpServerUnavailable: crm'])
    }
  })

  it('is asked for JSON without tools in its last step', async () => {
    const { execution, requests } = await run([lookup, json], { maxAgentSteps: 2 })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(requests[1]).toMatchObject({ tools: [], responseSchema: SCHEMA })
  })

  it('that never calls a tool ends in an error that says what may be wrong', async () => {
    const { execution, requests } = await run([chat, chat, chat])
    expect(requests).toHaveLength(3)
    expect(execution.error).toMatchObject({
      code: 'OutputSchemaMismatch',
      message:
        'The model answered in text 3 times and never called final_answer; the server or its chat template may not support tools.',
      step: 3,
    })
  })
})

describe('an agent that requires tools', () => {
  const runRequired = async (script: Reply[]) =>
    (await run(script, { version: await aToolAgent({ requireTools: true }) })).execution

  it.each<[string, Reply[], number]>([
    ['answers in text', [chat, chat], 2],
    ['answers in JSON', [json], 1],
    ['calls only final_answer', [answer], 1],
    ['announces a call and then answers', [chat, answer], 2],
  ])('ends in ERROR ToolsNeverCalled if the model %s', async (_, script, step) => {
    const error = { code: 'ToolsNeverCalled', step, message: expect.stringContaining('requireTools') }
    expect(await runRequired(script)).toMatchObject({ status: 'ERROR', output: null, error })
  })

  it.each<[string, Reply[]]>([
    ['before its answer', [chat, lookup, answer]],
    ['beside its answer', [{ calls: [...lookup.calls, ...answer.calls] }]],
    ['before it answers in text', [lookup, chat, chat, json]],
  ])('ends in SUCCESS if the model calls one %s', async (_, script) => {
    expect(await runRequired(script)).toMatchObject({ status: 'SUCCESS', error: null })
  })
})

describe('a model that repeats a call', () => {
  it.each([2, 3, 4])('is told after it has made %i calls three times in turn', async (length) => {
    const told = 3 * length
    const calls = Array.from({ length: told + 1 }, (_, index) => ({
      calls: [{ name: 'look_up', input: { id: String(index % length) } }],
    }))
    const { requests } = await run([...calls, answer])
    const notes = resultsOf(requests.at(-1)).map((result) => /one of (\d) that were made/.exec(result)?.[1])
    expect(notes).toEqual([...Array(told - 1).fill(undefined), `${length}`, `${length}`])
  })
})

describe.each(SCRIPTED_PROVIDERS.filter((provider) => provider !== 'openai-compatible'))(
  'the last step on %s',
  (provider) => {
    it('is forced to call final_answer', async () => {
      const { execution, requests } = await run([lookup, answer], { provider, maxAgentSteps: 2 })
      expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
      const forced = provider === 'bedrock' ? null : 'final_answer'
      expect(requests.map(({ forcedTool }) => forcedTool)).toEqual([null, forced])
      expect(toolNames(requests[1])).toEqual(['look_up', 'final_answer'])
    })

    it('is not forced while the model reasons', async () => {
      const reasoning = provider !== 'bedrock' && { reasoning: 'high' as const }
      const { requests } = await run([answer], { provider, maxAgentSteps: 1, ...reasoning })
      expect(requests[0]?.forcedTool).toBeNull()
    })
  },
)
