import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../lib/contract/records/execution.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Reply } from '../../support/scripted-model/turn.ts'

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
const stored = async (execution: Execution) => {
  const found = await engine.executions.get(execution)
  if (!found) throw new Error('The execution is not stored.')
  return found
}
const toolNames = (request: RecordedRequest | undefined) => request?.tools.map(({ name }) => name)

describe('an agent without tools on an openai-compatible server', () => {
  it('asks for JSON that matches the output schema, which is in the instructions', async () => {
    const { execution, requests, done } = await runScript([json], { version: await aModelAgent() })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 1 })
    expect(requests[0]).toMatchObject({ tools: [], responseSchema: SCHEMA, forcedTool: null })
    expect(requests[0]?.instructions).toContain(JSON.stringify(SCHEMA))
    expect(requests[0]?.instructions).not.toContain('final_answer')
  })

  it('gets the violations of a result that does not match', async () => {
    const { execution, requests, done } = await runScript([bad, json], { version: await aModelAgent() })
    done()
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
  const rejecting =
    (reply: (request: RecordedRequest) => Reply) =>
    (request: RecordedRequest): Reply =>
      request.responseSchema ? { status, message } : reply(request)

  it('gets the final-answer tool, for the rest of the run', async () => {
    const script = rejecting(({ history }) => ({
      calls: [finalAnswer({ answer: history.length > 1 ? 'Because.' : 42 })],
    }))
    const { execution, requests } = await runScript(script, { version: await aModelAgent() })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 2 })
    expect(requests.map(toolNames)).toEqual([[], ['final_answer'], ['final_answer']])
    expect(requests[1]?.instructions).toContain(JSON.stringify(SCHEMA))
  })
})

describe('an agent with tools on an openai-compatible server', () => {
  it('that announces a call in a text is reminded once, and keeps its tools', async () => {
    const { execution, requests, done } = await runScript(
      [
        { text: 'Let me look.' },
        lookup,
        { text: 'Now I know.' },
        { calls: [finalAnswer({ answer: 'It.' })] },
      ],
      { version: await aToolAgent() },
    )
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'It.' }, warnings: [] })
    expect(new Set(requests.map((request) => toolNames(request)?.join()))).toEqual(
      new Set(['look_up,final_answer']),
    )
    expect(requests[1]?.history.slice(1)).toEqual([
      { type: 'text', role: 'assistant', text: 'Let me look.' },
      { type: 'text', role: 'user', text: expect.stringContaining('Call a tool') },
    ])
  })

  it('that answers in text twice is asked for JSON without tools', async () => {
    const { execution, requests, done } = await runScript([chat, chat, json], { version: await aToolAgent() })
    done()
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
    const { execution, done } = await runScript(script, { version: await aToolAgent() })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', warnings: ['ToolsNeverCalled'] })
    expect(toExecutionRecord(execution).warnings).toEqual(['ToolsNeverCalled'])
    expect(toExecutionRecord(await stored(execution)).warnings).toEqual(['ToolsNeverCalled'])
  })

  it('that runs without the tools of an MCP server has a warning, also in an ERROR', async () => {
    const mcp = { url: 'http://127.0.0.1:9/mcp', allowedHosts: ['127.0.0.1:9'] }
    const tools = [{ name: 'crm', timeoutSeconds: 5, mcp }]
    const answer = { calls: [finalAnswer({ answer: 'Because.' })] }
    for (const [script, status] of [
      [[answer], 'SUCCESS'],
      [[bad, bad, bad], 'ERROR'],
    ] as const) {
      const { execution, done } = await runScript([...script], { version: await aToolAgent({ tools }) })
      done()
      expect(execution).toMatchObject({ status, warnings: ['McpServerUnavailable: crm'] })
      expect(toExecutionRecord(await stored(execution)).warnings).toEqual(['McpServerUnavailable: crm'])
    }
  })

  it('is asked for JSON without tools in its last step', async () => {
    const { execution, requests, done } = await runScript([lookup, json], {
      version: await aToolAgent(),
      maxAgentSteps: 2,
    })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(requests[1]).toMatchObject({ tools: [], responseSchema: SCHEMA })
  })

  it('that never calls a tool ends in an error that says what may be wrong', async () => {
    const { execution, requests } = await runScript([chat, chat, chat], { version: await aToolAgent() })
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
  const answer = { calls: [finalAnswer({ answer: 'Because.' })] }
  const required = () => aToolAgent({ requireTools: true })

  it.each<[string, Reply[], number]>([
    ['answers in text', [chat, chat], 2],
    ['answers in JSON', [json], 1],
    ['calls only final_answer', [answer], 1],
    ['announces a call and then answers', [chat, answer], 2],
  ])('ends in ERROR ToolsNeverCalled if the model %s', async (_, script, step) => {
    const { execution, done } = await runScript(script, { version: await required() })
    done()
    expect(execution).toMatchObject({
      status: 'ERROR',
      output: null,
      error: { code: 'ToolsNeverCalled', step, message: expect.stringContaining('requireTools') },
    })
  })

  it.each<[string, Reply[]]>([
    ['before its answer', [chat, lookup, answer]],
    ['beside its answer', [{ calls: [...lookup.calls, ...answer.calls] }]],
    ['before it answers in text', [lookup, chat, chat, json]],
  ])('ends in SUCCESS if the model calls one %s', async (_, script) => {
    const { execution, done } = await runScript(script, { version: await required() })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', error: null })
  })
})

describe('a model that repeats a call', () => {
  const resultsOf = (request: RecordedRequest | undefined) =>
    request?.history.flatMap((item) => (item.type === 'result' ? [item.output] : [])) ?? []
  const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

  it.each<[string, number, string[], number]>([
    ['two', 2, ['A', 'B'], 6],
    ['three', 3, ['A', 'B', 'C'], 9],
    ['four', 4, ['A', 'B', 'C', 'D'], 12],
  ])('is told after it has made %s calls three times in turn', async (_, length, cycle, told) => {
    const calls = Array.from({ length: told + 1 }, (_, index) => ({
      calls: [{ name: 'look_up', input: { id: cycle[index % length] ?? '' } }],
    }))
    const { requests, done } = await runScript([...calls, answer], { version: await aToolAgent() })
    done()
    const notes = resultsOf(requests.at(-1)).map((result) => /one of (\d) that were made/.exec(result)?.[1])
    expect(notes).toEqual([...Array(told - 1).fill(undefined), `${length}`, `${length}`])
  })
})

describe.each(SCRIPTED_PROVIDERS.filter((provider) => provider !== 'openai-compatible'))(
  'the last step on %s',
  (provider) => {
    const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

    it('is forced to call final_answer', async () => {
      const { execution, requests, done } = await runScript([lookup, answer], {
        version: await aToolAgent(),
        provider,
        maxAgentSteps: 2,
      })
      done()
      expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
      const isForceable = provider !== 'bedrock'
      expect(requests.map(({ forcedTool }) => forcedTool)).toEqual([
        null,
        isForceable ? 'final_answer' : null,
      ])
      expect(toolNames(requests[1])).toEqual(['look_up', 'final_answer'])
    })

    it('is not forced while the model reasons', async () => {
      const options = { version: await aToolAgent(), provider, maxAgentSteps: 1 }
      const { requests } = await runScript([answer], {
        ...options,
        ...(provider !== 'bedrock' && { reasoning: 'high' as const }),
      })
      expect(requests[0]?.forcedTool).toBeNull()
    })
  },
)
